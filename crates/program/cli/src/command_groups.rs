//! The commands in groups, as the help of the program lists them. clap has one list for all.

use clap::builder::{StyledStr, Styles};
use clap::{Command, Subcommand};

/// The groups in the order of the help, each with its commands.
pub(crate) const GROUPS: [(&str, &[&str]); 5] = [
    ("Services", &["serve", "call", "audit", "milter", "proxy"]),
    ("Keys", &["keys", "token"]),
    ("Files", &["dkim", "dnssec", "records"]),
    ("Measure", &["engines", "speed", "load", "sockets", "latency", "ladder", "bench"]),
    ("This program", &["completions", "man"]),
];

/// Returns the template of the help of a program with the commands `C`.
pub(crate) fn help_template<C: Subcommand>() -> StyledStr {
    let commands = C::augment_subcommands(Command::new("oarlock"));
    let heading = |text: &str| {
        let style = *Styles::styled().get_header();
        format!("{style}{text}:{style:#}\n")
    };
    let groups: String = GROUPS
        .iter()
        .map(|(title, names)| {
            heading(title) + &names.iter().map(|name| row(&commands, name)).collect::<String>() + "\n"
        })
        .collect();
    let options = heading("Global options");
    format!("{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}{options}{{options}}{{after-help}}")
        .into()
}

/// Returns the line of a command.
fn row(commands: &Command, name: &str) -> String {
    let about = commands.find_subcommand(name).and_then(Command::get_about);
    let style = *Styles::styled().get_literal();
    format!("  {style}{name:<13}{style:#}{}\n", about.map(ToString::to_string).unwrap_or_default())
}
