//! The commands, one file each.

pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod demo;
pub(crate) mod man;
pub(crate) mod run;

use crate::exit::Exit;
use crate::output::say;
use crate::settings::flags::SettingFlags;
use crate::settings::{Loaded, Sources, load};

/// Reads the settings; what is wrong with them goes to stderr.
fn settings(flags: SettingFlags) -> Result<Loaded, Exit> {
    load(Sources::of_process(flags)).map_err(|problems| {
        for problem in problems.0 {
            say(&problem);
        }
        Exit::Usage
    })
}
