//! The position in a stream of TLS records.

/// The length of a record's header: type, version, length. RFC 8446 5.1.
const HEADER_LEN: usize = 5;

/// The position in a stream of records. Between two records, a connection may be handed over.
#[derive(Debug, Default)]
pub(crate) struct RecordPosition {
    header: [u8; HEADER_LEN],
    header_len: usize,
    /// The number of bytes to the end of the record.
    rest: usize,
}

impl RecordPosition {
    /// Advances by bytes of the stream.
    pub(crate) fn advance(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.rest == 0 {
                let taken = bytes.len().min(HEADER_LEN - self.header_len);
                self.header[self.header_len..self.header_len + taken].copy_from_slice(&bytes[..taken]);
                self.header_len += taken;
                bytes = &bytes[taken..];
                if self.header_len < HEADER_LEN {
                    return;
                }
                self.header_len = 0;
                self.rest = usize::from(u16::from_be_bytes([self.header[3], self.header[4]]));
            }
            let taken = bytes.len().min(self.rest);
            self.rest -= taken;
            bytes = &bytes[taken..];
        }
    }

    /// Returns true if the last byte was the end of a record.
    pub(crate) fn is_between_records(&self) -> bool {
        self.rest == 0 && self.header_len == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cut_is_within_a_record_except_at_its_end() {
        let record = |len: u16| [&[23, 3, 3][..], &len.to_be_bytes(), &vec![9; len.into()]].concat();
        let (first, second) = (record(300), record(1));
        let stream = [first.clone(), second, record(0)].concat();
        let ends = [0, first.len(), first.len() + 6, stream.len()];
        for step in [1, 2, 3, 7, 1_000] {
            let (mut position, mut at) = (RecordPosition::default(), 0);
            for piece in stream.chunks(step) {
                assert_eq!(position.is_between_records(), ends.contains(&at), "{at}");
                position.advance(piece);
                at += piece.len();
            }
            assert!(position.is_between_records());
        }
    }
}
