//! `oarlock completions` and `oarlock man`: what shells and readers of manuals know of the command line.
//!
//! Both come from the command line as it is parsed, so they say what the program does. `make install` puts them where shells and
//! man(1) look.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::args::VERSION;
use crate::exit::Failure;
use crate::usage;

/// Arguments of `oarlock completions`.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples: oarlock completions bash > ~/.local/share/bash-completion/completions/oarlock\n          \
                  oarlock completions zsh > \"${fpath[1]}/_oarlock\"\n          \
                  oarlock completions fish > ~/.config/fish/completions/oarlock.fish"
)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Arguments of `oarlock man`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example: oarlock man ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// The directory for the pages; it is made if it is not there
    directory: PathBuf,
}

/// Prints the completions of a shell.
///
/// # Errors
/// stdout cannot be written.
pub(crate) fn completions(args: &CompletionsArgs) -> io::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut usage::command(), "oarlock", &mut script);
    io::stdout().write_all(&script)
}

/// Writes a page for each command into a directory.
///
/// # Errors
/// A file cannot be written.
pub(crate) fn pages(args: &ManArgs) -> Result<(), Failure> {
    let failed = |path: &PathBuf, error| Failure::Write { path: path.clone(), error };
    fs::create_dir_all(&args.directory).map_err(|error| failed(&args.directory, error))?;
    let mut command = usage::command().disable_help_subcommand(true);
    // Names of pages and inherited options are known only then.
    command.build();
    for (name, page) in render(&command)? {
        let path = args.directory.join(name);
        fs::write(&path, page).map_err(|error| failed(&path, error))?;
    }
    Ok(())
}

/// The pages of a command and of all below it, each with the name of its file.
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
