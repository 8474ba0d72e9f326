//! Tests of the command line as a whole.

#[path = "../../terminal/tests/shared/laws.rs"]
mod laws;

use clap::{Command, FromArgMatches};
use oarlock_terminal::usage;

use super::*;
use crate::command_groups::GROUPS;

fn command() -> Command {
    usage::command::<OarlockCli>(EFFECTS)
}

/// The commands of the program, and those that the laboratory runs.
fn all_leaves() -> (Vec<Vec<String>>, Vec<Vec<String>>) {
    let command = command();
    let is_own = |path: &Vec<String>| {
        let leaf = path.iter().fold(&command, |command, word| command.find_subcommand(word).unwrap());
        !leaf.is_disable_help_flag_set()
    };
    let (of_program, laboratory): (Vec<_>, Vec<_>) = laws::leaves(&command).into_iter().partition(is_own);
    assert!(of_program.len() > 30, "{of_program:?}");
    (of_program, laboratory)
}

const CONNECTION: [&[&str]; 6] = [
    &["--server-user", "nobody"],
    &["--server", "https://localhost:7443"],
    &["--ca", "ca.pem"],
    &["--cert", "client.pem"],
    &["--cert-key", "client-key.pem"],
    &["--state", "state"],
];

#[test]
fn the_command_line_is_well_formed() {
    command().debug_assert();
}

#[test]
fn every_command_takes_global_options_before_and_behind_its_words() {
    laws::global_options_stand_anywhere(&command());
}

#[test]
fn every_call_takes_its_connection_before_and_behind_its_words() {
    let calls: Vec<_> =
        all_leaves().0.into_iter().filter(|leaf| leaf[0] == "call" || leaf[0] == "load").collect();
    laws::options_stand_anywhere(&command(), &calls, &CONNECTION, 1);
}

#[test]
fn global_options_are_read_wherever_they_stand() {
    for line in [
        &["oarlock", "--threads", "3", "--engines", "scalar", "--json", "call", "keys"][..],
        &["oarlock", "call", "--threads", "3", "--engines", "scalar", "--json", "keys"],
        &["oarlock", "call", "keys", "--threads", "3", "--engines", "scalar", "--json"],
    ] {
        let cli = OarlockCli::from_arg_matches(&command().try_get_matches_from(line).unwrap()).unwrap();
        assert_eq!((cli.global.threads, cli.global.json), (Some(3), true), "{line:?}");
        assert_eq!(cli.global.engines, Some(vec!["scalar".to_owned()]), "{line:?}");
    }
}

#[test]
fn every_effect_belongs_to_a_command() {
    laws::effects_belong_to_commands(&command(), EFFECTS);
}

#[test]
fn help_shows_own_options_first_and_global_ones_under_their_heading() {
    laws::help_has_global_options_last(&command(), &all_leaves().0, EFFECTS);
}

#[test]
fn help_shows_each_command_once_in_its_group_and_on_one_line() {
    let text = laws::help(&command(), &[]);
    let grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    let whole = command();
    let shown = || whole.get_subcommands().filter(|subcommand| !subcommand.is_hide_set());
    for subcommand in shown() {
        let (name, about) = (subcommand.get_name(), subcommand.get_about().unwrap().to_string());
        assert_eq!(grouped.iter().filter(|known| **known == name).count(), 1, "{name}");
        let line = format!("  {name:<13}{about}");
        assert!(text.lines().any(|printed| printed == line), "{line}\n{text}");
        assert!(line.len() <= 80, "{line}");
    }
    assert_eq!(grouped.len(), shown().count());
    assert!(text.contains("\nServices:\n") && text.contains("\nGlobal options:\n"), "{text}");
}

#[test]
fn help_names_the_variables_of_connections() {
    for path in [&["call", "keys"][..], &["load"], &["dnssec", "sign"]] {
        let text = laws::help(&command(), path);
        for name in ["OARLOCK_SERVER", "OARLOCK_CA", "OARLOCK_CERT", "OARLOCK_KEY"] {
            assert!(text.contains(name), "{path:?}: {name}\n{text}");
        }
    }
}

#[test]
fn operations_have_two_spellings_everywhere() {
    for path in ["speed", "load"] {
        for option in ["--op", "--ops"] {
            let line = ["oarlock", path, option, "p256-verify"];
            assert_eq!(laws::mistake(&command(), &line), None, "{path} {option}");
        }
    }
}

#[test]
fn commands_of_the_laboratory_take_any_argument_and_say_what_they_are() {
    let (command, (_, laboratory)) = (command(), all_leaves());
    let mut paths: Vec<String> = laboratory.iter().map(|path| path.join(" ")).collect();
    paths.sort();
    assert_eq!(
        paths,
        ["bench", "dkim bench", "dnssec bench", "dnssec zonegen", "ladder", "latency", "sockets bench"]
    );
    for path in laboratory {
        let words: Vec<&str> = path.iter().map(String::as_str).collect();
        for rest in [&["--help"][..], &["-h"], &["-V"], &["tls", "--rows", "a", "--json"], &["--", "-x"]] {
            assert_eq!(
                laws::mistake(&command, &[&["oarlock"], &words[..], rest].concat()),
                None,
                "{path:?} {rest:?}"
            );
        }
        let leaf = path.iter().fold(&command, |command, word| command.find_subcommand(word).unwrap());
        assert!(leaf.get_about().unwrap().to_string().ends_with("(laboratory)"), "{path:?}");
    }
}
