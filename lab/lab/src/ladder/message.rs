//! The contents of a message or a stream: written by the host, read by the card.
//!
//! | form | fields | steps |
//! |---|---|---|
//! | requests | direction, check value, wrapped key, length, IV, data; one after the other | 1, 2, 4 |
//! | one key | direction, check value, wrapped key, IV, number; then length and data of each | 3 |
//! | stream | direction, index of the key, length, IV, data; one after the other | 5, 6 |
//! | columns | number; all directions, all indices, all lengths, all IVs; then all data | 7 through the socket |
//!
//! Numbers are little-endian. Readers return ranges of the message, so nothing is copied.

use oarlock::{Direction, KeySource, Span};

use super::LadderError;
use super::columns::BatchColumns;
use super::workload::{BLOCK, CHECK, KeyRing, LadderOp, Workload};

/// A request with its key.
#[derive(Clone, Copy, Debug)]
pub(super) struct CardRequest<'a> {
    pub(super) direction: Direction,
    pub(super) check_value: &'a [u8],
    pub(super) wrapped: &'a [u8],
    pub(super) iv: &'a [u8],
    pub(super) data: &'a [u8],
}

/// One key for operations that follow.
#[derive(Clone, Copy, Debug)]
pub(super) struct OneKeyMessage<'a> {
    pub(super) direction: Direction,
    pub(super) check_value: &'a [u8],
    pub(super) wrapped: &'a [u8],
}

pub(super) fn write_request(ring: &KeyRing, workload: &Workload, op: &LadderOp, out: &mut Vec<u8>) {
    write_key(ring, op, out);
    write_len(op, out);
    out.extend_from_slice(workload.bytes(op.iv));
    out.extend_from_slice(workload.bytes(op.input));
}

pub(super) fn write_one_key(ring: &KeyRing, workload: &Workload, out: &mut Vec<u8>) {
    let Some(first) = workload.ops.first() else { return };
    write_key(ring, first, out);
    out.extend_from_slice(workload.bytes(first.iv));
    out.extend_from_slice(&(workload.ops.len() as u32).to_le_bytes());
    for op in &workload.ops {
        write_len(op, out);
        out.extend_from_slice(workload.bytes(op.input));
    }
}

pub(super) fn write_stream(workload: &Workload, out: &mut Vec<u8>) {
    for op in &workload.ops {
        out.push(direction_byte(op.direction));
        out.extend_from_slice(&op.key.to_le_bytes());
        write_len(op, out);
        out.extend_from_slice(workload.bytes(op.iv));
        out.extend_from_slice(workload.bytes(op.input));
    }
}

pub(super) fn write_columns(workload: &Workload, out: &mut Vec<u8>) {
    out.extend_from_slice(&(workload.ops.len() as u32).to_le_bytes());
    out.extend(workload.ops.iter().map(|op| direction_byte(op.direction)));
    workload.ops.iter().for_each(|op| out.extend_from_slice(&op.key.to_le_bytes()));
    workload.ops.iter().for_each(|op| write_len(op, out));
    out.extend_from_slice(&workload.data[..BLOCK * workload.ops.len()]);
    workload.ops.iter().for_each(|op| out.extend_from_slice(workload.bytes(op.input)));
}

fn write_key(ring: &KeyRing, op: &LadderOp, out: &mut Vec<u8>) {
    let key = &ring.wrapped[op.key as usize];
    out.push(direction_byte(op.direction));
    out.extend_from_slice(&key.check_value);
    out.extend_from_slice(&key.bytes);
}

/// Writes a length, which is at most 80 bytes.
fn write_len(op: &LadderOp, out: &mut Vec<u8>) {
    out.extend_from_slice(&(op.input.len as u16).to_le_bytes());
}

fn direction_byte(direction: Direction) -> u8 {
    u8::from(direction == Direction::Decrypt)
}

/// Reads fields one after another.
#[derive(Clone, Copy, Debug)]
pub(super) struct FieldReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> FieldReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }

    /// Reads the next request. Its wrapped key has `key_len` bytes.
    ///
    /// # Errors
    /// The message ends within the request, or the direction is invalid.
    pub(super) fn request(&mut self, key_len: usize) -> Result<CardRequest<'a>, LadderError> {
        let OneKeyMessage { direction, check_value, wrapped } = self.key(key_len)?;
        let len = usize::from(self.u16()?);
        Ok(CardRequest { direction, check_value, wrapped, iv: self.take(BLOCK)?, data: self.take(len)? })
    }

    /// Reads a direction and a key.
    ///
    /// # Errors
    /// As [`request`](Self::request).
    pub(super) fn key(&mut self, key_len: usize) -> Result<OneKeyMessage<'a>, LadderError> {
        Ok(OneKeyMessage {
            direction: self.direction()?,
            check_value: self.take(CHECK)?,
            wrapped: self.take(key_len)?,
        })
    }

    /// Reads the operations that follow one key, as columns.
    ///
    /// # Errors
    /// As [`request`](Self::request).
    pub(super) fn under_one_key(
        &mut self,
        ring: &KeyRing,
        direction: Direction,
        key: KeySource,
        columns: &mut BatchColumns,
    ) -> Result<(), LadderError> {
        columns.clear();
        let task = ring.task(direction);
        let iv = self.span(BLOCK)?;
        for _ in 0..self.u32()? {
            let len = usize::from(self.u16()?);
            columns.push(task, key, iv, self.span(len)?)?;
        }
        self.end()
    }

    /// Reads a stream as columns over the stream.
    ///
    /// # Errors
    /// As [`request`](Self::request).
    pub(super) fn stream(&mut self, ring: &KeyRing, columns: &mut BatchColumns) -> Result<(), LadderError> {
        columns.clear();
        while !self.is_at_end() {
            let (direction, key) = (self.direction()?, KeySource::Table(self.u32()?));
            let len = usize::from(self.u16()?);
            columns.push(ring.task(direction), key, self.span(BLOCK)?, self.span(len)?)?;
        }
        Ok(())
    }

    /// Reads columns that came through a socket, as columns over the message.
    ///
    /// # Errors
    /// As [`request`](Self::request).
    pub(super) fn columns(&mut self, ring: &KeyRing, columns: &mut BatchColumns) -> Result<(), LadderError> {
        columns.clear();
        let count = self.u32()? as usize;
        let mut directions = Self::new(self.take(count)?);
        let mut keys = Self::new(self.take(4 * count)?);
        let mut lens = Self::new(self.take(2 * count)?);
        let mut ivs = Self { bytes: self.bytes, at: self.at };
        self.take(BLOCK * count)?;
        for _ in 0..count {
            let (direction, key) = (directions.direction()?, KeySource::Table(keys.u32()?));
            let len = usize::from(lens.u16()?);
            columns.push(ring.task(direction), key, ivs.span(BLOCK)?, self.span(len)?)?;
        }
        self.end()
    }

    fn end(&self) -> Result<(), LadderError> {
        if self.is_at_end() { Ok(()) } else { Err(LadderError::Message { at: self.at }) }
    }

    fn direction(&mut self) -> Result<Direction, LadderError> {
        match self.take(1)? {
            [0] => Ok(Direction::Encrypt),
            [1] => Ok(Direction::Decrypt),
            _ => Err(LadderError::Message { at: self.at - 1 }),
        }
    }

    fn u16(&mut self) -> Result<u16, LadderError> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Result<u32, LadderError> {
        self.array().map(u32::from_le_bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], LadderError> {
        let at = self.at;
        self.take(N)?.try_into().map_err(|_| LadderError::Message { at })
    }

    fn span(&mut self, len: usize) -> Result<Span, LadderError> {
        let span = Span::new(self.at, len).ok_or(LadderError::TooLarge)?;
        self.take(len)?;
        Ok(span)
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], LadderError> {
        let taken = self.bytes.get(self.at..).and_then(|rest| rest.get(..len));
        let taken = taken.ok_or(LadderError::Message { at: self.at })?;
        self.at += len;
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use oarlock::Accelerator;

    use super::*;
    use crate::ladder::args::{LadderCipher, OpLengths};
    use crate::ladder::workload::KeyOrder;

    fn sample(order: KeyOrder) -> (KeyRing, Workload) {
        let accelerator = Accelerator::builder().engines(["scalar"]).lazy().build().unwrap();
        let ring = KeyRing::new(accelerator.diagnostics().referee(), LadderCipher::Des, 3).unwrap();
        let workload =
            Workload::new(&ring, accelerator.diagnostics().referee(), order, OpLengths::Uniform, 9).unwrap();
        (ring, workload)
    }

    #[test]
    fn requests_are_read_as_they_were_written() {
        let (ring, workload) = sample(KeyOrder::Random);
        let mut message = Vec::new();
        workload.ops.iter().for_each(|op| write_request(&ring, &workload, op, &mut message));
        let mut fields = FieldReader::new(&message);
        for op in &workload.ops {
            let request = fields.request(BLOCK).unwrap();
            assert_eq!((request.direction, request.data), (op.direction, workload.bytes(op.input)));
            assert_eq!(
                (request.iv, request.wrapped),
                (workload.bytes(op.iv), &ring.wrapped[op.key as usize].bytes[..])
            );
        }
        assert!(fields.is_at_end());
    }

    #[test]
    fn every_form_gives_the_same_columns() {
        let (ring, workload) = sample(KeyOrder::OneKey);
        let (mut one_key, mut stream, mut columns) = (Vec::new(), Vec::new(), Vec::new());
        write_one_key(&ring, &workload, &mut one_key);
        write_stream(&workload, &mut stream);
        write_columns(&workload, &mut columns);
        let accelerator = Accelerator::builder().engines(["scalar"]).lazy().build().unwrap();
        let table = ring.table().unwrap();
        let mut read = BatchColumns::default();
        let check = |message: &[u8], read: &BatchColumns| {
            let outcome = table.run(&accelerator, &read.batch(message)).unwrap();
            assert_eq!(outcome.output(), workload.expected);
        };
        let mut fields = FieldReader::new(&one_key);
        let key = fields.key(BLOCK).unwrap();
        fields.under_one_key(&ring, key.direction, KeySource::Table(0), &mut read).unwrap();
        check(&one_key, &read);
        FieldReader::new(&stream).stream(&ring, &mut read).unwrap();
        check(&stream, &read);
        FieldReader::new(&columns).columns(&ring, &mut read).unwrap();
        check(&columns, &read);
    }

    #[test]
    fn a_message_that_is_cut_is_told_from_a_whole_one() {
        let (ring, workload) = sample(KeyOrder::Random);
        let (mut stream, mut columns) = (Vec::new(), Vec::new());
        write_stream(&workload, &mut stream);
        write_columns(&workload, &mut columns);
        let mut read = BatchColumns::default();
        for end in 0..columns.len() {
            assert!(FieldReader::new(&columns[..end]).columns(&ring, &mut read).is_err(), "{end}");
        }
        columns.push(0);
        assert!(FieldReader::new(&columns).columns(&ring, &mut read).is_err());
        assert!(FieldReader::new(&stream[..stream.len() - 1]).stream(&ring, &mut read).is_err());
        stream[0] = 2;
        let error = FieldReader::new(&stream).stream(&ring, &mut read).unwrap_err();
        assert!(matches!(error, LadderError::Message { at: 0 }), "{error}");
    }
}
