//! The content of a sealed file: chunks under ChaCha20-Poly1305, of which the last one is marked.

use aws_lc_rs::aead::{Aad, LessSafeKey, Nonce};
use zeroize::Zeroizing;

use super::fault::SealFault;
use super::file_key::FileKey;

/// The length of the nonce before the first chunk.
pub(super) const NONCE_LEN: usize = 16;

/// The bytes of a full chunk.
const CHUNK_LEN: usize = 64 << 10;

const TAG_LEN: usize = 16;

const SEALED_CHUNK_LEN: usize = CHUNK_LEN + TAG_LEN;

/// The mark in the nonce of a chunk.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ChunkPosition {
    Inner = 0,
    Last = 1,
}

/// Returns the maximum length of a nonce and the chunks of a content.
pub(super) fn max_sealed_len(content_len: usize) -> usize {
    let chunks = content_len.div_ceil(CHUNK_LEN).max(1);
    content_len.saturating_add(NONCE_LEN + chunks.saturating_mul(TAG_LEN))
}

/// Opens all chunks. `payload` is the nonce and the chunks.
pub(super) fn open(
    file_key: &FileKey,
    payload: &[u8],
    max_bytes: usize,
) -> Result<Zeroizing<Vec<u8>>, SealFault> {
    let (nonce, sealed) = payload.split_at_checked(NONCE_LEN).ok_or(SealFault::Cut { part: "nonce" })?;
    let count = sealed.len().div_ceil(SEALED_CHUNK_LEN);
    let last_len = sealed.len() - count.saturating_sub(1) * SEALED_CHUNK_LEN;
    if last_len < TAG_LEN {
        let part = if count < 2 { "first chunk" } else { "last chunk" };
        return Err(SealFault::Cut { part });
    }
    let content_len = sealed.len() - count * TAG_LEN;
    if content_len > max_bytes {
        return Err(SealFault::TooLong { max: max_bytes });
    }
    let cipher = file_key.payload_cipher(nonce)?;
    let mut content = Zeroizing::new(vec![0; content_len]);
    for (at, (sealed, out)) in sealed.chunks(SEALED_CHUNK_LEN).zip(chunks_mut(&mut content)).enumerate() {
        let is_last = at + 1 == count;
        let (position, other) = match is_last {
            true => (ChunkPosition::Last, ChunkPosition::Inner),
            false => (ChunkPosition::Inner, ChunkPosition::Last),
        };
        if open_chunk(&cipher, at, position, sealed, out) {
            continue;
        }
        // A chunk that is authentic with the other mark says what happened to the file.
        let is_moved_end = open_chunk(&cipher, at, other, sealed, out);
        return Err(match (is_moved_end, is_last) {
            (true, true) => SealFault::Cut { part: "content" },
            (true, false) => SealFault::Trailing,
            (false, _) => SealFault::Chunk { number: at + 1, count },
        });
    }
    // An empty last chunk behind others would be a second form of the same content.
    if count > 1 && last_len == TAG_LEN {
        return Err(SealFault::Chunk { number: count, count });
    }
    Ok(content)
}

/// Returns the chunks of a content. An empty content has one empty chunk, and so has what follows a full last chunk.
fn chunks_mut(content: &mut [u8]) -> impl Iterator<Item = &mut [u8]> {
    let mut rest = Some(content);
    std::iter::from_fn(move || {
        let all = rest.take()?;
        let (chunk, behind) = all.split_at_mut(all.len().min(CHUNK_LEN));
        rest = Some(behind);
        Some(chunk)
    })
}

/// Opens a chunk. Returns false if it is not authentic.
fn open_chunk(
    cipher: &LessSafeKey,
    at: usize,
    position: ChunkPosition,
    sealed: &[u8],
    out: &mut [u8],
) -> bool {
    let (ciphertext, tag) = sealed.split_at(sealed.len() - TAG_LEN);
    cipher.open_separate_gather(nonce(at, position), Aad::empty(), ciphertext, tag, out).is_ok()
}

/// Appends a nonce and the sealed chunks of a content.
pub(super) fn seal(
    file_key: &FileKey,
    nonce: &[u8; NONCE_LEN],
    content: &[u8],
    sealed: &mut Vec<u8>,
) -> Result<(), SealFault> {
    let cipher = file_key.payload_cipher(nonce)?;
    // Reserved, so that no copy of the content is left behind where the buffer moved from.
    sealed.reserve_exact(max_sealed_len(content.len()));
    sealed.extend_from_slice(nonce);
    let count = content.len().div_ceil(CHUNK_LEN).max(1);
    for at in 0..count {
        let begin = at * CHUNK_LEN;
        let position = if at + 1 == count { ChunkPosition::Last } else { ChunkPosition::Inner };
        let start = sealed.len();
        sealed.extend_from_slice(&content[begin..content.len().min(begin + CHUNK_LEN)]);
        let tag =
            cipher.seal_in_place_separate_tag(self::nonce(at, position), Aad::empty(), &mut sealed[start..]);
        sealed.extend_from_slice(tag.map_err(|_| SealFault::Machine)?.as_ref());
    }
    Ok(())
}

/// Returns the nonce of a chunk: its number in eleven bytes, and its mark.
fn nonce(at: usize, position: ChunkPosition) -> Nonce {
    let mut nonce = [0; 12];
    nonce[3..11].copy_from_slice(&(at as u64).to_be_bytes());
    nonce[11] = position as u8;
    Nonce::assume_unique_for_key(nonce)
}
