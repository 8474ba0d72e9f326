//! Cipher block chaining of many messages. SP 800-38A 6.2.
//!
//! Chaining values stay in bitsliced form. Only results are turned back into blocks.

use oarlock_core::{Direction, OutcomeWriter};

use super::bits::{transpose, transpose_from, transpose_to};
use super::group::{BLOCK, Chunk, DesGroup};
use super::{DesKeying, DesScratch};
use crate::records::RecordPart;
use crate::simd::{Simd, Vector};

/// Encrypts or decrypts the records of a group.
pub(super) fn run<S: Simd>(
    simd: S,
    scratch: &mut DesScratch<S::V>,
    group: DesGroup<'_, '_, S::V>,
    keying: DesKeying,
    direction: Direction,
    out: &mut OutcomeWriter<'_>,
) {
    let DesScratch { chunk, chain, other_chain, state, keys, table, .. } = scratch;
    group.schedules(simd, chain, &mut keys[..keying.schedules()], table);
    group.ivs(simd, chain);
    let (mut previous, mut next) = (chain, other_chain);
    // Encrypted blocks chain in place: the state already holds them.
    state.load(
        simd,
        #[inline(always)]
        |row| previous[row],
    );
    each_chunk(group, |first, blocks| {
        read(simd, group, chunk, first, blocks);
        for rows in &mut chunk.as_mut()[..blocks] {
            match direction {
                Direction::Encrypt => {
                    transpose_to(
                        simd,
                        rows,
                        #[inline(always)]
                        |row, bit| {
                            let row_state = state.row_mut(row);
                            *row_state = *row_state ^ bit;
                        },
                    );
                    keying.run(simd, state, keys, direction);
                    transpose_from(
                        simd,
                        rows,
                        #[inline(always)]
                        |row| *state.row_mut(row),
                    );
                }
                Direction::Decrypt => {
                    // Both copies of the ciphertext are written here: `next` is the chaining value of the next block.
                    transpose_to(
                        simd,
                        rows,
                        #[inline(always)]
                        |row, bit| {
                            *state.row_mut(row) = bit;
                            next[row] = bit;
                        },
                    );
                    keying.run(simd, state, keys, direction);
                    transpose_from(
                        simd,
                        rows,
                        #[inline(always)]
                        |row| *state.row_mut(row) ^ previous[row],
                    );
                    // The ciphertext block becomes the chaining value without a copy.
                    std::mem::swap(&mut previous, &mut next);
                }
            }
        }
        write(simd, group, chunk, first, blocks, out);
    });
}

/// Decrypts under one key and encrypts under another. The plaintext exists as bits of the state only.
pub(super) fn translate<S: Simd>(
    simd: S,
    scratch: &mut DesScratch<S::V>,
    group: DesGroup<'_, '_, S::V>,
    from: DesKeying,
    to: DesKeying,
    out: &mut OutcomeWriter<'_>,
) {
    let DesScratch { chunk, chain, other_chain, state, keys, other_keys, table } = scratch;
    group.schedules(simd, chain, &mut keys[..from.schedules()], table);
    group.schedules_of(simd, chain, &mut other_keys[..to.schedules()], RecordPart::second_key_bytes);
    // After the schedules, which use the chain as a buffer.
    group.ivs(simd, chain);
    group.second_ivs(simd, other_chain);
    each_chunk(group, |first, blocks| {
        read(simd, group, chunk, first, blocks);
        for rows in &mut chunk.as_mut()[..blocks] {
            transpose(simd, rows);
            state.load(
                simd,
                #[inline(always)]
                |row| rows[row],
            );
            from.run(simd, state, keys, Direction::Decrypt);
            state.store(
                simd,
                #[inline(always)]
                |row, bit| {
                    let ciphertext = std::mem::replace(&mut rows[row], bit ^ chain[row]);
                    chain[row] = ciphertext;
                },
            );
            state.load(
                simd,
                #[inline(always)]
                |row| rows[row] ^ other_chain[row],
            );
            to.run(simd, state, other_keys, Direction::Encrypt);
            state.store(
                simd,
                #[inline(always)]
                |row, bit| {
                    other_chain[row] = bit;
                    rows[row] = bit;
                },
            );
            transpose(simd, rows);
        }
        write(simd, group, chunk, first, blocks, out);
    });
}

/// Reads the blocks of each record from byte `first` on.
fn read<S: Simd>(
    simd: S,
    group: DesGroup<'_, '_, S::V>,
    chunk: &mut Chunk<S::V>,
    first: usize,
    blocks: usize,
) {
    match &mut chunk.as_mut()[..blocks] {
        [rows] => group.read_block(simd, rows, first),
        chunk => group.read(
            simd,
            chunk,
            first,
            #[inline(always)]
            |message, _| message,
        ),
    }
}

/// Writes the blocks of each record from byte `first` on.
fn write<S: Simd>(
    simd: S,
    group: DesGroup<'_, '_, S::V>,
    chunk: &Chunk<S::V>,
    first: usize,
    blocks: usize,
    out: &mut OutcomeWriter<'_>,
) {
    match chunk.as_ref() {
        [rows, ..] if blocks == 1 => group.write_block(simd, rows, first, out),
        _ => group.write(simd, chunk, first, out),
    }
}

/// Calls `body` with the first byte of each chunk of a group, and the number of blocks in it that the longest record
/// has.
fn each_chunk<V: Vector>(group: DesGroup<'_, '_, V>, mut body: impl FnMut(usize, usize)) {
    for first in (0..group.max_bytes()).step_by(V::BYTES) {
        body(first, ((group.max_bytes() - first) / BLOCK).min(V::BYTES / BLOCK));
    }
}
