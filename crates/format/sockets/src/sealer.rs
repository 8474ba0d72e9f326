//! The sealing of one direction of a connection.

use std::fmt;

use oarlock::{Accelerator, Direction, Status};

use crate::content::Content;
use crate::direct::DirectSealer;
use crate::engine::{EngineRecord, EngineScratch, RecordKeys, RecordTag};
use crate::error::SealingError;
use crate::frame::{RecordChoices, RecordNumbers, SealFrame, seal_frame};
use crate::keys::{DerivationError, Keys};
use crate::limits::KeyUsage;
use crate::random::RandomBytes;
use crate::suite::Suite;

/// Seals the records of one direction of a connection.
///
/// ```
/// use oarlock::Accelerator;
/// use oarlock_sockets::{Content, Keys, Opened, Opener, Sealer, Suite};
///
/// let accelerator = Accelerator::new()?;
/// let secret = [7; 32];
/// let mut sealer = Sealer::new(&accelerator, Keys::tls13(Suite::TLS13_AES_128_GCM, &secret)?)?;
/// let mut opener = Opener::new(&accelerator, Keys::tls13(Suite::TLS13_AES_128_GCM, &secret)?)?;
///
/// let mut wire = Vec::new();
/// sealer.seal(Content::ApplicationData, &[b"GET ", b"/"], &mut wire)?;
/// let Opened::Record(record) = opener.next(&mut wire)? else { panic!("the record is whole") };
/// assert_eq!((record.content, record.data), (Content::ApplicationData, &b"GET /"[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Sealer {
    accelerator: Accelerator,
    keys: Keys,
    record_keys: RecordKeys,
    direct: DirectSealer,
    numbers: RecordNumbers,
    random: RandomBytes,
    scratch: EngineScratch,
}

impl Sealer {
    /// Starts at the first record of `keys`.
    ///
    /// # Errors
    /// [`DerivationError`] if AWS-LC refuses the keys.
    pub fn new(accelerator: &Accelerator, keys: Keys) -> Result<Self, DerivationError> {
        Ok(Self {
            accelerator: accelerator.clone(),
            record_keys: RecordKeys::new(&keys)?,
            direct: DirectSealer::new(&keys)?,
            numbers: RecordNumbers::new(&keys, 0, KeyUsage::of_sealer),
            keys,
            random: RandomBytes::new(),
            scratch: EngineScratch::default(),
        })
    }

    /// Seals the bytes of `parts`, joined, as one record, and appends it to `out`.
    ///
    /// A single part of an AEAD suite of TLS is sealed from its place into `out`, without a copy.
    ///
    /// # Errors
    /// [`SealingError`]. `out` is as before then.
    pub fn seal(&mut self, content: Content, parts: &[&[u8]], out: &mut Vec<u8>) -> Result<(), SealingError> {
        self.seal_with(content, parts, &RecordChoices::default(), out)
    }

    /// Seals a record as [`seal`](Self::seal) does, to the start of `out`, and returns its length.
    ///
    /// A buffer that is used again is not filled with zeros before each record, as a growing vector is. It needs
    /// [`Suite::max_overhead`] bytes more than the payload.
    ///
    /// # Errors
    /// Those of [`seal`](Self::seal), and [`SealingError::BufferTooSmall`]. The bytes of `out` are not valid then.
    pub fn seal_into(
        &mut self,
        content: Content,
        parts: &[&[u8]],
        out: &mut [u8],
    ) -> Result<usize, SealingError> {
        let payload_len: usize = parts.iter().map(|part| part.len()).sum();
        let (needed, found) = (payload_len.saturating_add(self.suite().max_overhead()), out.len());
        if found < needed {
            return Err(SealingError::BufferTooSmall { needed, found });
        }
        let frame = self.frame(content, payload_len, &RecordChoices::default())?;
        let len = frame.wire_len();
        self.seal_frame(&frame, parts, &mut out[..len]).map_err(SealingError::Engine)?;
        Ok(len)
    }

    /// Seals a record as [`seal`](Self::seal) does, with parts of it chosen by the caller.
    ///
    /// # Errors
    /// Those of [`seal`](Self::seal), and [`SealingError::BadChoice`].
    pub fn seal_with(
        &mut self,
        content: Content,
        parts: &[&[u8]],
        choices: &RecordChoices<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), SealingError> {
        let payload_len = parts.iter().map(|part| part.len()).sum();
        let frame = self.frame(content, payload_len, choices)?;
        let start = out.len();
        out.resize(start + frame.wire_len(), 0);
        let sealed = self.seal_frame(&frame, parts, &mut out[start..]);
        if let Err(status) = sealed {
            out.truncate(start);
            return Err(SealingError::Engine(status));
        }
        Ok(())
    }

    /// Takes the next number and frames a payload. The record must be sealed: its number is used.
    fn frame(
        &mut self,
        content: Content,
        payload_len: usize,
        choices: &RecordChoices<'_>,
    ) -> Result<SealFrame, SealingError> {
        seal_frame(&mut self.numbers, content, payload_len, choices, &mut self.random)
    }

    fn seal_frame(&mut self, frame: &SealFrame, parts: &[&[u8]], out: &mut [u8]) -> Result<(), Status> {
        if let Some(sealed) = self.direct.seal(frame, parts, out) {
            return sealed;
        }
        let mut input = Vec::with_capacity(parts.len() + 2);
        input.push(&frame.head[..]);
        input.extend_from_slice(parts);
        input.push(&frame.tail[..]);
        let record = EngineRecord {
            keys: &self.record_keys,
            iv: &frame.iv,
            aad: &frame.aad,
            input: &input,
            output_len: frame.body_len,
            tag: RecordTag::Made(frame.tag_len),
        };
        let shape = self.suite().shape(Direction::Encrypt);
        let (prefix, rest) = out.split_at_mut(frame.prefix.len());
        prefix.copy_from_slice(&frame.prefix);
        self.scratch.run(&self.accelerator, shape, &record, |result| {
            rest.copy_from_slice(result);
            self.numbers.keep_iv(&result[..frame.body_len]);
        })
    }

    /// Replaces the keys after a key exchange. An SSH connection counts its packets on, unless `keys` has a number.
    ///
    /// # Errors
    /// Those of [`new`](Self::new). The old keys stay then.
    pub fn rekey(&mut self, keys: Keys) -> Result<(), DerivationError> {
        let (record_keys, direct) = (RecordKeys::new(&keys)?, DirectSealer::new(&keys)?);
        self.numbers = RecordNumbers::new(&keys, self.numbers.sequence, KeyUsage::of_sealer);
        (self.record_keys, self.direct, self.keys) = (record_keys, direct, keys);
        Ok(())
    }

    /// Seals a KeyUpdate and takes the next keys. RFC 8446 4.6.3.
    ///
    /// `asks_peer` asks the peer to update its keys too. Answer such a request with `false`.
    ///
    /// # Errors
    /// [`SealingError::NoKeyUpdate`] if the keys do not come from [`Keys::tls13`].
    pub fn update_keys(&mut self, asks_peer: bool, out: &mut Vec<u8>) -> Result<(), SealingError> {
        let none = |_| SealingError::NoKeyUpdate { suite: self.suite() };
        let next = self.keys.next_generation().map_err(none)?;
        let message = [24, 0, 0, 1, u8::from(asks_peer)];
        self.seal(Content::Handshake, &[&message], out)?;
        let suite = self.suite();
        self.rekey(next).map_err(|_| SealingError::NoKeyUpdate { suite })
    }

    /// True if the keys have used seven eighths of a limit: time for a KeyUpdate or a key exchange.
    #[must_use]
    pub fn is_rekey_due(&self) -> bool {
        self.numbers.usage.is_nearly_used_up()
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

    /// Returns the keys with the number of the next record, for a hand-over to the kernel.
    ///
    /// The limits of an SSH key start again, so count its bytes where it is used next.
    #[must_use]
    pub fn into_keys(self) -> Keys {
        let mut keys = self.keys.with_sequence(self.numbers.sequence);
        keys.iv = self.numbers.current_iv().unwrap_or_default();
        keys
    }
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sealer({}, next record {})", self.suite(), self.sequence())
    }
}
