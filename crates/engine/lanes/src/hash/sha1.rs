//! SHA-1 of many messages side by side, each in a half lane. FIPS 180-4 6.1.2.

use super::{Chain, ChainBytes, MerkleDamgard, WORDS, alone, xor3};
use crate::simd::{Simd, Vector};

/// SHA-1 in half lanes.
#[derive(Debug)]
pub(crate) struct LaneSha1;

/// The initial hash value. FIPS 180-4 5.3.1.
const INITIAL: [u32; 5] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0];

/// The round constants, one for twenty rounds each. FIPS 180-4 4.2.1.
const ROUND: [u32; 4] = [0x5A82_7999, 0x6ED9_EBA1, 0x8F1B_BCDC, 0xCA62_C1D6];

/// The number of rounds. FIPS 180-4 6.1.2.
const ROUNDS: usize = 80;

/// The functions of three words as tables of [`Vector::ternary`]. FIPS 180-4 4.1.1.
const CHOICE: i32 = 0xCA;
const PARITY: i32 = 0x96;
const MAJORITY: i32 = 0xE8;

impl MerkleDamgard for LaneSha1 {
    type Word = u32;

    // Measured: docs/performance/records.md, "One message at a time".
    const ALONE: usize = 2;

    fn initial() -> ChainBytes {
        alone::chain_bytes(INITIAL.map(u32::to_be_bytes))
    }

    #[inline(always)]
    fn rounds<S: Simd, const N: usize>(
        simd: S,
        states: [Chain<S::V>; N],
        words: [[S::V; WORDS]; N],
        mut meanwhile: impl FnMut(usize),
    ) -> [Chain<S::V>; N] {
        let [k0, k1, k2, k3] = ROUND.map(
            #[inline(always)]
            |word| simd.splat32(word),
        );
        // The kind of round changes after 20, 40 and 60 rounds, which are not multiples of 16: hence a table per four.
        let mut all = Sha1Groups { states, words };
        all.sixteen_rounds::<0, CHOICE, CHOICE, CHOICE, CHOICE>([k0, k0, k0, k0], &mut meanwhile);
        all.sixteen_rounds::<16, CHOICE, PARITY, PARITY, PARITY>([k0, k1, k1, k1], &mut meanwhile);
        all.sixteen_rounds::<32, PARITY, PARITY, MAJORITY, MAJORITY>([k1, k1, k2, k2], &mut meanwhile);
        all.sixteen_rounds::<48, MAJORITY, MAJORITY, MAJORITY, PARITY>([k2, k2, k2, k3], &mut meanwhile);
        all.sixteen_rounds::<64, PARITY, PARITY, PARITY, PARITY>([k3, k3, k3, k3], &mut meanwhile);
        all.states
    }

    fn compress_alone(state: &mut ChainBytes, blocks: &[u8]) {
        alone::with_words(state, u32::from_be_bytes, u32::to_be_bytes, |words| {
            ::sha1::block_api::compress(words, blocks.as_chunks().0);
        });
    }
}

/// Working variables and message words of `N` groups.
struct Sha1Groups<V, const N: usize> {
    states: [Chain<V>; N],
    words: [[V; WORDS]; N],
}

impl<V: Vector, const N: usize> Sha1Groups<V, N> {
    /// Runs sixteen rounds from `T` on. Each four have a table, `A` to `D`, and a constant.
    #[inline(always)]
    fn sixteen_rounds<const T: usize, const A: i32, const B: i32, const C: i32, const D: i32>(
        &mut self,
        constants: [V; 4],
        meanwhile: &mut impl FnMut(usize),
    ) {
        meanwhile(T / 4);
        self.four_rounds::<A>(T, constants[0]);
        meanwhile(T / 4 + 1);
        self.four_rounds::<B>(T + 4, constants[1]);
        meanwhile(T / 4 + 2);
        self.four_rounds::<C>(T + 8, constants[2]);
        meanwhile(T / 4 + 3);
        self.four_rounds::<D>(T + 12, constants[3]);
    }

    /// Runs four rounds from `first` on. A used word is replaced by the word sixteen rounds later, if there is one.
    #[inline(always)]
    fn four_rounds<const TABLE: i32>(&mut self, first: usize, constant: V) {
        for round_number in first..first + 4 {
            let t = round_number % WORDS;
            for (state, words) in self.states.iter_mut().zip(&mut self.words) {
                *state = round::<TABLE, V>(*state, words[t].add32(constant));
                if round_number + WORDS < ROUNDS {
                    words[t] = extended(words, t);
                }
            }
        }
    }
}

/// Computes step 1.
#[inline(always)]
fn extended<V: Vector>(w: &[V; WORDS], t: usize) -> V {
    (xor3(w[t], w[(t + 2) % WORDS], w[(t + 8) % WORDS]) ^ w[(t + 13) % WORDS]).rotr32::<31>()
}

/// Computes step 3. `word` is the word of the message plus the constant of the round. The term that waits for `a` is
/// added last.
#[inline(always)]
fn round<const TABLE: i32, V: Vector>([a, b, c, d, e, x, y, z]: Chain<V>, word: V) -> Chain<V> {
    // `a` is the newest word. All that does not need it is added before it is there.
    let early = e.add32(word).add32(b.ternary::<TABLE>(c, d));
    [early.add32(a.rotr32::<27>()), a, b.rotr32::<2>(), c, d, x, y, z]
}
