//! Tests of the command line as a whole.

use clap::error::ErrorKind;

use super::*;

/// Every command without subcommands, by its words.
fn leaves(command: &Command, path: &[String], all: &mut Vec<Vec<String>>) {
    let own: Vec<&Command> = command.get_subcommands().filter(|own| own.get_name() != "help").collect();
    if own.is_empty() {
        all.push(path.to_vec());
    }
    for own in own {
        leaves(own, &[path, &[own.get_name().to_owned()]].concat(), all);
    }
}

fn all_leaves() -> Vec<Vec<String>> {
    let mut all = Vec::new();
    leaves(&command(), &[], &mut all);
    assert!(all.len() > 30, "{all:?}");
    all
}

/// The kind of mistake, if there is one; a command without its required arguments is one.
fn mistake(words: &[&str]) -> Option<ErrorKind> {
    command().try_get_matches_from(words).err().map(|error| error.kind())
}

const GLOBALS: [&[&str]; 6] = [
    &["--engines", "scalar"],
    &["--threads", "2"],
    &["--json"],
    &["--color", "never"],
    &["-v"],
    &["--verbose"],
];
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
    for leaf in all_leaves() {
        let words: Vec<&str> = leaf.iter().map(String::as_str).collect();
        for option in GLOBALS {
            for at in 0..=words.len() {
                let line = [&["oarlock"], &words[..at], option, &words[at..]].concat();
                let found = mistake(&line);
                assert!(
                    matches!(found, None | Some(ErrorKind::MissingRequiredArgument)),
                    "{line:?}: {found:?}"
                );
            }
        }
    }
}

#[test]
fn every_call_takes_its_connection_before_and_behind_its_words() {
    let calls = all_leaves().into_iter().filter(|leaf| leaf[0] == "call" || leaf[0] == "load");
    for leaf in calls {
        let words: Vec<&str> = leaf.iter().map(String::as_str).collect();
        for option in CONNECTION {
            for at in 1..=words.len() {
                let line = [&["oarlock"], &words[..at], option, &words[at..]].concat();
                let found = mistake(&line);
                assert!(
                    matches!(found, None | Some(ErrorKind::MissingRequiredArgument)),
                    "{line:?}: {found:?}"
                );
            }
        }
    }
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
    let leaves: Vec<String> = all_leaves().iter().map(|leaf| leaf.join(" ")).collect();
    for (path, _) in EFFECTS {
        assert!(leaves.iter().any(|leaf| leaf == path), "{path}");
    }
}

/// The help of a command, by its words.
fn help(path: &[&str]) -> String {
    let line = [&["oarlock"], path, &["--help"]].concat();
    command().try_get_matches_from(line).unwrap_err().to_string()
}

#[test]
fn help_shows_own_options_first_and_global_ones_under_their_heading() {
    for leaf in all_leaves() {
        let words: Vec<&str> = leaf.iter().map(String::as_str).collect();
        let (path, text) = (leaf.join(" "), help(&words));
        let (own, global) = text.split_once("Global options:\n").unwrap_or_else(|| panic!("{text}"));
        for option in ["--json", "--color", "--verbose", "--engines", "--threads"] {
            assert!(!own.contains(&format!(" {option}")), "{path}: {option}\n{text}");
        }
        assert!(global.contains("--json") && global.contains("--verbose"), "{text}");
        assert_eq!(global.contains("--engines"), has_effect(&path, "engines"), "{path}");
        assert_eq!(global.contains("--threads"), has_effect(&path, "threads"), "{path}");
        if let Some(default) = default_threads(&path) {
            let shown = global.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(shown.contains(&format!("[default: {default}]")), "{path}: {shown}");
        }
    }
}

#[test]
fn help_names_the_variables_of_connections() {
    for path in [&["call", "keys"][..], &["load"], &["dnssec", "sign"]] {
        let text = help(path);
        for name in ["OARLOCK_SERVER", "OARLOCK_CA", "OARLOCK_CERT", "OARLOCK_KEY"] {
            assert!(text.contains(name), "{path:?}: {name}\n{text}");
        }
    }
}

#[test]
fn operations_have_two_spellings_everywhere() {
    for path in ["speed", "latency", "load"] {
        for option in ["--op", "--ops"] {
            assert_eq!(mistake(&["oarlock", path, option, "p256-verify"]), None, "{path} {option}");
        }
    }
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
fn errors_of_usage_lose_the_label_of_the_parser() {
    let error = command().try_get_matches_from(["oarlock", "speed", "--nonsense"]).unwrap_err();
    let (text, plain) = (error.render(), error.render().to_string());
    for shown in [text.to_string(), text.ansi().to_string()] {
        let rest = without_label(&shown, &plain);
        assert!(rest.starts_with("unexpected argument"), "{rest:?}");
    }
}
