//! The opening of one direction of a connection.

use std::fmt;
use std::ops::Range;

use oarlock::{Accelerator, Direction, Shape, Status};

use crate::content::Content;
use crate::direct::DirectOpener;
use crate::engine::{EngineRecord, EngineScratch, RecordKeys, RecordTag};
use crate::error::OpeningError;
use crate::frame::{
    FrameLen, MAX_PACKET_LEN, OpenFrame, PacketLen, RecordNumbers, check_packet_len, clear_packet_len,
    has_clear_length, open_ssh_frame, open_tls_frame, read_content, tls_frame_len,
};
use crate::keys::{DerivationError, Keys};
use crate::limits::KeyUsage;
use crate::messages::{KeyUpdate, MessageRules};
use crate::suite::{Protocol, RecordTransform, Suite};

/// The result of a look at the wire buffer.
#[derive(Debug, PartialEq, Eq)]
pub enum Opened<'a> {
    /// The record is not complete: at least so many bytes are missing.
    NeedMore(usize),
    /// One record.
    Record(OpenedRecord<'a>),
}

/// One opened record.
#[derive(PartialEq, Eq)]
#[non_exhaustive]
pub struct OpenedRecord<'a> {
    /// The kind of content.
    pub content: Content,
    /// The content, in the wire buffer.
    pub data: &'a [u8],
    /// The number of bytes that the record takes in the wire buffer. The next record starts behind them.
    pub used: usize,
    /// The padding of an SSH packet, and nothing for TLS.
    pub padding: &'a [u8],
    /// A KeyUpdate that ended this record. The opener has the new keys already.
    pub key_update: Option<KeyUpdate>,
}

/// Opens the records of one direction of a connection, in their wire buffer.
///
/// After an error the connection cannot continue, and every later call fails.
pub struct Opener {
    accelerator: Accelerator,
    keys: Keys,
    record_keys: RecordKeys,
    direct: DirectOpener,
    numbers: RecordNumbers,
    /// The length of an SSH packet that is not complete, so that its first block is decrypted once.
    packet_len: Option<PacketLen>,
    rules: MessageRules,
    scratch: EngineScratch,
    /// True after an error: no more records are read.
    has_failed: bool,
}

impl Opener {
    /// Starts at the first record of `keys`.
    ///
    /// # Errors
    /// [`DerivationError`] if AWS-LC refuses the keys.
    pub fn new(accelerator: &Accelerator, keys: Keys) -> Result<Self, DerivationError> {
        Ok(Self {
            accelerator: accelerator.clone(),
            record_keys: RecordKeys::new(&keys)?,
            direct: DirectOpener::new(&keys)?,
            numbers: RecordNumbers::new(&keys, 0, KeyUsage::of_opener),
            keys,
            packet_len: None,
            rules: MessageRules::default(),
            scratch: EngineScratch::default(),
            has_failed: false,
        })
    }

    /// Opens the record at the start of `wire`. Bytes behind the record are left alone.
    ///
    /// # Errors
    /// [`OpeningError`]. The bytes of the record are not valid then.
    pub fn next<'a>(&mut self, wire: &'a mut [u8]) -> Result<Opened<'a>, OpeningError> {
        let opened = self.open_record(wire);
        self.has_failed |= opened.is_err();
        Ok(match opened? {
            OpenStep::NeedMore(missing) => Opened::NeedMore(missing),
            OpenStep::Record(body, spans) => Opened::Record(spans.record(&wire[body])),
        })
    }

    fn open_record(&mut self, wire: &mut [u8]) -> Result<OpenStep, OpeningError> {
        if self.has_failed || self.rules.is_closed() {
            return Err(OpeningError::AfterEnd);
        }
        let used = match self.frame_len(wire)? {
            FrameLen::NeedMore(missing) => return Ok(OpenStep::NeedMore(missing)),
            FrameLen::Known(used) => used,
        };
        let frame = self.plan(wire, used)?;
        self.open_frame(&frame, wire).map_err(error_of)?;
        let spans = self.conclude(&frame, &wire[frame.body.clone()])?;
        Ok(OpenStep::Record(frame.body, spans))
    }

    fn open_frame(&mut self, frame: &OpenFrame, wire: &mut [u8]) -> Result<(), Status> {
        if let Some(opened) = self.direct.open(frame, wire) {
            return opened;
        }
        let shape = self.suite().shape(Direction::Decrypt);
        let (front, behind) = wire.split_at_mut(frame.body.end);
        let body = &mut front[frame.body.start..];
        let record = EngineRecord {
            keys: &self.record_keys,
            iv: &frame.iv,
            aad: &frame.aad,
            input: &[&*body],
            output_len: frame.body.len(),
            tag: RecordTag::Compared(&behind[..frame.tag.len()]),
        };
        let mut plaintext = zeroize::Zeroizing::new(Vec::new());
        self.scratch.run(&self.accelerator, shape, &record, |result| {
            plaintext.extend_from_slice(result);
        })?;
        body.copy_from_slice(&plaintext);
        Ok(())
    }

    /// Frames the record of `used` bytes at the start of `wire`, and takes its number.
    fn plan(&mut self, wire: &[u8], used: usize) -> Result<OpenFrame, OpeningError> {
        let suite = self.suite();
        let frame = match suite.protocol() {
            Protocol::Ssh => open_ssh_frame(&self.numbers, wire, used),
            _ => open_tls_frame(&self.numbers, wire, used),
        };
        self.packet_len = None;
        self.numbers
            .usage
            .count(frame.body.len())
            .map_err(|limit| OpeningError::KeysUsedUp { suite, limit })?;
        self.numbers.advance(frame.body.len());
        self.numbers.keep_iv(&wire[frame.body.clone()]);
        Ok(frame)
    }

    fn frame_len(&mut self, wire: &[u8]) -> Result<FrameLen, OpeningError> {
        let suite = self.suite();
        if suite.protocol() != Protocol::Ssh {
            return tls_frame_len(suite, wire);
        }
        let first = first_len(suite);
        if wire.len() < first {
            return Ok(FrameLen::NeedMore(first - wire.len()));
        }
        let total = match self.packet_len {
            Some(PacketLen::Good(total)) => total,
            Some(PacketLen::Bad) => return refuse_late(wire),
            None => match self.read_packet_len(&wire[..first])? {
                PacketLen::Good(total) => total,
                PacketLen::Bad => {
                    self.packet_len = Some(PacketLen::Bad);
                    return refuse_late(wire);
                }
            },
        };
        self.packet_len = Some(PacketLen::Good(total));
        Ok(if wire.len() < total { FrameLen::NeedMore(total - wire.len()) } else { FrameLen::Known(total) })
    }

    /// Reads the length of an SSH packet, whose first bytes are `first`.
    fn read_packet_len(&mut self, first: &[u8]) -> Result<PacketLen, OpeningError> {
        let suite = self.suite();
        let mut length = [0; 4];
        length.copy_from_slice(&first[..4]);
        if has_clear_length(suite) {
            return clear_packet_len(suite, length).map(PacketLen::Good);
        }
        let length = match self.direct.decrypt_length(self.numbers.packet_number(), length) {
            Some(length) => length,
            None => self.decrypt_first_block(first).map_err(error_of)?,
        };
        Ok(check_packet_len(suite, length))
    }

    fn decrypt_first_block(&mut self, block: &[u8]) -> Result<[u8; 4], Status> {
        let RecordTransform::Chain { cipher, .. } = self.suite().transform() else {
            return Err(Status::Malformed);
        };
        let shape = Shape::Cipher { alg: cipher.alg, mode: cipher.mode, direction: Direction::Decrypt };
        let record = EngineRecord {
            keys: &self.record_keys,
            iv: &self.numbers.ssh_iv().unwrap_or_default(),
            aad: &[],
            input: &[block],
            output_len: block.len(),
            tag: RecordTag::Made(0),
        };
        self.scratch.run(&self.accelerator, shape, &record, |plaintext| {
            let mut length = [0; 4];
            length.copy_from_slice(&plaintext[..4]);
            length
        })
    }

    /// Finds the content of an opened body and applies the rules of messages.
    fn conclude(&mut self, frame: &OpenFrame, body: &[u8]) -> Result<OpenedRecordSpans, OpeningError> {
        let (content, data) = read_content(&self.numbers, frame, body)?;
        let key_update = self.rules.check(self.suite().protocol(), content, &body[data.clone()])?;
        if key_update.is_some() {
            let suite = self.suite();
            let no_secret = |_| OpeningError::NoKeyUpdate { suite };
            let next = self.keys.next_generation().map_err(no_secret)?;
            self.rekey(next).map_err(no_secret)?;
        }
        let is_ssh = self.suite().protocol() == Protocol::Ssh;
        let padding = if is_ssh { data.end..body.len() } else { 0..0 };
        Ok(OpenedRecordSpans { content, data, padding, used: frame.used, key_update })
    }

    /// Replaces the keys after a key exchange. An SSH connection counts its packets on, unless `keys` has a number.
    ///
    /// # Errors
    /// Those of [`new`](Self::new). The old keys stay then.
    pub fn rekey(&mut self, keys: Keys) -> Result<(), DerivationError> {
        let (record_keys, direct) = (RecordKeys::new(&keys)?, DirectOpener::new(&keys)?);
        self.numbers = RecordNumbers::new(&keys, self.numbers.sequence, KeyUsage::of_opener);
        (self.record_keys, self.direct, self.keys) = (record_keys, direct, keys);
        self.packet_len = None;
        Ok(())
    }

    /// Returns the suite.
    #[must_use]
    pub fn suite(&self) -> Suite {
        self.keys.suite
    }

    /// Returns the sequence number of the next record.
    #[must_use]
    pub fn sequence(&self) -> u64 {
        self.numbers.sequence
    }

    /// True if the peer has sent a close_notify or a fatal alert. It sends no more.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.rules.is_closed()
    }

    /// Returns the keys with the number of the next record, for a hand-over to the kernel.
    ///
    /// Hand over only between records: bytes of a record that are still in the wire buffer stay with the caller. The
    /// limits of an SSH key start again, so count its bytes where it is used next.
    #[must_use]
    pub fn into_keys(self) -> Keys {
        let mut keys = self.keys.with_sequence(self.numbers.sequence);
        keys.iv = self.numbers.current_iv().unwrap_or_default();
        keys
    }
}

enum OpenStep {
    NeedMore(usize),
    Record(Range<usize>, OpenedRecordSpans),
}

/// The parts of an opened record in its body.
struct OpenedRecordSpans {
    content: Content,
    data: Range<usize>,
    padding: Range<usize>,
    used: usize,
    key_update: Option<KeyUpdate>,
}

impl OpenedRecordSpans {
    fn record(self, body: &[u8]) -> OpenedRecord<'_> {
        OpenedRecord {
            content: self.content,
            data: &body[self.data],
            used: self.used,
            padding: &body[self.padding],
            key_update: self.key_update,
        }
    }
}

/// Returns the number of bytes that show the length of an SSH packet.
fn first_len(suite: Suite) -> usize {
    match suite.transform() {
        RecordTransform::Chain { cipher, .. } if !has_clear_length(suite) => cipher.alg.block_len(),
        _ => 4,
    }
}

/// Refuses a packet with a bad length when the largest packet would have been refused.
fn refuse_late(wire: &[u8]) -> Result<FrameLen, OpeningError> {
    match MAX_PACKET_LEN.checked_sub(wire.len()) {
        None | Some(0) => Err(OpeningError::Rejected),
        Some(missing) => Ok(FrameLen::NeedMore(missing)),
    }
}

/// Returns the error of a record that no engine opened.
fn error_of(status: Status) -> OpeningError {
    if status == Status::Rejected { OpeningError::Rejected } else { OpeningError::Engine(status) }
}

impl fmt::Debug for OpenedRecord<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OpenedRecord({}, {} bytes of {} used)", self.content, self.data.len(), self.used)
    }
}

impl fmt::Debug for Opener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Opener({}, next record {})", self.suite(), self.sequence())
    }
}
