//! A line that may be repeated goes out again when the answer is late.

use std::time::Duration;

use fake_herdr::{FakeHerdr, Fault};
use herdr_socket_transport::{Client, ErrorKind, Options};

/// Long enough for any machine.
const AMPLE: Duration = Duration::from_secs(20);

const PING: &[u8] = b"{\"id\":\"1\",\"method\":\"ping\",\"params\":{}}\n";

fn client(herdr: &FakeHerdr, options: Options) -> Client {
    Client::new(herdr.socket_path(), options)
}

#[tokio::test]
async fn the_first_answer_is_taken() {
    let herdr = FakeHerdr::start().unwrap();
    // The first connection is never answered.
    herdr.fault_times(Fault::NeverAnswers, 1);
    let client = client(&herdr, Options::default());
    client.exchange_repeatable(PING).await.unwrap();
    assert!(client.copies_sent() >= 1);
}

#[tokio::test]
async fn a_copy_that_meets_the_same_gets_a_second_one() {
    let herdr = FakeHerdr::start().unwrap();
    herdr.fault_times(Fault::NeverAnswers, 2);
    let client = client(&herdr, Options::default());
    client.exchange_repeatable(PING).await.unwrap();
    assert_eq!(client.copies_sent(), 2);
}

#[tokio::test]
async fn a_line_that_is_found_late_is_found_twice() {
    let herdr = FakeHerdr::start().unwrap();
    herdr.fault_times(Fault::LooksLate, 1);
    let client = client(&herdr, Options::default());
    client.exchange_repeatable(PING).await.unwrap();
    // What was sent on a connection that is closed by now is read all the same.
    let lines = 1 + usize::try_from(client.copies_sent()).unwrap();
    assert!(herdr.wait_for_log(AMPLE, |log| log.len() == lines), "{:?}", herdr.log());
}

#[tokio::test]
async fn a_server_that_answers_nobody_is_asked_three_times_and_then_once() {
    let herdr = FakeHerdr::start().unwrap();
    herdr.fault(Fault::NeverAnswers);
    let client = client(&herdr, Options::default().deadline(Duration::from_millis(200)));
    for copies in [2, 2] {
        let error = client.exchange_repeatable(PING).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Timeout(_)), "{error}");
        assert_eq!(client.copies_sent(), copies);
    }
}

#[tokio::test]
async fn it_can_be_switched_off_and_is_off_for_other_lines() {
    let herdr = FakeHerdr::start().unwrap();
    herdr.fault(Fault::NeverAnswers);
    let deadline = Duration::from_millis(100);
    let off = client(&herdr, Options::default().deadline(deadline).hedge(false));
    off.exchange_repeatable(PING).await.unwrap_err();
    let once = client(&herdr, Options::default().deadline(deadline));
    once.exchange(PING).await.unwrap_err();
    assert_eq!((off.copies_sent(), once.copies_sent()), (0, 0));
}

#[tokio::test]
async fn an_error_that_comes_at_once_is_the_answer() {
    let herdr = FakeHerdr::start().unwrap();
    let client = client(&herdr, Options::default());
    herdr.fault(Fault::Gone);
    let error = client.exchange_repeatable(PING).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoSuchSocket);
    assert_eq!(client.copies_sent(), 0);
}
