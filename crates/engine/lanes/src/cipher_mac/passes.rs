//! The pass of the hash and the pass of the cipher over a window, each on the leaf that has its instructions.

use oarlock_core::{BatchSize, BlockCipher, CipherSpec, Direction, MacAlg, PartMut, Shape};
use zeroize::Zeroizing;

use crate::hash::sha1::LaneSha1;
use crate::hash::sha256::LaneSha256;
use crate::hash::sha512::LaneSha512;
use crate::hash::streams::{self, StreamHash};
use crate::hash::{self, ChainBytes, HashEnding, HmacChains, HmacHash, LaneHash, LaneSha384};
use crate::leaves::{Leaves, with_blocks, with_streams, with_vectors};
use crate::records::{RecordPart, RecordRef};
use crate::simd::Cpu;
use crate::{aes, des};

/// The leaves and algorithms of a chain.
#[derive(Clone, Copy)]
pub(super) struct ChainPasses {
    pub(super) leaves: Leaves,
    pub(super) cipher: CipherSpec,
    pub(super) mac: MacAlg,
    pub(super) direction: Direction,
}

/// Returns the batch sizes of an HMAC by instructions of its own.
pub(super) fn streams_offer(leaves: &Leaves, mac: MacAlg) -> Option<BatchSize> {
    let shape = Shape::Mac { alg: mac };
    leaves.streams_for(shape).and_then(|leaf| with_streams!(leaf, simd => streams::offers(simd, shape)))
}

/// The chaining values of HMAC keys: after the inner and after the outer padded key of each record.
pub(super) struct MacStates {
    pub(super) inner: Zeroizing<Vec<ChainBytes>>,
    pub(super) outer: Zeroizing<Vec<ChainBytes>>,
}

impl ChainPasses {
    fn cipher_shape(&self) -> Shape {
        Shape::Cipher { alg: self.cipher.alg, mode: self.cipher.mode, direction: self.direction }
    }

    /// Encrypts or decrypts accepted records of a part, whose columns are those of a cipher too.
    pub(super) fn crypt(&self, part: &RecordPart<'_>, records: &[RecordRef], out: &mut PartMut<'_>) {
        self.crypt_part(&part.read_as(self.cipher_shape()), records, out);
    }

    /// Encrypts or decrypts accepted records of a part of the cipher.
    pub(super) fn crypt_part(&self, part: &RecordPart<'_>, records: &[RecordRef], out: &mut PartMut<'_>) {
        let shape = self.cipher_shape();
        match self.cipher.alg {
            BlockCipher::Aes128 | BlockCipher::Aes256 => {
                if let Some(leaf) = self.leaves.blocks {
                    with_blocks!(leaf, simd => {
                        aes::crypt(simd, shape, part, records, out);
                        simd.clear_registers();
                    });
                }
            }
            _ => {
                if let Some(leaf) = self.leaves.vectors {
                    with_vectors!(leaf, simd => {
                        des::crypt(simd, shape, part, records, out);
                        simd.clear_registers();
                    });
                }
            }
        }
    }

    /// Returns the part of the cipher over records that were put together elsewhere.
    pub(super) fn part_shape(&self) -> Shape {
        self.cipher_shape()
    }

    /// Returns the HMAC of each message under the second key of its record.
    pub(super) fn tags(
        &self,
        part: &RecordPart<'_>,
        records: &[RecordRef],
        messages: &[&[u8]],
    ) -> Zeroizing<Vec<ChainBytes>> {
        let mut states = self.states(part, records);
        self.advance(&mut states.inner, messages, HashEnding::Padded { before: self.block_len() as u64 });
        self.finish(states)
    }

    /// Returns the block length of the hash.
    pub(super) fn block_len(&self) -> usize {
        self.mac.hmac_digest().map_or(64, |digest| digest.block_len())
    }

    /// Returns the chaining values of the records' MAC keys.
    pub(super) fn states(&self, part: &RecordPart<'_>, records: &[RecordRef]) -> MacStates {
        match self.mac {
            MacAlg::HmacSha1 => states_of::<LaneSha1>(part, records),
            MacAlg::HmacSha256 => states_of::<LaneSha256>(part, records),
            MacAlg::HmacSha384 => states_of::<LaneSha384>(part, records),
            _ => states_of::<LaneSha512>(part, records),
        }
    }

    /// Hashes the inner digests under the outer keys. The results begin with the tags.
    pub(super) fn finish(&self, states: MacStates) -> Zeroizing<Vec<ChainBytes>> {
        let MacStates { inner, mut outer } = states;
        let digests: Vec<&[u8]> = inner.iter().map(|state| &state[..self.mac.tag_len()]).collect();
        self.advance(&mut outer, &digests, HashEnding::Padded { before: self.block_len() as u64 });
        outer
    }

    /// Moves each chaining value over its message and the end of it.
    pub(super) fn advance(&self, states: &mut [ChainBytes], messages: &[&[u8]], ending: HashEnding) {
        match self.mac {
            MacAlg::HmacSha1 => self.advance_short::<LaneSha1>(states, messages, ending),
            MacAlg::HmacSha256 => self.advance_short::<LaneSha256>(states, messages, ending),
            _ => self.advance_lanes::<LaneSha512>(states, messages, ending),
        }
    }

    fn advance_short<H: StreamHash>(
        &self,
        states: &mut [ChainBytes],
        messages: &[&[u8]],
        ending: HashEnding,
    ) {
        match self.leaves.streams_for(Shape::Mac { alg: self.mac }) {
            Some(leaf) => with_streams!(leaf, simd => {
                streams::advance::<_, H>(simd, states, messages, ending);
                simd.clear_registers();
            }),
            None => self.advance_lanes::<H>(states, messages, ending),
        }
    }

    fn advance_lanes<H: LaneHash>(&self, states: &mut [ChainBytes], messages: &[&[u8]], ending: HashEnding) {
        if let Some(leaf) = self.leaves.vectors {
            with_vectors!(leaf, simd => {
                hash::advance::<_, H>(simd, states, messages, ending);
                simd.clear_registers();
            });
        }
    }
}

fn states_of<H: HmacHash>(part: &RecordPart<'_>, records: &[RecordRef]) -> MacStates {
    let mut states = MacStates {
        inner: Zeroizing::new(Vec::with_capacity(records.len())),
        outer: Zeroizing::new(Vec::with_capacity(records.len())),
    };
    for record in records {
        let (source, bytes) = (part.second_key(*record), part.second_key_bytes(*record));
        let values = HmacChains::<H>::with(part, source, bytes, HmacChains::each);
        states.inner.push(values[0]);
        states.outer.push(values[1]);
    }
    states
}
