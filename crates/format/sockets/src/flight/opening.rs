//! Records of many connections opened in one batch.

use std::fmt;

use oarlock::{Accelerator, Direction, Key};
use zeroize::Zeroizing;

use super::batches::FlightBatches;
use crate::batch::{BatchRecord, BatchTag};
use crate::error::OpeningError;
use crate::frame::OpenFrame;
use crate::opener::{Opened, OpenedRecord, Opener, PlannedOpen, error_of};

/// Records of many connections that are opened together: one call of the accelerator per shape.
///
/// ```
/// use oarlock::Accelerator;
/// use oarlock_sockets::{Content, Keys, OpenFlight, Opener, PlannedRecord, Sealer, Suite};
///
/// let accelerator = Accelerator::new()?;
/// let keys = || Keys::tls13(Suite::TLS13_AES_128_GCM, &[7; 32]);
/// let mut wire = Vec::new();
/// Sealer::new(&accelerator, keys()?)?.seal(Content::ApplicationData, &[b"hello"], &mut wire)?;
///
/// let mut opener = Opener::new(&accelerator, keys()?)?;
/// let mut flight = OpenFlight::default();
/// let PlannedRecord::Added { number, used } = flight.add(&mut opener, &wire)? else { panic!("the record is whole") };
/// let mut opened = flight.open_all(&accelerator);
/// assert_eq!(opened.take(number, &mut opener)?.data, b"hello");
/// assert_eq!(used, wire.len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct OpenFlight {
    batches: FlightBatches,
    records: Vec<OpenPlace>,
}

struct OpenPlace {
    frame: OpenFrame,
    batch: usize,
    index: usize,
    /// Tells the opener from others.
    key: Key,
    generation: u64,
}

/// The result of adding a record to an [`OpenFlight`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlannedRecord {
    /// The record is not complete: at least so many bytes are missing.
    NeedMore(usize),
    /// The record is part of the flight.
    Added {
        /// Its number in the flight.
        number: usize,
        /// The number of bytes that it takes in the wire buffer. The next record starts behind them.
        used: usize,
    },
}

impl OpenFlight {
    /// Adds the record at the start of `wire`. The flight copies it.
    ///
    /// # Errors
    /// [`OpeningError`], of a record whose header is already wrong.
    pub fn add(&mut self, opener: &mut Opener, wire: &[u8]) -> Result<PlannedRecord, OpeningError> {
        let frame = match opener.plan(wire) {
            Ok(PlannedOpen::Frame(frame)) => frame,
            Ok(PlannedOpen::NeedMore(missing)) => return Ok(PlannedRecord::NeedMore(missing)),
            Err(error) => {
                opener.stop();
                return Err(error);
            }
        };
        let record = BatchRecord {
            keys: opener.record_keys(),
            iv: &frame.iv,
            aad: &frame.aad,
            input: &[&wire[frame.body.clone()]],
            output_len: frame.body.len(),
            tag: BatchTag::Compared(&wire[frame.tag.clone()]),
        };
        let shape = opener.suite().shape(Direction::Decrypt);
        let Ok((batch, index)) = self.batches.push(0, shape, &record) else {
            opener.stop();
            return Err(OpeningError::BatchFull);
        };
        let (key, generation) = (opener.record_keys().key.clone(), opener.generation());
        let (number, used) = (self.records.len(), frame.used);
        self.records.push(OpenPlace { frame, batch, index, key, generation });
        Ok(PlannedRecord::Added { number, used })
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

    /// Opens all records, each shape in one call.
    #[must_use]
    pub fn open_all(mut self, accelerator: &Accelerator) -> OpenedFlight {
        self.batches.0.iter_mut().for_each(|batch| batch.run(accelerator));
        OpenedFlight { batches: self.batches, records: self.records, again: Zeroizing::default() }
    }
}

/// The opened records of a flight, in the order in which they were added.
pub struct OpenedFlight {
    batches: FlightBatches,
    records: Vec<OpenPlace>,
    /// A record that was opened again under new keys.
    again: Zeroizing<Vec<u8>>,
}

impl OpenedFlight {
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

    /// Returns a record. Take the records of a connection in their order: the first one that does not verify ends it.
    ///
    /// # Errors
    /// [`OpeningError`]; [`OpeningError::OtherOpener`] if the record was added with another opener.
    pub fn take(&mut self, number: usize, opener: &mut Opener) -> Result<OpenedRecord<'_>, OpeningError> {
        let place = self.records.get(number).ok_or(OpeningError::OtherOpener)?;
        if opener.has_ended() {
            return Err(OpeningError::AfterEnd);
        }
        if place.generation != opener.generation() {
            return self.open_again(number, opener);
        }
        if !place.key.is_same(&opener.record_keys().key) {
            return Err(OpeningError::OtherOpener);
        }
        let body = self.batches.0[place.batch].result(place.index).map_err(error_of);
        let concluded = body.and_then(|body| Ok((body, opener.conclude(&place.frame, body)?)));
        match concluded {
            Ok((body, places)) => Ok(places.of(body)),
            Err(error) => {
                opener.refuse();
                Err(error)
            }
        }
    }

    /// Opens a record behind a KeyUpdate of the same flight: it was computed under the keys before.
    fn open_again(&mut self, number: usize, opener: &mut Opener) -> Result<OpenedRecord<'_>, OpeningError> {
        let place = &self.records[number];
        let (header, body, tag) = self.batches.0[place.batch].records.sealed_input(place.index);
        self.again = Zeroizing::new([header, body, tag].concat());
        match opener.next(&mut self.again)? {
            Opened::Record(record) => Ok(record),
            // The record was whole.
            Opened::NeedMore(_) => Err(OpeningError::Rejected),
        }
    }

    /// Returns an empty flight that uses the memory of this one.
    #[must_use]
    pub fn into_flight(mut self) -> OpenFlight {
        self.batches.clear();
        self.records.clear();
        OpenFlight { batches: self.batches, records: self.records }
    }
}

impl fmt::Debug for OpenFlight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OpenFlight({} records)", self.len())
    }
}

impl fmt::Debug for OpenedFlight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OpenedFlight({} records)", self.len())
    }
}
