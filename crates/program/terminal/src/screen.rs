//! The terminal that this process writes to: its colours and its width.

use std::io::IsTerminal;
use std::sync::OnceLock;

use clap::ValueEnum;

/// The choice whether output is coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set or TERM is dumb
    #[default]
    Auto,
    /// Into files and pipes too
    Always,
    /// Nowhere
    Never,
}

/// The value of `--color`. Set once, before any output.
static CHOICE: OnceLock<ColorChoice> = OnceLock::new();

/// The environment variable that sets a width: shells set it, and tests do.
const COLUMNS_VARIABLE: &str = "COLUMNS";
/// The narrowest width that tables are fitted to.
const MIN_COLUMNS: usize = 20;

/// Stores the value of `--color`. Later calls have no effect.
pub(crate) fn set_color(choice: ColorChoice) {
    let _ = CHOICE.set(choice);
}

/// True if text on stdout is to be coloured (<https://no-color.org>).
pub fn wants_colour() -> bool {
    wants(std::io::stdout().is_terminal())
}

/// True if text on stderr is to be coloured.
pub fn wants_colour_on_stderr() -> bool {
    wants(std::io::stderr().is_terminal())
}

fn wants(is_terminal: bool) -> bool {
    match CHOICE.get().copied().unwrap_or_default() {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => {
            let is_refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            is_terminal && !is_refused && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
        }
    }
}

/// Returns the width of stdout in columns: that of COLUMNS, else that of the terminal. None if stdout is not a
/// terminal.
pub(crate) fn columns() -> Option<usize> {
    // Tests of texts must not depend on the terminal that they run in.
    if cfg!(test) {
        return None;
    }
    let stated = std::env::var(COLUMNS_VARIABLE).ok().and_then(|text| text.parse().ok());
    let terminal = || console::Term::stdout().size_checked().map(|(_, columns)| usize::from(columns));
    stated.or_else(terminal).filter(|columns| *columns > 0).map(|columns| columns.max(MIN_COLUMNS))
}
