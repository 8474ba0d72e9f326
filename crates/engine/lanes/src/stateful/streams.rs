//! SHA-256 of padded messages by instructions of its own, several messages in turn.

use oarlock_engine_kit::stateful::PaddedMessages;

use super::lanes::set_start;
use crate::hash::MerkleDamgard;
use crate::hash::sha256::LaneSha256;
use crate::hash::streams::{StreamHash, first_half};
use crate::simd::{KeptWords, ShaSimd};

/// The messages in turn.
const STREAMS: usize = LaneSha256::STREAMS;

/// Hashes messages with SHA-256.
pub(crate) fn sha256<S: ShaSimd>(simd: S, messages: &PaddedMessages, values: &mut [u8]) {
    let (len, n) = (messages.padded_len(), messages.hash().n());
    let (mut start, mut first) = (LaneSha256::initial(), 0);
    let mut kept = [KeptWords::default(); STREAMS];
    simd.call(
        #[inline(always)]
        || {
            let groups = messages.padded().chunks(STREAMS * len).zip(values.chunks_mut(STREAMS * n));
            for (padded, values) in groups {
                let last = padded.len() / len - 1;
                // Streams without a message repeat the last one, whose value is written once.
                let blocks: [_; STREAMS] = std::array::from_fn(
                    #[inline(always)]
                    |stream| padded[stream.min(last) * len..][..len].as_chunks().0,
                );
                let mut states: [_; STREAMS] = std::array::from_fn(
                    #[inline(always)]
                    |stream| {
                        set_start(&mut start, messages, first + stream.min(last));
                        first_half::<LaneSha256>(&start)
                    },
                );
                first += STREAMS;
                LaneSha256::compress(simd, &mut states, &mut kept, blocks);
                for (value, state) in values.chunks_exact_mut(n).zip(&states) {
                    value.copy_from_slice(&state.bytes::<LaneSha256>()[..n]);
                }
            }
        },
    );
}
