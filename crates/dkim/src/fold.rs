//! Header fields written in lines that mail programs like. RFC 5322 2.1.1 and 2.2.3.

/// Columns before a line is folded. RFC 5322 2.1.1 advises fewer than 78.
const WIDTH: usize = 76;

/// Folds between tokens.
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

    /// Text that is not cut, behind a space or a fold.
    pub(crate) fn word(&mut self, word: &str) {
        if self.column + 1 + word.len() > WIDTH {
            self.fold();
        } else {
            self.text.push(' ');
            self.column += 1;
        }
        self.glued(word);
    }

    /// Text that is not cut, behind nothing or a fold.
    pub(crate) fn part(&mut self, part: &str) {
        if self.column + part.len() > WIDTH {
            self.fold();
        }
        self.glued(part);
    }

    /// Text that may be cut anywhere.
    pub(crate) fn pieces(&mut self, mut text: &str) {
        while !text.is_empty() {
            if self.column >= WIDTH {
                self.fold();
            }
            let (now, rest) = text.split_at(text.len().min(WIDTH - self.column));
            self.glued(now);
            text = rest;
        }
    }

    /// A field whose start was written before.
    pub(crate) fn resume(text: String) -> Self {
        let column = text.rfind("\r\n").map_or(text.len(), |line| text.len() - line + 5);
        Self { text, column }
    }

    pub(crate) fn finish(self) -> String {
        self.text
    }

    /// Text that is not cut, behind nothing.
    pub(crate) fn glued(&mut self, text: &str) {
        self.text.push_str(text);
        self.column += text.len();
    }

    /// A new line.
    pub(crate) fn fold(&mut self) {
        self.text.push_str("\r\n\t");
        self.column = 8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_folded_where_they_may_be() {
        let mut field = FoldedField::new("Name");
        field.glued(":");
        field.word(&"a".repeat(70));
        field.word("b");
        field.part(&"c".repeat(66));
        field.part("d");
        field.pieces(&"e".repeat(100));
        let text = field.finish();
        assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
        assert_eq!(text.replace("\r\n\t", "").len(), 5 + 1 + 70 + 1 + 66 + 1 + 100);
        let mut whole = FoldedField::resume(text);
        whole.pieces(&"f".repeat(60));
        assert!(whole.finish().lines().all(|line| line.len() <= WIDTH));
    }
}
