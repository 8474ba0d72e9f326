//! The global options in each command's help, and usage errors in the program's own words.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Command, CommandFactory, FromArgMatches};
use oarlock_io::KeyForPath;

use oarlock_measure::terminal::{self, ColorChoice};

use crate::args::OarlockCli;
use crate::exit;

/// The default of `--threads` for bulk work.
const ALL_CORES: &str = "as many as there are cores";

/// Commands in which `--engines` has an effect, and the default of `--threads` if that has one too. All other
/// commands compute nothing in bulk.
const EFFECTS: [(&str, Option<&str>); 25] = [
    ("engines", None),
    ("speed", Some("1")),
    ("latency", Some("one for each core but one; with --saturation one for each")),
    ("records encrypt", Some(ALL_CORES)),
    ("records decrypt", Some(ALL_CORES)),
    ("records translate", Some(ALL_CORES)),
    ("records mac", Some(ALL_CORES)),
    ("ladder", None),
    ("serve", Some("engines.threads of the configuration, else as many as there are cores")),
    ("milter", Some(ALL_CORES)),
    ("proxy", Some(ALL_CORES)),
    ("load", None),
    ("bench tls", Some("1 in the provider; the cryptoserver's own beside it")),
    ("bench reloads", Some("1 in the provider; the cryptoserver's own beside it")),
    ("bench milter", Some("the filter's own")),
    ("bench resolver", Some("1 in the provider")),
    ("sockets bench", None),
    ("dkim sign", Some(ALL_CORES)),
    ("dkim verify", Some(ALL_CORES)),
    ("dkim bench", None),
    ("dnssec sign", Some(ALL_CORES)),
    ("dnssec verify", Some(ALL_CORES)),
    ("dnssec bench", Some(ALL_CORES)),
    ("dnssec ds", None),
    ("dnssec capacity", None),
];

/// Parses the command line, and warns on stderr about options without effect in the command.
///
/// # Errors
/// The exit code, after help or the error has been printed.
pub(crate) fn parse() -> Result<OarlockCli, ExitCode> {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    reject_keys(&arguments)?;
    terminal::set_color(color_in(&arguments));
    let matches = command().try_get_matches_from(arguments).map_err(|error| report(&error))?;
    warn_of_no_effect(&matches);
    OarlockCli::from_arg_matches(&matches).map_err(|error| report(&error))
}

/// Rejects a key in the place of its file's name before an error could quote it. clap takes `-----BEGIN` for an
/// option, and quotes unknown options.
fn reject_keys(arguments: &[OsString]) -> Result<(), ExitCode> {
    const BEGIN: &[u8] = b"-----BEGIN";
    let is_key = |own: &OsString| own.as_encoded_bytes().windows(BEGIN.len()).any(|part| part == BEGIN);
    match arguments.iter().position(is_key) {
        None => Ok(()),
        Some(place) => {
            eprintln!("oarlock: argument {place}: {KeyForPath}");
            Err(exit::usage())
        }
    }
}

/// Returns the command line with the global options in each command's help.
pub(crate) fn command() -> Command {
    let mut command = OarlockCli::command();
    let globals: Vec<Arg> = command
        .get_arguments()
        .filter(|arg| ["engines", "threads"].contains(&arg.get_id().as_str()))
        .cloned()
        .collect();
    let names: Vec<String> = command.get_subcommands().map(|own| own.get_name().to_owned()).collect();
    for name in names {
        command = command.mut_subcommand(&name, |own| with_globals(own, &name, &globals));
    }
    command
}

/// Puts the global options into each command without subcommands.
fn with_globals(mut command: Command, path: &str, globals: &[Arg]) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|own| own.get_name().to_owned()).collect();
    for name in &names {
        let path = format!("{path} {name}");
        command = command.mut_subcommand(name, |own| with_globals(own, &path, globals));
    }
    if names.is_empty() {
        command = command.args(globals.iter().map(|arg| in_command(arg.clone(), path)));
    }
    command
}

/// Returns an option as the help of the command at `path` shows it.
fn in_command(arg: Arg, path: &str) -> Arg {
    if !has_effect(path, arg.get_id().as_str()) {
        return arg.hide(true);
    }
    match default_threads(path) {
        Some(default) if arg.get_id() == "threads" => {
            arg.help(format!("Number of threads, 1 to 4096 [default: {default}]"))
        }
        _ => arg,
    }
}

fn effect(path: &str) -> Option<Option<&'static str>> {
    EFFECTS.iter().find(|(own, _)| *own == path).map(|(_, threads)| *threads)
}

fn default_threads(path: &str) -> Option<&'static str> {
    effect(path).flatten()
}

fn has_effect(path: &str, option: &str) -> bool {
    if option == "threads" { default_threads(path).is_some() } else { effect(path).is_some() }
}

/// Warns about options without effect. Scripts pass global options to every command, so they are no error.
fn warn_of_no_effect(matches: &ArgMatches) {
    let (path, own) = innermost(matches);
    for option in ["engines", "threads"] {
        if own.contains_id(option) && !has_effect(&path, option) {
            eprintln!("oarlock: --{option} has no effect in `{path}`");
        }
    }
}

/// Returns the words of the command that was given, and its matches.
fn innermost(matches: &ArgMatches) -> (String, &ArgMatches) {
    let (mut words, mut matches) = (Vec::new(), matches);
    while let Some((name, own)) = matches.subcommand() {
        words.push(name);
        matches = own;
    }
    (words.join(" "), matches)
}

/// Returns the value of `--color`, which is needed before the command line is understood.
fn color_in(arguments: &[OsString]) -> ColorChoice {
    let mut words = arguments.iter().map(|word| word.to_string_lossy()).take_while(|word| word != "--");
    let mut choice = ColorChoice::Auto;
    while let Some(word) = words.next() {
        let value = match word.strip_prefix("--color") {
            Some("") => words.next().map(|value| value.into_owned()),
            Some(value) => value.strip_prefix('=').map(str::to_owned),
            None => None,
        };
        choice = match value.as_deref() {
            Some("always") => ColorChoice::Always,
            Some("never") => ColorChoice::Never,
            Some("auto") => ColorChoice::Auto,
            _ => choice,
        };
    }
    choice
}

/// Prints help on stdout, or a usage error on stderr in the form of all other errors.
fn report(error: &clap::Error) -> ExitCode {
    let text = error.render();
    let in_colour =
        if error.use_stderr() { terminal::wants_colour_on_stderr() } else { terminal::wants_colour() };
    let shown = if in_colour { text.ansi().to_string() } else { text.to_string() };
    // It does not matter if the reader has gone.
    let _ = match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => io::stdout().write_all(shown.as_bytes()),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => io::stderr().write_all(shown.as_bytes()),
        _ => write!(io::stderr(), "oarlock: {}", without_label(&shown, &text.to_string())),
    };
    if error.use_stderr() { exit::usage() } else { ExitCode::SUCCESS }
}

/// Removes clap's own `error: ` from the start of a message.
fn without_label(shown: &str, plain: &str) -> String {
    const LABEL: &str = "error:";
    let rest = match shown.find(LABEL).filter(|_| plain.starts_with(LABEL)) {
        Some(at) => &shown[at + LABEL.len()..],
        None => shown,
    };
    // A colour that began before the label ends behind it.
    rest.trim_start_matches("\u{1b}[0m").trim_start().to_owned()
}

#[cfg(test)]
#[path = "usage_tests.rs"]
mod tests;
