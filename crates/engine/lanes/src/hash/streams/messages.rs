//! Messages that are no records of their own, in turn: chaining values in bytes before and after.

use zeroize::Zeroizing;

use super::source::MessageSource;
use super::{Block, MAX_STREAMS, StreamHash, StreamState};
use crate::hash::group::MessageEnding;
use crate::hash::{CHAIN_BYTES, ChainBytes};
use crate::simd::{KeptWords, ShaSimd};

/// Moves each chaining value over its message and the end of it.
pub(crate) fn advance<S: ShaSimd, H: StreamHash>(
    simd: S,
    states: &mut [ChainBytes],
    messages: &[&[u8]],
    ending: MessageEnding,
) {
    for (states, messages) in states.chunks_mut(MAX_STREAMS).zip(messages.chunks(MAX_STREAMS)) {
        simd.call(
            #[inline(always)]
            || advance_streams::<S, H>(simd, states, messages, ending),
        );
    }
}

#[inline(always)]
fn advance_streams<S: ShaSimd, H: StreamHash>(
    simd: S,
    states: &mut [ChainBytes],
    messages: &[&[u8]],
    ending: MessageEnding,
) {
    let mut streams = Zeroizing::new([StreamState::default(); MAX_STREAMS]);
    let mut kept = Zeroizing::new([KeptWords::default(); MAX_STREAMS]);
    let mut sources: [MessageSource<'_>; MAX_STREAMS] = std::array::from_fn(|_| MessageSource::default());
    for ((stream, source), (state, message)) in
        streams.iter_mut().zip(&mut sources).zip(states.iter().zip(messages))
    {
        *stream = super::first_half::<H>(state);
        source.start::<H>(message, ending);
    }
    while let Some(blocks) = blocks_of_all(&sources) {
        let count = blocks[0].len();
        H::compress::<S, MAX_STREAMS>(simd, &mut streams, &mut kept, blocks);
        sources.iter_mut().for_each(|source| source.advance(count));
    }
    // The rest of messages that are longer than others, or fewer than fill the streams.
    for ((stream, kept), source) in streams.iter_mut().zip(&mut *kept).zip(&mut sources) {
        while !source.has_ended() {
            let blocks = source.left();
            let count = blocks.len();
            let (stream, kept) = (std::array::from_mut(stream), std::array::from_mut(kept));
            H::compress::<S, 1>(simd, stream, kept, [blocks]);
            source.advance(count);
        }
    }
    for (stream, state) in streams.iter().zip(states) {
        state[..CHAIN_BYTES / 2].copy_from_slice(&stream.bytes::<H>());
    }
}

/// Returns the next blocks of all messages, as many of each, or None if one has ended.
#[inline(always)]
fn blocks_of_all<'a>(sources: &'a [MessageSource<'_>; MAX_STREAMS]) -> Option<[&'a [Block]; MAX_STREAMS]> {
    let left = sources.each_ref().map(MessageSource::left);
    let count = left.iter().map(|blocks| blocks.len()).min().filter(|count| *count > 0)?;
    Some(left.map(|blocks| &blocks[..count]))
}
