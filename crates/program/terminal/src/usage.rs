//! The global options in each command's help, and usage errors in the program's own words.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgMatches, Command, CommandFactory, FromArgMatches};
use oarlock_key_files::KeyForPath;

use crate::failure::FailureKind;
use crate::screen::{self, ColorChoice};

/// The default of `--threads` for bulk work, as [`CommandEffect`] states it.
pub const ALL_CORES: &str = "as many as there are cores";

/// A command in which `--engines` has an effect, by its words, and the default of `--threads` if that has one too. All
/// other commands compute nothing in bulk.
pub type CommandEffect = (&'static str, Option<&'static str>);

/// Parses the command line, and warns on stderr about options without effect in the command.
///
/// # Errors
/// The exit code, after help or the error has been printed.
pub fn parse<C: CommandFactory + FromArgMatches>(effects: &[CommandEffect]) -> Result<C, ExitCode> {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    reject_keys(&arguments)?;
    screen::set_color(color_in(&arguments));
    let mut command = command::<C>(effects);
    let matches = command.try_get_matches_from_mut(arguments).map_err(report)?;
    warn_of_no_effect(&command, &matches, effects);
    C::from_arg_matches(&matches).map_err(report)
}

/// Rejects a key in the place of its file's name before an error could quote it. clap takes `-----BEGIN` for an
/// option, and quotes unknown options.
fn reject_keys(arguments: &[OsString]) -> Result<(), ExitCode> {
    const BEGIN: &[u8] = b"-----BEGIN";
    let is_key =
        |argument: &OsString| argument.as_encoded_bytes().windows(BEGIN.len()).any(|part| part == BEGIN);
    match arguments.iter().position(is_key) {
        None => Ok(()),
        Some(index) => {
            eprintln!("oarlock: argument {index}: {KeyForPath}");
            Err(usage_code())
        }
    }
}

/// Returns the command line with the global options in each command's help.
pub fn command<C: CommandFactory>(effects: &[CommandEffect]) -> Command {
    let mut command = C::command();
    let globals: Vec<Arg> = command
        .get_arguments()
        .filter(|arg| ["engines", "threads"].contains(&arg.get_id().as_str()))
        .cloned()
        .collect();
    let names: Vec<String> =
        command.get_subcommands().map(|subcommand| subcommand.get_name().to_owned()).collect();
    for name in names {
        command =
            command.mut_subcommand(&name, |subcommand| with_globals(subcommand, &name, &globals, effects));
    }
    command
}

/// Puts the global options into each command without subcommands.
fn with_globals(mut command: Command, path: &str, globals: &[Arg], effects: &[CommandEffect]) -> Command {
    let names: Vec<String> =
        command.get_subcommands().map(|subcommand| subcommand.get_name().to_owned()).collect();
    for name in &names {
        let path = format!("{path} {name}");
        command =
            command.mut_subcommand(name, |subcommand| with_globals(subcommand, &path, globals, effects));
    }
    if names.is_empty() {
        command = command.args(globals.iter().map(|arg| in_command(arg.clone(), path, effects)));
    }
    command
}

/// Returns an option as the help of the command at `path` shows it.
fn in_command(arg: Arg, path: &str, effects: &[CommandEffect]) -> Arg {
    if !has_effect(effects, path, arg.get_id().as_str()) {
        return arg.hide(true);
    }
    match default_threads(effects, path) {
        Some(default) if arg.get_id() == "threads" => {
            arg.help(format!("Number of threads, 1 to 4096 [default: {default}]"))
        }
        _ => arg,
    }
}

fn effect<'e>(effects: &'e [CommandEffect], path: &str) -> Option<&'e CommandEffect> {
    effects.iter().find(|(known, _)| *known == path)
}

fn default_threads(effects: &[CommandEffect], path: &str) -> Option<&'static str> {
    effect(effects, path).and_then(|(_, threads)| *threads)
}

fn has_effect(effects: &[CommandEffect], path: &str, option: &str) -> bool {
    match option {
        "threads" => default_threads(effects, path).is_some(),
        _ => effect(effects, path).is_some(),
    }
}

/// Warns about options without effect. Scripts pass global options to every command, so they are no error.
fn warn_of_no_effect(command: &Command, matches: &ArgMatches, effects: &[CommandEffect]) {
    let (path, command, options) = innermost(command, matches);
    // Another program reads the options of a command that has no help.
    if command.is_disable_help_flag_set() {
        return;
    }
    for option in ["engines", "threads"] {
        if options.contains_id(option) && !has_effect(effects, &path, option) {
            eprintln!("oarlock: --{option} has no effect in `{path}`");
        }
    }
}

/// Returns the words of the command that was given, the command, and its matches.
fn innermost<'c>(command: &'c Command, matches: &'c ArgMatches) -> (String, &'c Command, &'c ArgMatches) {
    let (mut words, mut command, mut matches) = (Vec::new(), command, matches);
    while let Some((name, inner)) = matches.subcommand() {
        words.push(name);
        matches = inner;
        command = command.find_subcommand(name).unwrap_or(command);
    }
    (words.join(" "), command, matches)
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
fn report(error: clap::Error) -> ExitCode {
    let error = without_escapes(error);
    let text = error.render();
    let in_colour =
        if error.use_stderr() { screen::wants_colour_on_stderr() } else { screen::wants_colour() };
    let shown = if in_colour { text.ansi().to_string() } else { text.to_string() };
    // It does not matter if the reader has gone.
    let _ = match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => io::stdout().write_all(shown.as_bytes()),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => io::stderr().write_all(shown.as_bytes()),
        _ => write!(io::stderr(), "oarlock: {}", without_label(&shown, &text.to_string())),
    };
    if error.use_stderr() { usage_code() } else { ExitCode::SUCCESS }
}

/// Removes the tips to pass an unknown option as a value behind `--`. No command has values that look like options, so
/// the next error would be about the value.
fn without_escapes(mut error: clap::Error) -> clap::Error {
    let Some(ContextValue::StyledStrs(tips)) = error.remove(ContextKind::Suggested) else { return error };
    let is_kept = |tip: &StyledStr| !tip.to_string().contains(" as a value, use ");
    let tips: Vec<StyledStr> = tips.into_iter().filter(is_kept).collect();
    if !tips.is_empty() {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
    error
}

fn usage_code() -> ExitCode {
    ExitCode::from(FailureKind::Usage.exit_code())
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
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct NoCommand {}

    #[derive(Debug, Parser)]
    struct OneValue {
        #[arg(long)]
        length: Option<u8>,
        value: String,
    }

    #[test]
    fn colour_is_known_before_the_command_line_is() {
        let read = |words: &[&str]| color_in(&words.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(read(&["oarlock", "nonsense", "--color", "never"]), ColorChoice::Never);
        assert_eq!(read(&["oarlock", "--color=always", "speed"]), ColorChoice::Always);
        assert_eq!(read(&["oarlock", "--color", "purple"]), ColorChoice::Auto);
        assert_eq!(read(&["oarlock", "--", "--color", "never"]), ColorChoice::Auto);
    }

    #[test]
    fn tips_lead_somewhere() {
        let shown = |option: &str| {
            let error = command::<OneValue>(&[]).try_get_matches_from(["oarlock", option, "x"]).unwrap_err();
            without_escapes(error).render().to_string()
        };
        let unknown = shown("--zone");
        assert!(unknown.contains("unexpected argument '--zone'"), "{unknown}");
        assert!(!unknown.contains("tip"), "{unknown}");
        assert!(shown("--lenght").contains("a similar argument exists: '--length'"));
    }

    #[test]
    fn errors_of_usage_lose_the_label_of_the_parser() {
        let error = command::<NoCommand>(&[]).try_get_matches_from(["oarlock", "--nonsense"]).unwrap_err();
        let (text, plain) = (error.render(), error.render().to_string());
        for shown in [text.to_string(), text.ansi().to_string()] {
            let rest = without_label(&shown, &plain);
            assert!(rest.starts_with("unexpected argument"), "{rest:?}");
        }
    }
}
