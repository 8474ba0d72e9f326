//! Keccak-f\[1600\] of many states side by side, one per lane. FIPS 202.

use crate::simd::{Simd, Vector};

/// The words of a state.
pub(crate) const STATE_WORDS: usize = 25;

/// A state in each lane, word by word: word `x + 5 y` is lane (x, y) of FIPS 202 3.1.2.
pub(crate) type KeccakState<V> = [V; STATE_WORDS];

/// The words of a block of SHA3-256 and SHAKE256.
pub(crate) const RATE_256: usize = 17;

/// The words of a block of SHA3-224.
pub(crate) const RATE_224: usize = 18;

/// The words of a block of SHA3-384.
pub(crate) const RATE_384: usize = 13;

/// The words of a block of SHA3-512.
pub(crate) const RATE_512: usize = 9;

/// The words of a block of SHAKE128.
pub(crate) const RATE_128: usize = 21;

/// The last bit of every padded message, in the last word of its block. FIPS 202 5.1.
pub(crate) const LAST_BIT: u64 = 1 << 63;

/// The suffix and the first bit of the padding of SHA-3. FIPS 202 6.1.
pub(crate) const SHA3_SUFFIX: u64 = 0x06;

/// The suffix and the first bit of the padding of SHAKE. FIPS 202 6.2.
pub(crate) const SHAKE_SUFFIX: u64 = 0x1F;

/// The round constants, two rounds each. FIPS 202 3.2.5.
const ROUND_PAIRS: [[u64; 2]; 12] = [
    [0x0000_0000_0000_0001, 0x0000_0000_0000_8082],
    [0x8000_0000_0000_808A, 0x8000_0000_8000_8000],
    [0x0000_0000_0000_808B, 0x0000_0000_8000_0001],
    [0x8000_0000_8000_8081, 0x8000_0000_0000_8009],
    [0x0000_0000_0000_008A, 0x0000_0000_0000_0088],
    [0x0000_0000_8000_8009, 0x0000_0000_8000_000A],
    [0x0000_0000_8000_808B, 0x8000_0000_0000_008B],
    [0x8000_0000_0000_8089, 0x8000_0000_0000_8003],
    [0x8000_0000_0000_8002, 0x8000_0000_0000_0080],
    [0x0000_0000_0000_800A, 0x8000_0000_8000_000A],
    [0x8000_0000_8000_8081, 0x8000_0000_0000_8080],
    [0x0000_0000_8000_0001, 0x8000_0000_8000_8008],
];

/// Permutes every state. FIPS 202 3.3.
pub(crate) fn permute<S: Simd>(simd: S, state: &mut KeccakState<S::V>) {
    simd.call(
        #[inline(always)]
        || {
            for [first, second] in ROUND_PAIRS {
                let between = simd.step(
                    #[inline(always)]
                    || round(simd, state, first),
                );
                *state = simd.step(
                    #[inline(always)]
                    || round(simd, &between, second),
                );
            }
        },
    );
}

/// Absorbs words into blocks of `rate` words, of which `at` words are there, and pads the last one. FIPS 202 algorithm
/// 8.
pub(crate) fn absorb<S: Simd>(
    simd: S,
    state: &mut KeccakState<S::V>,
    mut at: usize,
    rate: usize,
    suffix: u64,
    words: impl IntoIterator<Item = S::V>,
) {
    let mut words = words.into_iter();
    let mut is_whole = true;
    while is_whole {
        simd.call(
            #[inline(always)]
            || {
                while at < rate {
                    let Some(word) = words.next() else {
                        is_whole = false;
                        break;
                    };
                    state[at] = state[at] ^ word;
                    at += 1;
                }
            },
        );
        if is_whole {
            permute(simd, state);
            at = 0;
        }
    }
    pad(simd, state, at, rate, suffix);
    permute(simd, state);
}

/// Adds a suffix and the last bit of the padding to a block of which `at` words are there. FIPS 202 5.1 and 6.
pub(crate) fn pad<S: Simd>(simd: S, state: &mut KeccakState<S::V>, at: usize, rate: usize, suffix: u64) {
    simd.call(
        #[inline(always)]
        || {
            state[at] = state[at] ^ simd.splat(suffix);
            state[rate - 1] = state[rate - 1] ^ simd.splat(LAST_BIT);
        },
    );
}

/// Computes one round. FIPS 202 3.2.1 to 3.2.5.
#[inline(always)]
fn round<S: Simd>(simd: S, a: &KeccakState<S::V>, constant: u64) -> KeccakState<S::V> {
    let parity = |x: usize| a[x].ternary::<0x96>(a[x + 5], a[x + 10]).ternary::<0x96>(a[x + 15], a[x + 20]);
    let c = [parity(0), parity(1), parity(2), parity(3), parity(4)];
    let turned =
        [c[0].rotr::<63>(), c[1].rotr::<63>(), c[2].rotr::<63>(), c[3].rotr::<63>(), c[4].rotr::<63>()];
    // Theta, at the word where it is used.
    let theta = |at: usize| a[at].ternary::<0x96>(c[(at + 4) % 5], turned[(at + 1) % 5]);
    // Rho and pi: the rows take their words from the diagonals. A rotation to the left by n is one to the right by
    // 64 - n.
    let rows = [
        [
            theta(0),
            theta(6).rotr::<20>(),
            theta(12).rotr::<21>(),
            theta(18).rotr::<43>(),
            theta(24).rotr::<50>(),
        ],
        [
            theta(3).rotr::<36>(),
            theta(9).rotr::<44>(),
            theta(10).rotr::<61>(),
            theta(16).rotr::<19>(),
            theta(22).rotr::<3>(),
        ],
        [
            theta(1).rotr::<63>(),
            theta(7).rotr::<58>(),
            theta(13).rotr::<39>(),
            theta(19).rotr::<56>(),
            theta(20).rotr::<46>(),
        ],
        [
            theta(4).rotr::<37>(),
            theta(5).rotr::<28>(),
            theta(11).rotr::<54>(),
            theta(17).rotr::<49>(),
            theta(23).rotr::<8>(),
        ],
        [
            theta(2).rotr::<2>(),
            theta(8).rotr::<9>(),
            theta(14).rotr::<25>(),
            theta(15).rotr::<23>(),
            theta(21).rotr::<62>(),
        ],
    ];
    let mut next = [simd.zero(); STATE_WORDS];
    for (row, out) in rows.iter().zip(next.as_chunks_mut::<5>().0) {
        for (x, word) in out.iter_mut().enumerate() {
            *word = chi(row[x], row[(x + 1) % 5], row[(x + 2) % 5]);
        }
    }
    next[0] = next[0] ^ simd.splat(constant);
    next
}

/// Computes `a ^ (!b & c)`. FIPS 202 3.2.4.
#[inline(always)]
fn chi<V: Vector>(a: V, b: V, c: V) -> V {
    if V::HAS_TERNARY { a.ternary::<0xD2>(b, c) } else { a ^ b.and_not(c) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::PortableSimd;

    /// The first row of the permutation of zeros, from the reference code package of Keccak's authors.
    const OF_ZEROS: [u64; 5] = [
        0xF125_8F79_40E1_DDE7,
        0x84D5_CCF9_33C0_478A,
        0xD598_261E_A65A_A9EE,
        0xBD15_4730_6F80_494D,
        0x8B28_4E05_6253_D057,
    ];

    fn zeros_are_permuted<S: Simd>() {
        let Some(simd) = S::detect() else {
            eprintln!("SKIPPED: this processor has no leaf {}", S::LEAF.name());
            return;
        };
        let mut state = [simd.zero(); STATE_WORDS];
        permute(simd, &mut state);
        for (word, expected) in state.iter().zip(OF_ZEROS) {
            assert!(word.words().as_ref().iter().all(|word| *word == expected), "{:?}", S::LEAF);
        }
    }

    #[test]
    fn zeros_are_permuted_on_every_leaf() {
        zeros_are_permuted::<PortableSimd>();
        #[cfg(target_arch = "x86_64")]
        {
            zeros_are_permuted::<crate::simd::IfmaSimd>();
            zeros_are_permuted::<crate::simd::Avx2Simd>();
        }
        #[cfg(target_arch = "aarch64")]
        zeros_are_permuted::<crate::simd::NeonSimd>();
    }
}
