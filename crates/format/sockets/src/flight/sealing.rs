//! Records of many connections sealed in one batch.

use std::fmt;

use oarlock::{Accelerator, Direction, Shape, Status};
use zeroize::Zeroizing;

use super::batches::FlightBatches;
use crate::batch::{BatchIsFull, BatchRecord, BatchTag, RecordKeys};
use crate::content::Content;
use crate::error::SealingError;
use crate::frame::{RecordChoices, SealFrame, ShortBytes};
use crate::sealer::{Sealer, frame_iv, input_of, keep_iv};

/// Records of many connections that are sealed together: one call of the accelerator per shape.
///
/// Batches gain where an engine has lanes for the suite: suites of a cipher and a MAC, triple DES above all, and short
/// records. Long records of AES-GCM gain nothing. [`Sealer::seal`] is the better way for those.
///
/// ```
/// use oarlock::Accelerator;
/// use oarlock_sockets::{Content, Flight, Keys, Sealer, Suite};
///
/// let accelerator = Accelerator::new()?;
/// let mut sealers = Vec::new();
/// for secret in [[1; 32], [2; 32]] {
///     sealers.push(Sealer::new(&accelerator, Keys::tls13(Suite::TLS13_AES_128_GCM, &secret)?)?);
/// }
/// let mut flight = Flight::default();
/// for sealer in &mut sealers {
///     flight.add(sealer, Content::ApplicationData, &[b"hello"])?;
/// }
/// let sealed = flight.seal_all(&accelerator);
/// let mut wire = Vec::new();
/// sealed.append(0, &mut wire)?;
/// assert_eq!(wire.len(), 5 + 5 + 1 + 16);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct Flight {
    batches: FlightBatches,
    records: Vec<SealedPlace>,
    waiting: Vec<WaitingRecord>,
}

/// The place of a record's result.
struct SealedPlace {
    prefix: ShortBytes,
    batch: usize,
    index: usize,
}

/// A record whose IV is the end of another record of the flight.
struct WaitingRecord {
    /// Its number in the flight.
    number: usize,
    shape: Shape,
    frame: SealFrame,
    keys: RecordKeys,
    payload: Zeroizing<Vec<u8>>,
}

/// A place that is not known yet.
const NO_BATCH: usize = usize::MAX;

impl Flight {
    /// Adds the bytes of `parts`, joined, as one record, and returns its number in the flight. The record takes the
    /// next sequence number of its connection, so the flight must be sealed and its records sent in order.
    ///
    /// # Errors
    /// [`SealingError`]. Other records are not concerned.
    pub fn add(
        &mut self,
        sealer: &mut Sealer,
        content: Content,
        parts: &[&[u8]],
    ) -> Result<usize, SealingError> {
        self.add_with(sealer, content, parts, &RecordChoices::default())
    }

    /// Adds a record as [`add`](Self::add) does, with parts of it chosen by the caller.
    ///
    /// # Errors
    /// Those of [`add`](Self::add), and [`SealingError::BadChoice`].
    pub fn add_with(
        &mut self,
        sealer: &mut Sealer,
        content: Content,
        parts: &[&[u8]],
        choices: &RecordChoices<'_>,
    ) -> Result<usize, SealingError> {
        let payload_len = parts.iter().map(|part| part.len()).sum();
        let frame = sealer.plan(content, payload_len, choices)?;
        let shape = sealer.suite().shape(Direction::Encrypt);
        let number = self.records.len();
        if frame.iv_slot.is_some() {
            let payload = Zeroizing::new(parts.concat());
            let place = SealedPlace { prefix: frame.prefix.clone(), batch: NO_BATCH, index: 0 };
            self.records.push(place);
            let keys = sealer.record_keys.clone();
            self.waiting.push(WaitingRecord { number, shape, frame, keys, payload });
            return Ok(number);
        }
        let pushed = push_frame(&mut self.batches, 0, shape, &sealer.record_keys, &frame, &frame.iv, parts);
        let (batch, index) = pushed.map_err(|BatchIsFull| {
            // The number is used, so the connection would miss a record.
            sealer.is_unfinished = true;
            SealingError::BatchFull
        })?;
        self.records.push(SealedPlace { prefix: frame.prefix, batch, index });
        Ok(number)
    }

    /// Returns the number of records.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// True if there are no records.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Seals all records, each shape in one call.
    ///
    /// Packets of SSH in CBC mode take one call more for each packet that follows another one of its connection.
    #[must_use]
    pub fn seal_all(mut self, accelerator: &Accelerator) -> Sealed {
        self.batches.0.iter_mut().for_each(|batch| batch.run(accelerator));
        while self.seal_wave(accelerator) {}
        // What still waits follows a record that was not sealed.
        Sealed { batches: self.batches, records: self.records }
    }

    /// Seals the waiting records whose IV is known, and returns true if there were any.
    fn seal_wave(&mut self, accelerator: &Accelerator) -> bool {
        let first = self.batches.0.len();
        let (ready, waiting): (Vec<_>, Vec<_>) = std::mem::take(&mut self.waiting)
            .into_iter()
            .partition(|record| frame_iv(&record.frame).is_some());
        self.waiting = waiting;
        for record in &ready {
            let iv = frame_iv(&record.frame).unwrap_or_default();
            let (keys, frame) = (&record.keys, &record.frame);
            let pushed =
                push_frame(&mut self.batches, first, record.shape, keys, frame, &iv, &[&record.payload]);
            if let Ok((batch, index)) = pushed {
                let place = &mut self.records[record.number];
                (place.batch, place.index) = (batch, index);
            }
        }
        self.batches.0[first..].iter_mut().for_each(|batch| batch.run(accelerator));
        for record in &ready {
            if let Ok(result) = sealed_body(&self.batches, &self.records[record.number]) {
                keep_iv(&record.frame, &result[..record.frame.body_len]);
            }
        }
        !ready.is_empty()
    }
}

fn push_frame(
    batches: &mut FlightBatches,
    first: usize,
    shape: Shape,
    keys: &RecordKeys,
    frame: &SealFrame,
    iv: &[u8],
    parts: &[&[u8]],
) -> Result<(usize, usize), BatchIsFull> {
    let record = BatchRecord {
        keys,
        iv,
        aad: &frame.aad,
        input: &input_of(frame, parts),
        output_len: frame.body_len,
        tag: BatchTag::Made(frame.tag_len),
    };
    batches.push(first, shape, &record)
}

fn sealed_body<'a>(batches: &'a FlightBatches, place: &SealedPlace) -> Result<&'a [u8], Status> {
    batches.0.get(place.batch).ok_or(Status::DependencyFailed)?.result(place.index)
}

/// The sealed records of a flight, in the order in which they were added.
pub struct Sealed {
    batches: FlightBatches,
    records: Vec<SealedPlace>,
}

impl Sealed {
    /// Returns the number of records.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// True if there are no records.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Returns a record in two pieces, for a vectored write: the header, and the rest.
    ///
    /// # Errors
    /// [`SealingError::Engine`] if the engine refused this record; its status is [`Status::Malformed`] if there is no
    /// such record.
    pub fn record(&self, number: usize) -> Result<[&[u8]; 2], SealingError> {
        let place = self.records.get(number).ok_or(SealingError::Engine(Status::Malformed))?;
        let body = sealed_body(&self.batches, place).map_err(SealingError::Engine)?;
        Ok([&place.prefix, body])
    }

    /// Appends a record to `out`.
    ///
    /// # Errors
    /// Those of [`record`](Self::record).
    pub fn append(&self, number: usize, out: &mut Vec<u8>) -> Result<(), SealingError> {
        for piece in self.record(number)? {
            out.extend_from_slice(piece);
        }
        Ok(())
    }

    /// Returns an empty flight that uses the memory of this one.
    #[must_use]
    pub fn into_flight(mut self) -> Flight {
        self.batches.clear();
        self.records.clear();
        Flight { batches: self.batches, records: self.records, waiting: Vec::new() }
    }
}

impl fmt::Debug for Flight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Flight({} records)", self.len())
    }
}

impl fmt::Debug for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sealed({} records)", self.len())
    }
}
