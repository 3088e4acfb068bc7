//! `man`: the manual page.

use std::io;

use clap::CommandFactory;
use clap_mangen::Man;

use crate::cli::Cli;
use crate::exit::Exit;
use crate::output::{print, say};

/// Prints the page of the program, then those of its commands.
pub(crate) fn run() -> Exit {
    let mut page = Vec::new();
    let mut command = Cli::command();
    command.build();
    let mut render = || -> io::Result<()> {
        Man::new(command.clone()).render(&mut page)?;
        for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
            let man = Man::new(sub.clone());
            man.render_title(&mut page)?;
            man.render_name_section(&mut page)?;
            man.render_synopsis_section(&mut page)?;
            man.render_description_section(&mut page)?;
            man.render_options_section(&mut page)?;
        }
        Ok(())
    };
    match render() {
        Ok(()) => print(&page, io::stdout()),
        Err(error) => {
            say(&format!("the manual page cannot be made: {error}"));
            Exit::Usage
        }
    }
}
