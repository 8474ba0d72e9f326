//! The quoting of `From ` at the start of a line, which would otherwise begin the next message of an mbox.

use memchr::{memchr, memmem};

/// The quoting of lines that begin with `From ` in the messages of an mbox.
///
/// An mbox does not state its kind. Postfix and procmail quote `From ` only (mboxo). qmail and newer programs put one
/// more `>` before each of `From `, `>From `, and so on (mboxrd). The default is to remove one `>`. This is correct for
/// mboxrd. It is wrong for mboxo only if the message itself had `>From `, which is rare and cannot be recognised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MboxQuoting {
    /// One `>` is removed from `>From `, `>>From ` and so on.
    #[default]
    Mboxrd,
    /// `>From ` becomes `From `; lines with more `>` stay.
    Mboxo,
    /// All lines stay.
    Keep,
}

/// The text that begins a message at the start of a line.
pub(super) const FROM: &[u8] = b"From ";

impl MboxQuoting {
    /// Removes the quoting of a message.
    pub(super) fn remove_quoting(self, message: Vec<u8>) -> Vec<u8> {
        let is_plain = message.first() != Some(&b'>') && memmem::find(&message, b"\n>").is_none();
        if self == Self::Keep || is_plain {
            return message;
        }
        let mut out = Vec::with_capacity(message.len());
        let mut rest = &*message;
        while !rest.is_empty() {
            let (line, next) = rest.split_at(memchr(b'\n', rest).map_or(rest.len(), |at| at + 1));
            let quotes = line.iter().take_while(|byte| **byte == b'>').count();
            let is_quoted = line[quotes..].starts_with(FROM) && self.is_quoted(quotes);
            out.extend_from_slice(&line[usize::from(is_quoted)..]);
            rest = next;
        }
        out
    }

    fn is_quoted(self, quotes: usize) -> bool {
        match self {
            Self::Mboxrd => quotes > 0,
            Self::Mboxo => quotes == 1,
            Self::Keep => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUOTED: &[u8] = b">From a\n>>From b\n>>>From c\n> From d\n>Fro\n>\n>>\nx>From e\nFrom f\n>From";

    #[test]
    fn removes_the_quoting_of_each_kind() {
        let undo = |quoting: MboxQuoting| String::from_utf8(quoting.remove_quoting(QUOTED.to_vec())).unwrap();
        let rest = "> From d\n>Fro\n>\n>>\nx>From e\nFrom f\n>From";
        assert_eq!(undo(MboxQuoting::Mboxrd), format!("From a\n>From b\n>>From c\n{rest}"));
        assert_eq!(undo(MboxQuoting::Mboxo), format!("From a\n>>From b\n>>>From c\n{rest}"));
        assert_eq!(undo(MboxQuoting::Keep).as_bytes(), QUOTED);
        assert_eq!(MboxQuoting::Mboxrd.remove_quoting(b"plain\n".to_vec()), b"plain\n");
    }
}
