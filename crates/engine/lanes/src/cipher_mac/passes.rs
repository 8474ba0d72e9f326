//! The pass of the hash and the pass of the cipher over a window, each on the leaf that has its instructions.

use oarlock_core::{CipherSpec, Direction, MacAlg, OutcomeWriter, Shape};
use zeroize::Zeroizing;

use crate::hash::sha1::LaneSha1;
use crate::hash::sha256::LaneSha256;
use crate::hash::sha512::LaneSha512;
use crate::hash::{ChainBytes, HmacChains, HmacHash, LaneSha384, MessageEnding};
use crate::kernels::{CipherKernels, HashKernels};
use crate::records::{RecordPart, RecordRef};

/// The kernels and algorithms of a chain.
#[derive(Clone, Copy)]
pub(super) struct ChainPasses<'l> {
    pub(super) ciphers: &'l dyn CipherKernels,
    pub(super) hashes: &'l dyn HashKernels,
    pub(super) cipher: CipherSpec,
    pub(super) mac: MacAlg,
    pub(super) direction: Direction,
}

/// The chaining values of HMAC keys: after the inner and after the outer padded key of each record.
pub(super) struct MacStates {
    pub(super) inner: Zeroizing<Vec<ChainBytes>>,
    pub(super) outer: Zeroizing<Vec<ChainBytes>>,
}

impl ChainPasses<'_> {
    /// Encrypts or decrypts accepted records of a part, whose columns are those of a cipher too.
    pub(super) fn crypt(&self, part: &RecordPart<'_>, records: &[RecordRef], out: &mut OutcomeWriter<'_>) {
        self.crypt_part(&part.read_as(self.cipher_shape()), records, out);
    }

    /// Encrypts or decrypts accepted records of a part of the cipher.
    pub(super) fn crypt_part(
        &self,
        part: &RecordPart<'_>,
        records: &[RecordRef],
        out: &mut OutcomeWriter<'_>,
    ) {
        self.ciphers.crypt(self.cipher_shape(), part, records, out);
    }

    /// Returns the shape of the cipher alone.
    pub(super) fn cipher_shape(&self) -> Shape {
        super::cipher_shape(self.cipher, self.direction)
    }

    /// Returns the HMAC of each message under the second key of its record.
    pub(super) fn tags(
        &self,
        part: &RecordPart<'_>,
        records: &[RecordRef],
        messages: &[&[u8]],
    ) -> Zeroizing<Vec<ChainBytes>> {
        let mut states = self.states(part, records);
        self.advance(&mut states.inner, messages, MessageEnding::Padded { before: self.block_len() as u64 });
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
        self.advance(&mut outer, &digests, MessageEnding::Padded { before: self.block_len() as u64 });
        outer
    }

    /// Moves each chaining value over its message and the end of it.
    pub(super) fn advance(&self, states: &mut [ChainBytes], messages: &[&[u8]], ending: MessageEnding) {
        self.hashes.advance(self.mac, states, messages, ending);
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
