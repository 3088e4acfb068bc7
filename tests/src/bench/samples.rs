//! Repeated measurements of a time, and their statistics.

use std::time::Duration;

/// A longer time shows that the request waited for the server's poll, which comes every 100 ms.
const POLLED: Duration = Duration::from_millis(50);

/// The measured times.
#[derive(Debug, Clone, Default)]
pub(super) struct Samples(Vec<Duration>);

impl Samples {
    pub(super) fn push(&mut self, took: Duration) {
        self.0.push(took);
    }

    /// A quantile, in thousandths.
    pub(super) fn at(&self, thousandths: usize) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let place = (sorted.len() * thousandths / 1000).min(sorted.len().saturating_sub(1));
        sorted.get(place).copied().unwrap_or_default()
    }

    pub(super) fn median(&self) -> Duration {
        self.at(500)
    }

    /// The share of times over 50 ms, in percent.
    pub(super) fn polled(&self) -> f64 {
        let late = self.0.iter().filter(|took| **took > POLLED).count();
        share(late, self.0.len()) * 100.0
    }
}

/// A time in milliseconds, with two decimals below 10 ms.
pub(super) fn ms(time: Duration) -> String {
    let ms = time.as_secs_f64() * 1e3;
    let digits = if ms < 10.0 { 2 } else { 0 };
    format!("{ms:.digits$}")
}

/// A time as a multiple of the peer's.
pub(super) fn times(time: Duration, peer: Duration) -> String {
    format!("{:.2}", time.as_secs_f64() / peer.as_secs_f64().max(f64::MIN_POSITIVE))
}

#[expect(clippy::cast_precision_loss, reason = "counts of samples")]
pub(super) fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_of_a_hundred_is_its_last_percent() {
        let mut samples = Samples::default();
        for ms in 1..=100 {
            samples.push(Duration::from_millis(ms));
        }
        assert_eq!(samples.median(), Duration::from_millis(51));
        assert_eq!(samples.at(990), Duration::from_millis(100));
        assert!((samples.polled() - 50.0).abs() < f64::EPSILON);
        assert_eq!(Samples::default().at(999), Duration::ZERO);
    }
}
