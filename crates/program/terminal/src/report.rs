//! The printer of reports: one JSON document in one line, or text for people.

use std::io::{self, Write};

use serde::Serialize;

use crate::screen::wants_colour;

/// Prints a report on stdout: `document` as JSON if `as_json` is true, else the text that `to_text` makes. The
/// argument of `to_text` is true if the text is to be coloured.
///
/// # Errors
/// Stdout cannot be written.
pub fn print_report<D: Serialize + ?Sized>(
    as_json: bool,
    document: &D,
    to_text: impl FnOnce(bool) -> String,
) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if as_json {
        writeln!(out, "{}", serde_json::to_string(document)?)?;
    } else {
        out.write_all(to_text(wants_colour()).as_bytes())?;
    }
    out.flush()
}
