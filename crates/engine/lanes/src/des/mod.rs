//! DES and triple DES, bitsliced: as many messages side by side as a vector has bits, each under its own key. FIPS
//! 46-3, SP 800-67.
//!
//! | module | contents |
//! |---|---|
//! | this one | the shapes, and the memory of a run |
//! | `bits` | blocks to bits and back |
//! | `cbc` | CBC in both directions, and translation |
//! | `group` | records side by side: the path of their bytes into rows and back |
//! | `mac` | DES-MAC, retail MAC and CMAC |
//! | `permutations` | the tables of the standard |
//! | `rounds` | the sixteen rounds |
//! | `schedule` | key bits |
//! | `sboxes`, `sboxes_two` | the S-boxes as circuits of three-input gates and of two-input gates |

mod bits;
mod cbc;
mod group;
mod mac;
mod permutations;
mod rounds;
mod sboxes;
mod sboxes_two;
mod schedule;
#[cfg(test)]
mod standard;
#[cfg(test)]
mod tests;

use oarlock_core::{BatchSize, BlockCipher, CipherMode, CipherSpec, Direction, OutcomeWriter, Shape, erase};
use zeroize::{Zeroize, Zeroizing};

use crate::records::{RecordKernel, RecordPart, RecordRef, StepRule};
use crate::scratch::{ThreadScratch, WipePolicy};
use crate::simd::{LaneArray, Simd, Vector};
use group::{BLOCK, Chunk, DesGroup, Rows};
use mac::DesMac;
use rounds::DesState;
use schedule::DesSchedule;

/// Returns the batch sizes of a shape, or None if it is not one of DES. Records are preferred in numbers that fill
/// the vectors once. A run of the maximum takes some tens of microseconds to a millisecond.
pub(crate) fn offers<S: Simd>(shape: Shape) -> Option<BatchSize> {
    let is_ours = match shape {
        Shape::Cipher { alg, mode: CipherMode::Cbc, .. } => DesKeying::from_alg(alg).is_some(),
        Shape::Mac { alg } => DesMac::from_alg(alg).is_some(),
        Shape::Translate {
            from: CipherSpec { alg: from, mode: CipherMode::Cbc },
            to: CipherSpec { alg: to, mode: CipherMode::Cbc },
        } => DesKeying::from_alg(from).is_some() && DesKeying::from_alg(to).is_some(),
        _ => false,
    };
    is_ours.then_some(BatchSize { preferred: S::V::BITS, max: 65_536 })
}

/// Encrypts or decrypts accepted records of a part that is read as a cipher.
pub(crate) fn crypt<S: Simd>(
    simd: S,
    shape: Shape,
    part: &RecordPart<'_>,
    records: &[RecordRef],
    out: &mut OutcomeWriter<'_>,
) {
    let mut run = DesRun::new(simd, shape);
    run.begin(part);
    run.compute(part, records, out);
}

/// The schedules of a cipher and their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DesKeying {
    Des,
    /// The first key, the second, and the first again. SP 800-67 3.2, keying option 2.
    Tdes2,
    /// Three keys.
    Tdes3,
}

impl DesKeying {
    fn from_alg(alg: BlockCipher) -> Option<Self> {
        match alg {
            BlockCipher::Des => Some(Self::Des),
            BlockCipher::Tdes2 => Some(Self::Tdes2),
            BlockCipher::Tdes3 => Some(Self::Tdes3),
            _ => None,
        }
    }

    /// Returns the number of schedules of a key.
    fn schedules(self) -> usize {
        match self {
            Self::Des => 1,
            Self::Tdes2 => 2,
            Self::Tdes3 => 3,
        }
    }

    /// Encrypts with EDE, or decrypts with its inverse. SP 800-67 3.1.
    fn run<S: Simd>(
        self,
        simd: S,
        state: &mut DesState<S::V>,
        keys: &[DesSchedule<S::V>; 3],
        direction: Direction,
    ) {
        let [first, second, third] = keys;
        let last = if self == Self::Tdes2 { first } else { third };
        match (self, direction) {
            (Self::Des, _) => state.cipher(simd, first, direction),
            (_, Direction::Encrypt) => {
                state.cipher(simd, first, Direction::Encrypt);
                state.cipher(simd, second, Direction::Decrypt);
                state.cipher(simd, last, Direction::Encrypt);
            }
            (_, Direction::Decrypt) => {
                state.cipher(simd, last, Direction::Decrypt);
                state.cipher(simd, second, Direction::Encrypt);
                state.cipher(simd, first, Direction::Decrypt);
            }
        }
    }
}

/// The records of one run.
pub(crate) struct DesRun<S: Simd> {
    simd: S,
    shape: Shape,
    scratch: ThreadScratch<DesScratch<S::V>>,
}

/// The memory in which a group is computed.
struct DesScratch<V: Vector> {
    chunk: Chunk<V>,
    chain: Rows<V>,
    other_chain: Rows<V>,
    state: DesState<V>,
    keys: [DesSchedule<V>; 3],
    other_keys: [DesSchedule<V>; 3],
    /// The bytes of all keys of the part. Empty if keys are looked up one by one.
    table: Zeroizing<Vec<u8>>,
}

impl<S: Simd> DesRun<S> {
    /// Prepares a run of records of an offered shape.
    pub(crate) fn new(simd: S, shape: Shape) -> Self {
        // Some 20 to 90 KB, which the system would map page by page for every batch of some hundred records.
        let scratch = ThreadScratch::take(|| {
            let (rows, keys) = ([simd.zero(); bits::BITS], [DesSchedule::new(simd); 3]);
            DesScratch {
                chunk: LaneArray::from_fn(|_| rows),
                chain: rows,
                other_chain: rows,
                state: DesState::new(simd),
                keys,
                other_keys: keys,
                table: Zeroizing::default(),
            }
        });
        Self { simd, shape, scratch }
    }
}

impl<S: Simd> DesRun<S> {
    /// Returns the length of a key, or of the first key of a translation.
    fn key_len(&self) -> usize {
        match self.shape {
            Shape::Cipher { alg, .. } => alg.key_len(),
            Shape::Mac { alg } => alg.key_len().unwrap_or(BLOCK),
            Shape::Translate { from, .. } => from.alg.key_len(),
            // unreachable because `offers` names these only
            _ => BLOCK,
        }
    }
}

impl<S: Simd> RecordKernel for DesRun<S> {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn steps(&self) -> StepRule {
        let padding = match self.shape {
            Shape::Mac { alg } => DesMac::from_alg(alg).map_or(0, DesMac::max_padding),
            _ => 0,
        };
        StepRule::blocks(BLOCK, padding)
    }

    fn prefetches(&self) -> bool {
        true
    }

    fn begin(&mut self, part: &RecordPart<'_>) {
        let (keys, len) = (part.recurring_keys(), self.key_len());
        let is_small = u32::try_from(keys.len() * len).is_ok();
        erase(&mut self.scratch.table);
        // Keys in slots are not in the table, and offsets into the table are 32 bits wide.
        if part.has_slots() || !is_small {
            return;
        }
        let table = &mut self.scratch.table;
        // A vector that grows would leave a copy of the keys in freed memory.
        if table.capacity() < keys.len() * len {
            *table = Zeroizing::new(Vec::with_capacity(keys.len() * len));
        }
        table.resize(keys.len() * len, 0);
        for (slot, key) in table.chunks_exact_mut(len).zip(keys) {
            // Copies by words: a call of memcpy for so few bytes costs more than the copy.
            for (to, from) in slot.as_chunks_mut::<BLOCK>().0.iter_mut().zip(key.as_chunks().0) {
                *to = *from;
            }
        }
    }

    fn compute(&mut self, part: &RecordPart<'_>, records: &[RecordRef], out: &mut OutcomeWriter<'_>) {
        let Self { simd, shape, scratch } = self;
        for group in DesGroup::<S::V>::all(part, records) {
            match *shape {
                Shape::Cipher { alg, direction, .. } => {
                    let Some(keying) = DesKeying::from_alg(alg) else { return };
                    cbc::run(*simd, scratch, group, keying, direction, out);
                }
                Shape::Translate { from, to } => {
                    let (Some(from), Some(to)) = (DesKeying::from_alg(from.alg), DesKeying::from_alg(to.alg))
                    else {
                        return;
                    };
                    cbc::translate(*simd, scratch, group, from, to, out);
                }
                Shape::Mac { alg } => {
                    let Some(mac) = DesMac::from_alg(alg) else { return };
                    mac.run(*simd, scratch, group, out);
                }
                // unreachable because `offers` names these only
                _ => return,
            }
        }
    }
}

impl<V: Vector> WipePolicy for DesScratch<V> {
    fn wipe(&mut self) {
        self.chunk.as_mut().iter_mut().zeroize();
        self.chain.zeroize();
        self.other_chain.zeroize();
        self.state.zeroize();
        self.keys.zeroize();
        self.other_keys.zeroize();
        erase(&mut self.table);
    }
}

/// The parts that benchmarks time.
#[cfg(feature = "measure")]
pub(crate) mod measure {
    use oarlock_core::Direction;

    pub(crate) use super::bits::transpose;
    use super::{DesSchedule, DesState};
    use crate::simd::Simd;

    /// Calls `take` with a closure that runs the sixteen rounds.
    pub(crate) fn cipher<S: Simd>(simd: S, take: impl FnOnce(&mut dyn FnMut())) {
        let (mut state, schedule) = (DesState::new(simd), DesSchedule::new(simd));
        take(&mut || state.cipher(simd, &schedule, Direction::Encrypt));
    }
}
