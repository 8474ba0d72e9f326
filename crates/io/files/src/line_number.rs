//! The line of a fault in a settings file.

/// Returns the number of the line, from 1, that contains the byte at `offset`. Parsers report offsets, and their own
/// messages quote the line, which may be part of a key.
#[must_use]
pub fn line_number(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_lines_from_one_at_any_offset() {
        let text = "a\nü\n\nb";
        let numbers: Vec<usize> = (0..=text.len() + 1).map(|offset| line_number(text, offset)).collect();
        assert_eq!(numbers, [1, 1, 2, 2, 2, 3, 4, 4, 4]);
    }
}
