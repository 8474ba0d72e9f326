//! The end of a TLS record in CBC mode, found in constant time.
//!
//! The length of the padding must not decide a branch, an address or the number of hashed blocks: AlFardan and
//! Paterson, "Lucky Thirteen", 2013. So an engine hashes as many blocks as the shortest padding asks for, and masks
//! select the digest after the block that was the last. Lengths of records are public; the byte that states the length
//! of the padding is not.

use std::fmt;
use std::hint::black_box;

use oarlock_core::{MTE_AAD_LEN, MacAlg};
use zeroize::{Zeroize, ZeroizeOnDrop};

/// The bytes of the MAC's header: associated data and the length of the fragment. RFC 5246 6.2.3.1.
const HEADER: usize = MTE_AAD_LEN + 2;

/// The longest padding with the byte that states its length. RFC 5246 6.2.3.2.
const MAX_PADDING: usize = 256;

/// The longest digest.
const MAX_TAG: usize = 64;

/// The longest block of a hash.
const MAX_BLOCK: usize = 128;

/// A decrypted TLS record with its padding, whose length is secret.
#[derive(ZeroizeOnDrop)]
pub struct MteOpening {
    /// The number of bytes of the fragment. Secret.
    fragment_len: usize,
    /// All ones if the padding is well formed, else zero. Secret.
    is_padded: u8,
    /// Associated data and the length of the fragment, which is secret.
    header: [u8; HEADER],
    tag_len: usize,
    block_len: usize,
}

impl MteOpening {
    /// Looks at the padding of decrypted bytes. If the padding is wrong, it counts as the shortest one.
    ///
    /// The result is None if the lengths do not fit the order, or if `mac` is no HMAC.
    #[must_use]
    pub fn new(opened: &[u8], aad: &[u8], mac: MacAlg) -> Option<Self> {
        let (tag_len, block_len) = (mac.tag_len(), mac.hmac_digest()?.block_len());
        let max_fragment = opened.len().checked_sub(tag_len + 1)?;
        let aad: &[u8; MTE_AAD_LEN] = aad.try_into().ok()?;
        // Behind a barrier: the compiler must not learn how this byte is used.
        let padding = black_box(*opened.last()?);
        let mut differs = 0;
        for (at, byte) in opened.iter().rev().take(MAX_PADDING).enumerate() {
            // All ones for the bytes of the padding: `at` is at most 255.
            let is_inside = !is_below(usize::from(padding), at);
            differs |= (byte ^ padding) & is_inside;
        }
        let fits = !is_below(max_fragment, usize::from(padding));
        let is_padded = black_box(is_zero(differs) & fits);
        let fragment_len = max_fragment - usize::from(padding & is_padded);
        let mut header = [0; HEADER];
        header[..MTE_AAD_LEN].copy_from_slice(aad);
        // A record has less than 2^16 bytes.
        header[MTE_AAD_LEN..].copy_from_slice(&(fragment_len as u16).to_be_bytes());
        Some(Self { fragment_len, is_padded, header, tag_len, block_len })
    }

    /// Returns the header of the MAC. Its last two bytes are secret.
    #[must_use]
    pub fn header(&self) -> &[u8] {
        &self.header
    }

    /// Returns the number of hash blocks that are whole in the message for every padding.
    #[must_use]
    pub fn whole_blocks(&self, opened_len: usize) -> usize {
        let min_fragment = opened_len.saturating_sub(self.tag_len + MAX_PADDING);
        (HEADER + min_fragment) / self.block_len
    }

    /// Returns the number of hash blocks of the message with its end, under the shortest padding.
    #[must_use]
    pub fn max_blocks(&self, opened_len: usize) -> usize {
        self.last_block(opened_len.saturating_sub(self.tag_len + 1)) + 1
    }

    /// Returns the index of the last hash block of a message with a fragment of some length. FIPS 180-4 5.1.
    fn last_block(&self, fragment_len: usize) -> usize {
        // A mark of one byte and the length in an eighth of a block follow. The divisor is a power of two, so no
        // instruction takes a time that depends on the length.
        (HEADER + fragment_len + self.block_len / 8) >> self.block_len.trailing_zeros()
    }

    /// Writes hash block `index` of the message with its end to `block`, which has the block's length. Returns all ones
    /// if it is the last block, else zero. Both are secret.
    pub fn fill_block(&self, opened: &[u8], index: usize, block: &mut [u8]) -> u8 {
        let start = index * self.block_len;
        let end = black_box(HEADER + self.fragment_len);
        block.fill(0);
        let from_header = self.header.get(start..).unwrap_or_default();
        let first = from_header.len().min(block.len());
        block[..first].copy_from_slice(&from_header[..first]);
        let from_record = opened.get((start + first).saturating_sub(HEADER)..).unwrap_or_default();
        for (to, from) in block[first..].iter_mut().zip(from_record) {
            *to = *from;
        }
        for (at, byte) in block.iter_mut().enumerate() {
            let index = start + at;
            *byte = *byte & is_below(index, end) | 0x80 & is_same(index, end);
        }
        let is_last = is_same(index, self.last_block(self.fragment_len));
        // The key's block comes before the message. RFC 2104.
        let bits = (8 * (self.block_len + end) as u64).to_be_bytes();
        for (to, from) in block.iter_mut().rev().zip(bits.iter().rev()) {
            *to |= from & is_last;
        }
        is_last
    }

    /// Returns the tag that the record carries, and zeros behind it.
    #[must_use]
    fn carried_tag(&self, opened: &[u8]) -> [u8; MAX_TAG] {
        let mut tag = [0; MAX_TAG];
        let min = opened.len().saturating_sub(self.tag_len + MAX_PADDING);
        let wanted = black_box(self.fragment_len);
        // Every offset at which the tag can be is read.
        for (at, bytes) in opened[min..].windows(self.tag_len).enumerate() {
            let mask = is_same(min + at, wanted);
            for (to, from) in tag.iter_mut().zip(bytes) {
                *to |= from & mask;
            }
        }
        tag
    }

    /// Compares the tag that the record carries with the right one. Returns all ones if they are equal and the padding
    /// is well formed, else zero. Only this verdict may be revealed.
    #[must_use]
    pub fn accepts(&self, opened: &[u8], tag: &[u8]) -> u8 {
        let mut carried = self.carried_tag(opened);
        let mut differs = 0;
        for (received, right) in carried[..self.tag_len].iter().zip(tag) {
            differs |= received ^ right;
        }
        carried.zeroize();
        black_box(is_zero(differs) & self.is_padded)
    }
}

impl fmt::Debug for MteOpening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MteOpening(..)")
    }
}

/// Returns all ones if `left` is below `right`, else zero. Both are below 2^32.
fn is_below(left: usize, right: usize) -> u8 {
    ((left as i64 - right as i64) >> 63) as u8
}

/// Returns all ones if the numbers are equal, else zero. Both are below 2^32.
fn is_same(left: usize, right: usize) -> u8 {
    (((left ^ right) as i64 - 1) >> 63) as u8
}

/// Returns all ones if the byte is zero, else zero.
fn is_zero(byte: u8) -> u8 {
    is_same(usize::from(byte), 0)
}

const _: () = assert!(MAX_BLOCK.is_power_of_two());

#[cfg(test)]
mod tests {
    use super::*;

    /// The blocks of the message with its end, by the length of the fragment.
    fn blocks(header: &[u8], fragment: &[u8], block_len: usize) -> Vec<u8> {
        let mut message = [header, fragment, &[0x80]].concat();
        let len = (message.len() + block_len / 8).next_multiple_of(block_len);
        let bits = 8 * (block_len + message.len() - 1) as u64;
        message.resize(len - 8, 0);
        message.extend(bits.to_be_bytes());
        message
    }

    #[test]
    fn every_padding_gives_the_blocks_of_its_message() {
        let lens: &[usize] = if cfg!(miri) { &[80] } else { &[48, 80, 96, 112, 304, 320, 640] };
        for mac in [MacAlg::HmacSha1, MacAlg::HmacSha256, MacAlg::HmacSha512] {
            let block_len = mac.hmac_digest().unwrap().block_len();
            for &len in lens {
                let mut opened: Vec<u8> = (0..len).map(|at| (at * 7 + 3) as u8).collect();
                for padding in 0..=255 {
                    let Some(fragment_len) = len.checked_sub(padding + 1 + mac.tag_len()) else { continue };
                    opened[len - padding - 1..].fill(padding as u8);
                    let opening = MteOpening::new(&opened, &[9; MTE_AAD_LEN], mac).unwrap();
                    let header = [&[9; MTE_AAD_LEN][..], &(fragment_len as u16).to_be_bytes()].concat();
                    let expected = blocks(&header, &opened[..fragment_len], block_len);
                    assert!(opening.whole_blocks(len) * block_len <= HEADER + fragment_len);
                    let mut found = Vec::new();
                    for index in 0..opening.max_blocks(len) {
                        let mut block = vec![0; block_len];
                        let is_last = opening.fill_block(&opened, index, &mut block);
                        assert_eq!(is_last == 0xFF, (index + 1) * block_len == expected.len());
                        if index * block_len < expected.len() {
                            found.extend(block);
                        }
                    }
                    assert!(found == expected, "{mac}, {len} bytes, padding {padding}");
                    let tag = &opened[fragment_len..fragment_len + mac.tag_len()];
                    assert_eq!(opening.accepts(&opened, tag), 0xFF);
                    let mut wrong = tag.to_vec();
                    wrong[padding % mac.tag_len()] ^= 4;
                    assert_eq!(opening.accepts(&opened, &wrong), 0);
                }
            }
        }
    }

    #[test]
    fn a_wrong_byte_in_the_padding_is_found_at_every_place() {
        let mac = MacAlg::HmacSha1;
        for padding in [0_usize, 1, 15, 60] {
            let mut opened = vec![1; 96];
            opened[95 - padding..].fill(padding as u8);
            for index in 95 - padding..95 {
                opened[index] ^= 0x40;
                let opening = MteOpening::new(&opened, &[0; MTE_AAD_LEN], mac).unwrap();
                assert_eq!(opening.is_padded, 0, "padding {padding}, byte {index}");
                assert_eq!(opening.accepts(&opened, &opened[75..95]), 0);
                opened[index] ^= 0x40;
            }
            assert_eq!(MteOpening::new(&opened, &[0; MTE_AAD_LEN], mac).unwrap().is_padded, 0xFF);
        }
        // The padding fits into the record, but leaves no room for the MAC.
        let opened = [80; 96];
        assert_eq!(MteOpening::new(&opened, &[0; MTE_AAD_LEN], mac).unwrap().is_padded, 0);
        assert!(MteOpening::new(&opened[..20], &[0; MTE_AAD_LEN], mac).is_none());
        assert!(MteOpening::new(&opened, &[0; 12], mac).is_none());
        assert!(MteOpening::new(&opened, &[0; MTE_AAD_LEN], MacAlg::Aes128Cmac).is_none());
    }
}
