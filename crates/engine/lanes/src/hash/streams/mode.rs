//! The chaining values before and after the messages of a shape.

use std::marker::PhantomData;

use super::{StreamHash, StreamState};
use crate::hash::group::MessageEnding;
use crate::hash::{CHAIN_BYTES, ChainBytes, HmacChains, HmacHash, hmac};
use crate::records::{RecordPart, RecordRef};

/// The steps before and after the messages of a shape.
pub(super) trait StreamMode<H: StreamHash> {
    const ENDING: MessageEnding;

    /// The bytes of the digest if another hash follows, of the digest.
    const INNER_LEN: Option<usize> = None;

    /// Sets the chaining value before a message, and the one before the hash that follows.
    fn start(
        &self,
        part: &RecordPart<'_>,
        record: RecordRef,
        state: &mut StreamState,
        outer: &mut StreamState,
    );
}

/// Digests of whole messages, which have the same initial chaining value.
pub(super) struct WholeStreams(StreamState);

impl WholeStreams {
    pub(super) fn new<H: StreamHash>(initial: &ChainBytes) -> Self {
        Self(super::first_half::<H>(initial))
    }
}

impl<H: StreamHash> StreamMode<H> for WholeStreams {
    const ENDING: MessageEnding = MessageEnding::Padded { before: 0 };

    #[inline(always)]
    fn start(&self, _: &RecordPart<'_>, _: RecordRef, state: &mut StreamState, _: &mut StreamState) {
        *state = self.0;
    }
}

/// Parts of digests: whole blocks from the middle of messages. Their chaining values are in the IV column.
pub(super) struct PartStreams;

impl<H: StreamHash> StreamMode<H> for PartStreams {
    const ENDING: MessageEnding = MessageEnding::Open;

    #[inline(always)]
    fn start(&self, part: &RecordPart<'_>, record: RecordRef, state: &mut StreamState, _: &mut StreamState) {
        // A chaining value of SHA-1 is shorter; zeros follow it.
        let mut bytes = [0; CHAIN_BYTES / 2];
        let value = part.iv_span(record).slice(part.data()).unwrap_or_default();
        bytes.iter_mut().zip(value).for_each(|(to, from)| *to = *from);
        *state = StreamState::new::<H>(&bytes);
    }
}

/// HMAC: the hash that follows the inner key, and the hash of its digest that follows the outer key.
pub(super) struct HmacStreams<K>(PhantomData<K>);

impl<K> Default for HmacStreams<K> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<H: StreamHash, K: HmacHash<Lanes = H>> StreamMode<H> for HmacStreams<K> {
    const ENDING: MessageEnding = hmac::inner::<H>();
    const INNER_LEN: Option<usize> = Some(K::OUTPUT);

    #[inline(always)]
    fn start(
        &self,
        part: &RecordPart<'_>,
        record: RecordRef,
        state: &mut StreamState,
        outer: &mut StreamState,
    ) {
        HmacChains::<K>::with(part, part.key_at(record.index), part.key_bytes(record), |prepared| {
            let [values, _] = prepared.states();
            if let [inner_value, outer_value] = values.as_chunks().0 {
                *state = StreamState::new::<H>(inner_value);
                *outer = StreamState::new::<H>(outer_value);
            }
        });
    }
}
