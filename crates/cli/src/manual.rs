//! `oarlock completions` and `oarlock man`: shell completions and manual pages.
//!
//! Both are made from the parser of the command line, so they cannot differ from it. `make install` puts them where
//! shells and man(1) look.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use clap::Command;
use clap::builder::Resettable;
use clap_mangen::Man;
use oarlock_terminal::usage;

use crate::args::{CompletionsArgs, EFFECTS, ManArgs, OarlockCli};
use crate::error::ProgramError;
use crate::version::VERSION;

/// Prints the completions of a shell.
///
/// # Errors
/// stdout cannot be written.
pub(crate) fn completions(args: &CompletionsArgs) -> Result<(), ProgramError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut usage::command::<OarlockCli>(EFFECTS), "oarlock", &mut script);
    Ok(io::stdout().write_all(&script)?)
}

/// Writes a page for each command into a directory.
///
/// # Errors
/// A file cannot be written.
pub(crate) fn pages(args: &ManArgs) -> Result<(), ProgramError> {
    let failed = |path: &Path, error| ProgramError::Write { path: path.to_owned(), error };
    fs::create_dir_all(&args.directory).map_err(|error| failed(&args.directory, error))?;
    // The section on the version has the short one.
    let mut command =
        usage::command::<OarlockCli>(EFFECTS).disable_help_subcommand(true).long_version(Resettable::Reset);
    // Names of pages and inherited options are known only after this.
    command.build();
    for (name, page) in render(&command)? {
        let path = args.directory.join(name);
        fs::write(&path, page).map_err(|error| failed(&path, error))?;
    }
    Ok(())
}

/// Renders the pages of a command and of all its subcommands, each with the name of its file.
fn render(command: &Command) -> io::Result<Vec<(String, Vec<u8>)>> {
    let man = Man::new(command.clone()).manual("Oarlock").source(format!("oarlock {VERSION}"));
    let mut page = Vec::new();
    man.render(&mut page)?;
    let mut pages = vec![(man.get_filename(), page)];
    for own in command.get_subcommands().filter(|own| !own.is_hide_set()) {
        pages.extend(render(own)?);
    }
    Ok(pages)
}
