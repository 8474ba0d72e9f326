//! Laws of a command line, which the tests of both programs apply to theirs.

use clap::Command;
use clap::error::ErrorKind;
use oarlock_terminal::usage::CommandEffect;

const GLOBALS: [&[&str]; 6] = [
    &["--engines", "scalar"],
    &["--threads", "2"],
    &["--json"],
    &["--color", "never"],
    &["-v"],
    &["--verbose"],
];

/// Every command without subcommands, by its words.
pub(crate) fn leaves(command: &Command) -> Vec<Vec<String>> {
    let (mut all, mut open) = (Vec::new(), vec![(command, Vec::new())]);
    while let Some((command, path)) = open.pop() {
        let subcommands: Vec<&Command> =
            command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help").collect();
        if subcommands.is_empty() {
            all.push(path);
            continue;
        }
        open.extend(
            subcommands
                .iter()
                .map(|subcommand| (*subcommand, [&path[..], &[subcommand.get_name().to_owned()]].concat())),
        );
    }
    all
}

/// The kind of mistake, if there is one; a command without its required arguments is one.
pub(crate) fn mistake(command: &Command, words: &[&str]) -> Option<ErrorKind> {
    command.clone().try_get_matches_from(words).err().map(|error| error.kind())
}

/// Every leaf takes each option before, between and behind its words, from word `first` on.
pub(crate) fn options_stand_anywhere(
    command: &Command,
    leaves: &[Vec<String>],
    options: &[&[&str]],
    first: usize,
) {
    for leaf in leaves {
        let words: Vec<&str> = leaf.iter().map(String::as_str).collect();
        for option in options {
            for at in first..=words.len() {
                let line = [&["oarlock"], &words[..at], *option, &words[at..]].concat();
                let found = mistake(command, &line);
                assert!(
                    matches!(found, None | Some(ErrorKind::MissingRequiredArgument)),
                    "{line:?}: {found:?}"
                );
            }
        }
    }
}

/// Every command takes global options before and behind its words.
pub(crate) fn global_options_stand_anywhere(command: &Command) {
    options_stand_anywhere(command, &leaves(command), &GLOBALS, 0);
}

/// Every effect belongs to a command.
pub(crate) fn effects_belong_to_commands(command: &Command, effects: &[CommandEffect]) {
    let leaves: Vec<String> = leaves(command).iter().map(|leaf| leaf.join(" ")).collect();
    for (path, _) in effects {
        assert!(leaves.iter().any(|leaf| leaf == path), "{path}");
    }
}

/// The help of a command, by its words.
pub(crate) fn help(command: &Command, path: &[&str]) -> String {
    let line = [&["oarlock"], path, &["--help"]].concat();
    command.clone().try_get_matches_from(line).unwrap_err().to_string()
}

/// Help shows the options of each of these commands first, and global ones under their heading, those with an effect
/// alone.
pub(crate) fn help_has_global_options_last(
    command: &Command,
    leaves: &[Vec<String>],
    effects: &[CommandEffect],
) {
    for leaf in leaves {
        let words: Vec<&str> = leaf.iter().map(String::as_str).collect();
        let (path, text) = (leaf.join(" "), help(command, &words));
        let effect = effects.iter().find(|(known, _)| *known == path);
        let threads = effect.and_then(|(_, threads)| *threads);
        let (local, global) = text.split_once("Global options:\n").unwrap_or_else(|| panic!("{text}"));
        for option in ["--json", "--color", "--verbose", "--engines", "--threads"] {
            assert!(!local.contains(&format!(" {option}")), "{path}: {option}\n{text}");
        }
        assert!(global.contains("--json") && global.contains("--verbose"), "{text}");
        assert_eq!(global.contains("--engines"), effect.is_some(), "{path}");
        assert_eq!(global.contains("--threads"), threads.is_some(), "{path}");
        if let Some(default) = threads {
            let shown = global.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(shown.contains(&format!("[default: {default}]")), "{path}: {shown}");
        }
    }
}
