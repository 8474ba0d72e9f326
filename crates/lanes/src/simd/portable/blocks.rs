//! AES and GHASH in plain Rust. The S-box is arithmetic in GF(2^8) on planes of bits: slow, but without tables and
//! branches.

use super::{PortableSimd, PortableVector};
use crate::simd::{BLOCK, BlockSimd, LANES, Simd, VECTOR_BYTES, Words};

impl BlockSimd for PortableSimd {
    fn splat_block(self, block: &[u8; BLOCK]) -> PortableVector {
        self.load_bytes(&std::array::from_fn(|at| block[at % BLOCK]))
    }

    fn first_block(self, blocks: PortableVector) -> [u8; BLOCK] {
        std::array::from_fn(|at| bytes_of(blocks)[at])
    }

    fn keep_prefix(self, blocks: PortableVector, len: usize) -> PortableVector {
        let bytes = bytes_of(blocks);
        self.load_bytes(&std::array::from_fn(|at| if at < len { bytes[at] } else { 0 }))
    }

    fn blocks_after(self, blocks: PortableVector, before: PortableVector) -> PortableVector {
        let (blocks, before) = (blocks.0, before.0);
        PortableVector([
            before[6], before[7], blocks[0], blocks[1], blocks[2], blocks[3], blocks[4], blocks[5],
        ])
    }

    fn sum_of_blocks(self, blocks: PortableVector) -> PortableVector {
        let sum = |word: usize| blocks.0.iter().skip(word).step_by(2).fold(0, |sum, word| sum ^ word);
        PortableVector([sum(0), sum(1), 0, 0, 0, 0, 0, 0])
    }

    fn reverse_blocks(self, blocks: PortableVector) -> PortableVector {
        self.swap_words(PortableVector(blocks.0.map(u64::swap_bytes)))
    }

    fn swap_words(self, blocks: PortableVector) -> PortableVector {
        PortableVector(std::array::from_fn(|at| blocks.0[at ^ 1]))
    }

    #[inline(never)]
    fn encrypt_round(self, blocks: PortableVector, key: PortableVector) -> PortableVector {
        mix_columns(shift_rows(substitute(blocks), 1)) ^ key
    }

    #[inline(never)]
    fn encrypt_last(self, blocks: PortableVector, key: PortableVector) -> PortableVector {
        shift_rows(substitute(blocks), 1) ^ key
    }

    /// Applies MixColumns three times, which is InvMixColumns: the polynomial of FIPS 197 has order four.
    #[inline(never)]
    fn decrypt_round(self, blocks: PortableVector, key: PortableVector) -> PortableVector {
        let columns = shift_rows(substitute_inverse(blocks), 3);
        mix_columns(mix_columns(mix_columns(columns))) ^ key
    }

    #[inline(never)]
    fn decrypt_last(self, blocks: PortableVector, key: PortableVector) -> PortableVector {
        shift_rows(substitute_inverse(blocks), 3) ^ key
    }

    #[inline(never)]
    fn multiply_words<const WORDS: i32>(self, a: PortableVector, b: PortableVector) -> PortableVector {
        let (of_a, of_b) = ((WORDS & 1) as usize, (WORDS >> 4 & 1) as usize);
        let mut product: Words = [0; LANES];
        for block in [0, 2, 4, 6] {
            let whole = product_of(a.0[block + of_a], b.0[block + of_b]);
            (product[block], product[block + 1]) = (whole as u64, (whole >> 64) as u64);
        }
        PortableVector(product)
    }
}

fn bytes_of(blocks: PortableVector) -> [u8; VECTOR_BYTES] {
    std::array::from_fn(|at| (blocks.0[at / 8] >> (8 * (at % 8))) as u8)
}

/// Multiplies two polynomials over GF(2).
fn product_of(a: u64, b: u64) -> u128 {
    (0..64).fold(0, |sum, bit| sum ^ ((u128::from(a) << bit) & u128::from(b >> bit & 1).wrapping_neg()))
}

/// Planes of sixty-four bytes: word `i` has bit `i` of every byte.
type Planes = [u64; 8];

/// Computes SubBytes: the inverse in GF(2^8), then an affine map. FIPS 197 5.1.1.
fn substitute(blocks: PortableVector) -> PortableVector {
    let inverse = inverse(planes_of(blocks.0));
    let rotated = |at: usize| (0..5).fold(0, |sum, by| sum ^ inverse[(at + 8 - by) % 8]);
    let planes = std::array::from_fn(|at| rotated(at) ^ constant(0x63, at));
    PortableVector(planes_of_planes(planes))
}

/// Computes InvSubBytes: the inverse of the affine map, then the inverse in GF(2^8). FIPS 197 5.3.2.
fn substitute_inverse(blocks: PortableVector) -> PortableVector {
    let planes = planes_of(blocks.0);
    let rotated = |at: usize| planes[(at + 2) % 8] ^ planes[(at + 5) % 8] ^ planes[(at + 7) % 8];
    let planes = std::array::from_fn(|at| rotated(at) ^ constant(0x05, at));
    PortableVector(planes_of_planes(inverse(planes)))
}

/// Returns a bit of a constant for every byte.
fn constant(byte: u64, bit: usize) -> u64 {
    (byte >> bit & 1).wrapping_neg()
}

/// Computes the inverse in GF(2^8) as the 254th power, which maps zero to zero.
fn inverse(x: Planes) -> Planes {
    let square = |x: Planes| multiply(x, x);
    let x3 = multiply(square(x), x);
    let x12 = square(square(x3));
    let x15 = multiply(x12, x3);
    let x240 = square(square(square(square(x15))));
    multiply(multiply(x240, x12), square(x))
}

/// Multiplies in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1. FIPS 197 4.2.
fn multiply(a: Planes, b: Planes) -> Planes {
    let mut product = [0; 15];
    for (at, one) in a.iter().enumerate() {
        for (by, two) in b.iter().enumerate() {
            product[at + by] ^= one & two;
        }
    }
    for at in (8..15).rev() {
        for below in [8, 7, 5, 4] {
            product[at - below] ^= product[at];
        }
    }
    std::array::from_fn(|at| product[at])
}

/// Turns eight words of eight bytes into planes: byte `w` of plane `i` has bit `i` of the bytes of word `w`.
fn planes_of(words: Words) -> Planes {
    transpose_bytes(words.map(transpose_bits))
}

/// Turns planes back into words.
fn planes_of_planes(planes: Planes) -> Words {
    transpose_bytes(planes).map(transpose_bits)
}

/// Transposes bytes: byte `i` of word `j` becomes byte `j` of word `i`.
fn transpose_bytes(words: Words) -> Words {
    std::array::from_fn(|to| {
        words.iter().enumerate().fold(0, |word, (at, from)| word | (from >> (8 * to) & 0xFF) << (8 * at))
    })
}

/// Transposes bits: bit `i` of byte `j` becomes bit `j` of byte `i`.
fn transpose_bits(word: u64) -> u64 {
    let swap = |word: u64, by: u32, mask: u64| {
        let changed = (word ^ word >> by) & mask;
        word ^ changed ^ changed << by
    };
    let word = swap(word, 7, 0x00AA_00AA_00AA_00AA);
    swap(swap(word, 14, 0x0000_CCCC_0000_CCCC), 28, 0x0000_0000_F0F0_F0F0)
}

/// Moves row r of each block by `columns` r columns to the left: 1 is ShiftRows, 3 is InvShiftRows. FIPS 197 5.1.2.
fn shift_rows(blocks: PortableVector, columns: usize) -> PortableVector {
    let bytes = bytes_of(blocks);
    let from = |at: usize| at / BLOCK * BLOCK + (at + 4 * columns * (at % 4)) % BLOCK;
    PortableSimd.load_bytes(&std::array::from_fn(|at| bytes[from(at)]))
}

/// Multiplies each column by {03}x^3 + {01}x^2 + {01}x + {02}. FIPS 197 5.1.3.
fn mix_columns(blocks: PortableVector) -> PortableVector {
    PortableVector(blocks.0.map(|word| {
        let turned = |rows: u32| {
            let half = |half: u64| u64::from((half as u32).rotate_right(8 * rows));
            half(word) | half(word >> 32) << 32
        };
        let changed = word ^ turned(1);
        let high_changed = changed >> 7 & 0x0101_0101_0101_0101;
        let doubled = ((changed & !0x8080_8080_8080_8080) << 1) ^ (high_changed * 0x1B);
        // Uses 2a + 3b + c + d = 2 (a + b) + b + c + d.
        doubled ^ turned(1) ^ turned(2) ^ turned(3)
    }))
}

#[cfg(test)]
mod tests;
