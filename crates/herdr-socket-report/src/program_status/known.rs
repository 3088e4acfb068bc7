//! Which terminals read reports, as far as their environment tells.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use herdr_socket_transport::Absence;

use crate::place::Place;
use crate::settings::ProgramStatus;

/// The values of `TERM_PROGRAM` of terminals that read reports.
const PROGRAMS: [&str; 4] = ["ghostty", "iTerm.app", "rex", "zellij"];
/// Variables that are set in the panes of herdr-core and Zellij.
const PANES: [&str; 2] = ["HC_TERMINAL_ID", "ZELLIJ"];
/// Variables of multiplexers that swallow reports. They count even if the terminal around the
/// multiplexer has set one of the others.
const SWALLOWED: [&str; 2] = ["TMUX", "STY"];
/// The terminfo capability of a terminal that reads reports.
const CAPABILITY: &str = "Pst";

/// Decides whether reports are written to a terminal, and why. `lookup` reads the environment.
pub(super) fn decide(
    setting: ProgramStatus,
    place: &Place,
    lookup: impl Fn(&str) -> Option<OsString>,
) -> Result<String, String> {
    match (setting, place) {
        (ProgramStatus::Off, _) => Err("program_status is off".to_owned()),
        (ProgramStatus::On, _) => Ok("program_status is on".to_owned()),
        (ProgramStatus::Auto, Place::Outside(Absence::NoHerdr)) => known(&lookup),
        (ProgramStatus::Auto, _) => {
            Err("program_status is auto, and this is a pane of Herdr".to_owned())
        }
    }
}

fn known(lookup: &impl Fn(&str) -> Option<OsString>) -> Result<String, String> {
    let is_set = |name: &&&str| lookup(name).is_some_and(|value| !value.is_empty());
    if let Some(name) = SWALLOWED.iter().find(is_set) {
        return Err(format!("{name} is set, and tmux and screen swallow reports"));
    }
    let program = lookup("TERM_PROGRAM");
    if let Some(known) = PROGRAMS.iter().find(|known| program.as_deref() == Some(OsStr::new(known)))
    {
        return Ok(format!("TERM_PROGRAM is {known}"));
    }
    if let Some(name) = PANES.iter().find(is_set) {
        return Ok(format!("{name} is set"));
    }
    if says_so(lookup) {
        return Ok(format!("the description of TERM has {CAPABILITY}"));
    }
    Err("this terminal is not known to read reports".to_owned())
}

/// Whether the terminal's description has the capability. In the compiled description, the
/// names of non-standard capabilities are stored as plain text, each followed by a zero byte.
fn says_so(lookup: &impl Fn(&str) -> Option<OsString>) -> bool {
    let Some(description) = description(lookup) else { return false };
    let name = [CAPABILITY.as_bytes(), b"\0"].concat();
    let mut places = description.windows(name.len() + 1);
    places.any(|found| found[1..] == name && !found[0].is_ascii_graphic())
}

/// The compiled description of the terminal that `TERM` names.
fn description(lookup: &impl Fn(&str) -> Option<OsString>) -> Option<Vec<u8>> {
    let term = lookup("TERM")?.into_string().ok()?;
    let first = term.chars().next().filter(|_| !term.contains(['/', '\0']))?;
    let own = lookup("TERMINFO").map(PathBuf::from);
    let home = lookup("HOME").map(|home| PathBuf::from(home).join(".terminfo"));
    let listed = lookup("TERMINFO_DIRS").unwrap_or_default();
    let listed = std::env::split_paths(&listed).filter(|folder| folder.is_absolute());
    let usual =
        ["/etc/terminfo", "/lib/terminfo", "/usr/share/terminfo", "/usr/local/share/terminfo"];
    let folders = own.into_iter().chain(home).chain(listed).chain(usual.map(PathBuf::from));
    let letter_or_number = [first.to_string(), format!("{:x}", u32::from(first))];
    let mut files = folders
        .flat_map(|folder| letter_or_number.clone().map(|below| folder.join(below).join(&term)));
    files.find_map(|file| std::fs::read(file).ok())
}

#[cfg(test)]
mod tests {
    use herdr_proto::PaneId;
    use herdr_socket_transport::Endpoint;

    use super::*;

    fn reads_with(variables: &[(&str, &str)]) -> bool {
        decide(ProgramStatus::Auto, &Place::Outside(Absence::NoHerdr), |name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into())
        })
        .is_ok()
    }

    #[test]
    fn only_known_terminals_are_told_unasked() {
        for (variables, reads) in [
            (&[][..], false),
            (&[("TERM_PROGRAM", "ghostty")], true),
            (&[("TERM_PROGRAM", "Apple_Terminal")], false),
            (&[("HC_TERMINAL_ID", "t1")], true),
            (&[("HC_TERMINAL_ID", "")], false),
            (&[("TERM_PROGRAM", "tmux"), ("TMUX", "/tmp/t,1,0"), ("HC_TERMINAL_ID", "t1")], false),
        ] {
            assert_eq!(reads_with(variables), reads, "{variables:?}");
        }
    }

    #[test]
    fn inside_herdr_and_where_it_is_switched_off_only_who_asks_tells() {
        let known = |name: &str| (name == "TERM_PROGRAM").then(|| "ghostty".into());
        let pane = PaneId::parse("w1:p1").unwrap();
        for place in [
            Place::Pane(Endpoint::new("/s", pane)),
            Place::Broken(String::new()),
            Place::Outside(Absence::SwitchedOff),
            Place::Outside(Absence::NoPane),
        ] {
            assert!(decide(ProgramStatus::Auto, &place, known).is_err(), "{place:?}");
            assert!(decide(ProgramStatus::On, &place, known).is_ok());
            assert!(decide(ProgramStatus::Off, &place, known).is_err());
        }
    }

    #[test]
    fn a_description_says_that_its_terminal_reads_reports() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("x")).unwrap();
        let path = folder.path().to_str().unwrap();
        for (description, reads) in [
            (&b"\x1e\x02x-term\0...\0Sync\0Pst\0Tc\0"[..], true),
            (b"...\0XPst\0", false),
            (b"...\0Pst1\0", false),
            (b"", false),
        ] {
            std::fs::write(folder.path().join("x/x-term"), description).unwrap();
            assert_eq!(reads_with(&[("TERM", "x-term"), ("TERMINFO", path)]), reads);
        }
        assert!(!reads_with(&[("TERM", "../x/x-term"), ("TERMINFO", path)]));
    }
}
