//! One JSON document about many messages. It is written while they are handled: results first, then the summary.

use std::io::{self, Write};

use serde::Serialize;

/// A document that is partly written.
#[derive(Debug, Default)]
pub(super) struct ResultList {
    written: u64,
}

impl ResultList {
    /// Writes a result on a line of its own.
    pub(super) fn push(&mut self, result: &impl Serialize, out: &mut impl Write) -> io::Result<()> {
        write!(out, "{}", if self.written == 0 { "{\"results\":[\n" } else { ",\n" })?;
        self.written += 1;
        serde_json::to_writer(out, result).map_err(io::Error::other)
    }

    /// Writes the end. There is no summary if something has failed.
    pub(super) fn finish(self, summary: Option<&impl Serialize>, out: &mut impl Write) -> io::Result<()> {
        // Without a result, `push` has not begun the list.
        write!(out, "{}", if self.written == 0 { "{\"results\":[" } else { "\n" })?;
        writeln!(out, "],\"summary\":{}}}", serde_json::to_string(&summary).map_err(io::Error::other)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_content_is_one_document() {
        for count in 0..3 {
            let (mut list, mut text) = (ResultList::default(), Vec::new());
            for number in 0..count {
                list.push(&number, &mut text).unwrap();
            }
            list.finish(Some(&"done"), &mut text).unwrap();
            let value: serde_json::Value = serde_json::from_slice(&text).unwrap();
            assert_eq!(value["results"].as_array().unwrap().len(), count);
            assert_eq!(value["summary"], "done");
        }
    }
}
