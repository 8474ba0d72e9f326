//! Tests of the command line as a whole.

#[path = "../../../crates/program/terminal/tests/shared/laws.rs"]
mod laws;

use clap::{Command, CommandFactory};
use oarlock_terminal::usage;

use super::*;

fn command() -> Command {
    usage::command::<OarlockLabCli>(EFFECTS)
}

/// The commands for users: the others are roles of processes that a measurement starts.
fn shown_leaves() -> Vec<Vec<String>> {
    let command = OarlockLabCli::command();
    let is_shown = |path: &Vec<String>| !command.find_subcommand(&path[0]).unwrap().is_hide_set();
    let leaves: Vec<_> = laws::leaves(&command).into_iter().filter(is_shown).collect();
    assert!(leaves.len() > 12, "{leaves:?}");
    leaves
}

#[test]
fn the_command_line_is_well_formed() {
    command().debug_assert();
}

#[test]
fn every_command_takes_global_options_before_and_behind_its_words() {
    laws::global_options_stand_anywhere(&command());
}

#[test]
fn every_effect_belongs_to_a_command() {
    laws::effects_belong_to_commands(&command(), EFFECTS);
}

#[test]
fn help_shows_own_options_first_and_global_ones_under_their_heading() {
    laws::help_has_global_options_last(&command(), &shown_leaves(), EFFECTS);
}

#[test]
fn operations_have_two_spellings_everywhere() {
    for option in ["--op", "--ops"] {
        let line = ["oarlock-lab", "latency", option, "p256-verify"];
        assert_eq!(laws::mistake(&command(), &line), None, "latency {option}");
    }
}
