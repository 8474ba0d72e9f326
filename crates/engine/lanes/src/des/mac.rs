//! Message authentication codes of many messages: ISO/IEC 9797-1 algorithms 1 and 3, and CMAC (SP 800-38B 6).

use oarlock_core::{Direction, MacAlg, MacPadding, OutcomeWriter};

use zeroize::Zeroizing;

use super::bits::{BITS, choose, transpose};
use super::group::{BLOCK, DesGroup, Rows};
use super::schedule::bit_index;
use super::{DesKeying, DesScratch};
use crate::simd::{LaneArray, LaneValues, Simd, Vector};

/// A MAC algorithm: its cipher, the number of its keys, and its padding.
#[derive(Clone, Copy, Debug)]
pub(super) struct DesMac {
    keying: DesKeying,
    schedules: usize,
    ending: MacEnding,
}

/// The treatment of the last block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MacEnding {
    /// ISO/IEC 9797-1 padding method 1.
    Zeros,
    /// ISO/IEC 9797-1 padding method 2.
    OneThenZeros,
    /// A subkey is added to the last block, which is padded if it is not whole. SP 800-38B 6.2.
    Subkey,
}

impl DesMac {
    /// Returns the description of a MAC, or None if it is not made of DES.
    pub(super) fn from_alg(alg: MacAlg) -> Option<Self> {
        let (keying, schedules, ending) = match alg {
            MacAlg::DesMac(padding) => (DesKeying::Des, 1, MacEnding::from_padding(padding)),
            MacAlg::RetailMac(padding) => (DesKeying::Des, 2, MacEnding::from_padding(padding)),
            MacAlg::Tdes2Cmac => (DesKeying::Tdes2, 2, MacEnding::Subkey),
            MacAlg::Tdes3Cmac => (DesKeying::Tdes3, 3, MacEnding::Subkey),
            _ => return None,
        };
        Some(Self { keying, schedules, ending })
    }

    /// Returns the number of blocks of a padded message.
    pub(super) fn blocks(self, len: usize) -> usize {
        match self.ending {
            MacEnding::OneThenZeros => len / BLOCK + 1,
            MacEnding::Zeros | MacEnding::Subkey => len.div_ceil(BLOCK).max(1),
        }
    }

    /// Returns the bytes by which the longest padding lengthens a message.
    pub(super) fn max_padding(self) -> usize {
        match self.ending {
            MacEnding::OneThenZeros => BLOCK,
            MacEnding::Zeros | MacEnding::Subkey => BLOCK - 1,
        }
    }

    /// Computes the MACs of a group.
    pub(super) fn run<S: Simd>(
        self,
        simd: S,
        scratch: &mut DesScratch<S::V>,
        group: DesGroup<'_, '_, S::V>,
        out: &mut OutcomeWriter<'_>,
    ) {
        let DesScratch { chunk, chain, other_chain: tag, state, keys, table, .. } = scratch;
        group.schedules(simd, chain, &mut keys[..self.schedules], table);
        // `schedules` used the chain as a buffer for key bits; the MAC starts from zero.
        *chain = [simd.zero(); BITS];
        let mut subkeys = Zeroizing::new([simd.zero(); BITS]);
        if self.ending == MacEnding::Subkey {
            state.load(simd, |_| simd.zero());
            self.keying.run(simd, state, keys, Direction::Encrypt);
            state.store(
                simd,
                #[inline(always)]
                |row, bit| subkeys[row] = bit,
            );
            self.subkeys(simd, group, &mut subkeys);
        }
        let max = self.blocks(group.max_bytes());
        let min = self.blocks(group.min_bytes());
        for first in (0..max).step_by(S::V::WORDS) {
            let chunk = &mut chunk.as_mut()[..(max - first).min(S::V::WORDS)];
            group.read(
                simd,
                chunk,
                first * BLOCK,
                #[inline(always)]
                |message, len| self.pad(simd, message, len, first * BLOCK),
            );
            for (blocks, rows) in (first + 1..).zip(chunk) {
                transpose(simd, rows);
                // Until the shortest message ends no lane is at its last block, which saves the loop over all lengths.
                let last = match blocks < min {
                    true => simd.zero(),
                    false => self.lanes(simd, group, |len| self.blocks(len) == blocks),
                };
                state.load(
                    simd,
                    #[inline(always)]
                    |row| rows[row] ^ chain[row] ^ (subkeys[row] & last),
                );
                self.keying.run(simd, state, keys, Direction::Encrypt);
                state.store(
                    simd,
                    #[inline(always)]
                    |row, bit| {
                        chain[row] = bit;
                        tag[row] = choose(last, bit, tag[row]);
                    },
                );
            }
        }
        self.finish(simd, scratch, group, out);
    }

    /// Runs the last steps of algorithm 3, and writes the MACs.
    fn finish<S: Simd>(
        self,
        simd: S,
        scratch: &mut DesScratch<S::V>,
        group: DesGroup<'_, '_, S::V>,
        out: &mut OutcomeWriter<'_>,
    ) {
        let DesScratch { other_chain: tag, state, keys, .. } = scratch;
        // Algorithm 3: the last block of the single-DES chain is also decrypted under K' and encrypted under K.
        if self.keying == DesKeying::Des && self.schedules == 2 {
            state.load(
                simd,
                #[inline(always)]
                |row| tag[row],
            );
            state.cipher(simd, &keys[1], Direction::Decrypt);
            state.cipher(simd, &keys[0], Direction::Encrypt);
            state.store(
                simd,
                #[inline(always)]
                |row, bit| tag[row] = bit,
            );
        }
        group.each_block(simd, tag, |record, code| {
            if let Err(status) = out.write(group.part.output(record), code) {
                out.statuses[record.index as usize] = status;
            }
        });
    }

    /// Turns L into the value that is added to each lane's last block: K1 if the block is whole, K2 if it was
    /// padded. SP 800-38B 6.1.
    fn subkeys<S: Simd>(self, simd: S, group: DesGroup<'_, '_, S::V>, l: &mut Rows<S::V>) {
        let is_padded = self.lanes(simd, group, |len| len == 0 || !len.is_multiple_of(BLOCK));
        simd.call(
            #[inline(always)]
            || {
                double(l);
                let k1 = Zeroizing::new(*l);
                double(l);
                for (k2, k1) in l.iter_mut().zip(*k1) {
                    *k2 = choose(is_padded, *k2, k1);
                }
            },
        );
    }

    /// Returns ones in the lanes whose message length satisfies `is_set`.
    fn lanes<S: Simd>(self, simd: S, group: DesGroup<'_, '_, S::V>, is_set: impl Fn(usize) -> bool) -> S::V {
        let mut words = LaneValues::<S::V, u64>::from_fn(|_| 0);
        for (row, records) in group.records.chunks(S::V::WORDS).enumerate() {
            for (word, record) in words.as_mut().iter_mut().zip(records) {
                *word |= u64::from(is_set(record.len as usize)) << row;
            }
        }
        simd.load(&words)
    }

    /// Adds the one bit of the padding if it is among the bytes from `first` on.
    #[inline(always)]
    fn pad<S: Simd>(self, simd: S, message: S::V, len: usize, first: usize) -> S::V {
        let is_padded = match self.ending {
            MacEnding::Zeros => false,
            MacEnding::OneThenZeros => true,
            MacEnding::Subkey => len == 0 || !len.is_multiple_of(BLOCK),
        };
        // Lengths are public. A message that ended in an earlier chunk, or ends in a later one, gets no bit here.
        match len.checked_sub(first).and_then(|at| (ONE.len() / 2).checked_sub(at)) {
            Some(start) if is_padded => message | simd.load_prefix(&ONE[start..]),
            _ => message,
        }
    }
}

impl MacEnding {
    fn from_padding(padding: MacPadding) -> Self {
        match padding {
            MacPadding::Zeros => Self::Zeros,
            MacPadding::OneThenZeros => Self::OneThenZeros,
        }
    }
}

/// The bytes of the widest vector.
const MAX_BYTES: usize = 64;

/// A one bit in the middle of zeros. A read that starts n bytes before the middle has the bit n bytes from its
/// start.
const ONE: [u8; 2 * MAX_BYTES - 1] = {
    let mut bytes = [0; 2 * MAX_BYTES - 1];
    bytes[bytes.len() / 2] = 0x80;
    bytes
};

/// Multiplies each block by x in GF(2^64), modulo x^64 + x^4 + x^3 + x + 1. SP 800-38B 5.3.
#[inline(always)]
fn double<V: Vector>(rows: &mut Rows<V>) {
    let carry = rows[bit_index(1)];
    for number in 1..64 {
        rows[bit_index(number)] = rows[bit_index(number + 1)];
    }
    rows[bit_index(64)] = carry;
    // x^64 = x^4 + x^3 + x + 1, and bit 64 of the standard is x^0.
    for number in [60, 61, 63] {
        let row = &mut rows[bit_index(number)];
        *row = *row ^ carry;
    }
}
