//! Messages for whoever runs the program.

use std::io::Write as _;

/// Prints one line on stderr.
pub(crate) fn print_line(text: &str) {
    // A program without stderr has nothing to print to, and its operation goes on.
    let _ = writeln!(std::io::stderr(), "oarlock: {text}");
}
