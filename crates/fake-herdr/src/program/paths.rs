//! The socket path of `herdr server` (protocol 7.1).

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context as _, bail};

/// The longest session name, in bytes.
const SESSION_MAX: usize = 64;

pub(super) fn from_environment() -> anyhow::Result<PathBuf> {
    socket_path(|name| std::env::var_os(name))
}

/// The path from the variables that the real server reads.
fn socket_path(lookup: impl Fn(&str) -> Option<OsString>) -> anyhow::Result<PathBuf> {
    // An empty value does not count as unset. It fails at bind, as on the real server.
    if let Some(path) = lookup("HERDR_SOCKET_PATH") {
        return Ok(path.into());
    }
    let set = |name| lookup(name).filter(|value: &OsString| !value.is_empty()).map(PathBuf::from);
    let config = set("XDG_CONFIG_HOME")
        .or_else(|| set("HOME").map(|home| home.join(".config")))
        .context("neither HERDR_SOCKET_PATH nor XDG_CONFIG_HOME nor HOME is set")?
        .join("herdr");
    Ok(match lookup("HERDR_SESSION").filter(|name| !name.is_empty()) {
        None => config.join("herdr.sock"),
        Some(name) => {
            let name = name.to_string_lossy().into_owned();
            let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
            let fits = name.len() <= SESSION_MAX && name.chars().all(plain);
            if !fits || name.starts_with('.') {
                bail!("HERDR_SESSION is {name:?}: expected up to 64 of A-Z a-z 0-9 . _ -");
            }
            match name.as_str() {
                "default" => config.join("herdr.sock"),
                name => config.join("sessions").join(name).join("herdr.sock"),
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(variables: &[(&str, &str)]) -> anyhow::Result<PathBuf> {
        socket_path(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into())
        })
    }

    #[test]
    fn the_nearest_variable_wins() {
        let all = [
            ("HERDR_SOCKET_PATH", "/s"),
            ("HERDR_SESSION", "work"),
            ("XDG_CONFIG_HOME", "/x"),
            ("HOME", "/h"),
        ];
        let expected = [
            "/s",
            "/x/herdr/sessions/work/herdr.sock",
            "/x/herdr/herdr.sock",
            "/h/.config/herdr/herdr.sock",
        ];
        for (skipped, expected) in expected.into_iter().enumerate() {
            assert_eq!(path(&all[skipped..]).unwrap(), PathBuf::from(expected));
        }
        assert!(path(&[]).is_err());
        assert_eq!(path(&[("HERDR_SOCKET_PATH", "")]).unwrap(), PathBuf::new());
        let default = [("HERDR_SESSION", "default"), ("HOME", "/h")];
        assert_eq!(path(&default).unwrap(), PathBuf::from("/h/.config/herdr/herdr.sock"));
        assert!(path(&[("HERDR_SESSION", "../up"), ("HOME", "/h")]).is_err());
    }
}
