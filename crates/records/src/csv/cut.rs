//! The end of the whole rows at the front of a buffer.

use memchr::{memchr, memrchr};

use super::layout::BYTE_ORDER_MARK;
use super::read::closing_quote;

/// Returns the length of the whole rows at the front of `buffer`, up to its last line feed outside of quotes. A
/// doubled quote that is cut in two by the buffer's end looks like a closing quote. That is harmless, since no line
/// feed follows it.
pub(crate) fn whole_rows(buffer: &[u8], delimiter: u8) -> usize {
    let (mut end, mut from) = (0, 0);
    while let Some(quote) = memchr(b'"', &buffer[from..]).map(|offset| from + offset) {
        let before = &buffer[..quote];
        let is_first = matches!(before.last(), None | Some(b'\n'))
            || before.last() == Some(&delimiter)
            || before == BYTE_ORDER_MARK;
        // A quote inside of a bare field opens nothing, so line feeds behind it still end rows.
        end = behind_last_feed(buffer, from, quote).unwrap_or(end);
        from = match (is_first, closing_quote(buffer, quote + 1)) {
            (false, _) => quote + 1,
            (true, (Some(close), _)) => close + 1,
            (true, (None, _)) => return end,
        };
    }
    behind_last_feed(buffer, from, buffer.len()).unwrap_or(end)
}

fn behind_last_feed(buffer: &[u8], from: usize, to: usize) -> Option<usize> {
    memrchr(b'\n', &buffer[from..to]).map(|offset| from + offset + 1)
}
