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
use clap_mangen::roff::{Roff, roman};
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
    for (name, page) in render(&command, None)? {
        let path = args.directory.join(name);
        fs::write(&path, page).map_err(|error| failed(&path, error))?;
    }
    Ok(())
}

/// Renders the pages of a command and of all its subcommands, each with the name of its file.
fn render(command: &Command, parent: Option<&str>) -> io::Result<Vec<(String, Vec<u8>)>> {
    let man = Man::new(command.clone()).manual("Oarlock").source(format!("oarlock {VERSION}"));
    let mut pages = vec![(man.get_filename(), page(&man, command, parent)?)];
    let name = page_name(command);
    for subcommand in visible_commands(command) {
        pages.extend(render(subcommand, Some(&name))?);
    }
    Ok(pages)
}

/// Renders the page of a command in the order of man-pages(7).
fn page(man: &Man, command: &Command, parent: Option<&str>) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    let mut synopsis = Roff::new();
    let usage = command.clone().render_usage().to_string();
    synopsis.control("SH", ["SYNOPSIS"]);
    write_lines(&mut synopsis, usage.trim_start_matches("Usage: ").lines());
    synopsis.to_writer(&mut page)?;
    man.render_description_section(&mut page)?;
    if command.get_arguments().any(|argument| !argument.is_hide_set()) {
        man.render_options_section(&mut page)?;
    }
    if visible_commands(command).next().is_some() {
        man.render_subcommands_section(&mut page)?;
    }
    let mut sections = HelpSections::from_command(command);
    sections.files.extend(files(command));
    sections.see_also.extend(parent.map(str::to_owned));
    sections.see_also.extend(visible_commands(command).map(page_name));
    sections.roff().to_writer(&mut page)?;
    if command.get_version().is_some() {
        man.render_version_section(&mut page)?;
    }
    Ok(page)
}

fn visible_commands(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set())
}

/// Returns the name of a command's page: its words with hyphens.
fn page_name(command: &Command) -> String {
    command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned()
}

/// The files that the services of the packages read.
fn files(command: &Command) -> Option<String> {
    let (settings, keys) = match command.get_name() {
        "serve" => ("/etc/oarlock/oarlock.toml", "/etc/oarlock/keys"),
        "milter" => ("/etc/oarlock-milter/milter.toml", "/etc/oarlock-milter"),
        "proxy" => ("/etc/oarlock-proxy/proxy.toml", "/etc/oarlock-proxy/certificates"),
        _ => return None,
    };
    Some(format!(
        "{settings} has the settings of the service that the packages install, and {keys} its keys."
    ))
}

/// The text behind a command's options, by the sections of a page.
#[derive(Debug, Default)]
struct HelpSections {
    exit_status: Option<String>,
    environment: Vec<String>,
    files: Vec<String>,
    signals: Vec<String>,
    notes: Vec<String>,
    examples: Vec<String>,
    see_also: Vec<String>,
}

/// The exit codes of commands whose help has none of its own.
const EXIT_CODES: &str =
    "0 done, 1 the answer is no, 2 wrong usage or input, 3 the machine or a peer failed.";

impl HelpSections {
    fn from_command(command: &Command) -> Self {
        let help = command.get_after_long_help().or_else(|| command.get_after_help());
        let mut sections = Self::default();
        for paragraph in help.map(ToString::to_string).unwrap_or_default().split("\n\n") {
            sections.take(paragraph);
        }
        sections
    }

    /// Takes a paragraph. Its beginning says what it is.
    fn take(&mut self, paragraph: &str) {
        let examples = ["Examples: ", "Example: "].iter().find_map(|begin| paragraph.strip_prefix(begin));
        if let Some(examples) = examples {
            return self.examples.extend(examples.lines().map(|line| line.trim().to_owned()));
        }
        let lines: Vec<&str> = paragraph.lines().collect();
        let is_special = |line: &&str| line.starts_with("SIG") || line.starts_with("OARLOCK_");
        let len = lines.iter().take_while(|line| !is_special(line)).count();
        let (text, special) = (lines[..len].join("\n"), lines[len..].join(" "));
        match special {
            special if special.starts_with("SIG") => self.signals.push(special),
            special if !special.is_empty() => self.environment.push(special),
            _ => {}
        }
        match text.strip_prefix("Exit codes: ") {
            Some(codes) => self.exit_status = Some(codes.replace('\n', " ")),
            None if !text.is_empty() => self.notes.push(text),
            None => {}
        }
    }

    fn roff(self) -> Roff {
        let mut roff = Roff::new();
        roff.control("SH", ["EXIT STATUS"]);
        roff.text([roman(self.exit_status.unwrap_or_else(|| EXIT_CODES.to_owned()))]);
        let sections = [
            ("ENVIRONMENT", self.environment),
            ("FILES", self.files),
            ("SIGNALS", self.signals),
            ("NOTES", self.notes),
        ];
        for (name, paragraphs) in sections.into_iter().filter(|(_, paragraphs)| !paragraphs.is_empty()) {
            roff.control("SH", [name]);
            for paragraph in paragraphs {
                roff.control("PP", []);
                // Steps and tables keep their lines.
                if paragraph.contains("\n  ") {
                    write_lines(&mut roff, paragraph.lines());
                } else {
                    roff.text([roman(paragraph.replace('\n', " "))]);
                }
            }
        }
        if !self.examples.is_empty() {
            roff.control("SH", ["EXAMPLES"]);
            write_lines(&mut roff, self.examples.iter().map(String::as_str));
        }
        if !self.see_also.is_empty() {
            roff.control("SH", ["SEE ALSO"]);
            let pages: Vec<String> = self.see_also.iter().map(|name| format!("{name}(1)")).collect();
            roff.text([roman(pages.join(", "))]);
        }
        roff
    }
}

/// Writes lines that stay as they are.
fn write_lines<'l>(roff: &mut Roff, lines: impl Iterator<Item = &'l str>) {
    roff.control("nf", []);
    for line in lines {
        roff.text([roman(line)]);
    }
    roff.control("fi", []);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_is_split_into_sections() {
        let help = "Without --config it does nothing.\nSIGHUP reloads it,\nand SIGTERM ends it.\n\nSteps:\n  1. one\n\n\
                    Examples: oarlock x\n          oarlock x -y\n\nExit codes: 0 done,\n3 failed.\nOARLOCK_X=1 hides it.";
        let sections = HelpSections::from_command(&Command::new("x").after_help(help));
        assert_eq!(sections.notes, ["Without --config it does nothing.", "Steps:\n  1. one"]);
        assert_eq!(sections.signals, ["SIGHUP reloads it, and SIGTERM ends it."]);
        assert_eq!(sections.examples, ["oarlock x", "oarlock x -y"]);
        assert_eq!(sections.exit_status.as_deref(), Some("0 done, 3 failed."));
        assert_eq!(sections.environment, ["OARLOCK_X=1 hides it."]);
    }
}
