//! Folding of header fields. RFC 5322 2.1.1 and 2.2.3.

/// The maximum column of a line. RFC 5322 2.1.1 advises at most 78 characters.
const WIDTH: usize = 76;

/// A header field that is folded between its tokens while it is written.
pub(crate) struct FoldedField {
    text: String,
    column: usize,
}

impl FoldedField {
    pub(crate) fn new(start: &str) -> Self {
        let mut text = String::with_capacity(768);
        text.push_str(start);
        Self { text, column: start.len() }
    }

    /// Appends a word after a space or a fold. The word is not split.
    pub(crate) fn push_word(&mut self, word: &str) {
        if self.column + 1 + word.len() > WIDTH {
            self.fold();
        } else {
            self.text.push(' ');
            self.column += 1;
        }
        self.push_glued(word);
    }

    /// Appends a part after nothing or a fold. The part is not split.
    pub(crate) fn push_part(&mut self, part: &str) {
        if self.column + part.len() > WIDTH {
            self.fold();
        }
        self.push_glued(part);
    }

    /// Appends text that may be split anywhere.
    pub(crate) fn push_pieces(&mut self, mut text: &str) {
        while !text.is_empty() {
            if self.column >= WIDTH {
                self.fold();
            }
            let (now, rest) = text.split_at(text.len().min(WIDTH - self.column));
            self.push_glued(now);
            text = rest;
        }
    }

    /// Continues a field whose start was written before.
    pub(crate) fn resume(text: String) -> Self {
        let column = text.rfind("\r\n").map_or(text.len(), |line| text.len() - line + 5);
        Self { text, column }
    }

    pub(crate) fn finish(self) -> String {
        self.text
    }

    /// Appends text to the current line. The text is not split.
    pub(crate) fn push_glued(&mut self, text: &str) {
        self.text.push_str(text);
        self.column += text.len();
    }

    /// Starts a new line.
    pub(crate) fn fold(&mut self) {
        self.text.push_str("\r\n\t");
        self.column = 8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_lines_between_tokens() {
        let mut field = FoldedField::new("Name");
        field.push_glued(":");
        field.push_word(&"a".repeat(70));
        field.push_word("b");
        field.push_part(&"c".repeat(66));
        field.push_part("d");
        field.push_pieces(&"e".repeat(100));
        let text = field.finish();
        assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
        assert_eq!(text.replace("\r\n\t", "").len(), 5 + 1 + 70 + 1 + 66 + 1 + 100);
        let mut whole = FoldedField::resume(text);
        whole.push_pieces(&"f".repeat(60));
        assert!(whole.finish().lines().all(|line| line.len() <= WIDTH));
    }
}
