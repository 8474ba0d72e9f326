//! The rounds of SHA-2, which has one structure for words of 32 and of 64 bits. FIPS 180-4 6.2.2 and 6.4.2.

use super::{Chain, HashWord, MerkleDamgard, WORDS};
use crate::simd::{Simd, Vector};

/// The functions and constants of a member of the family. FIPS 180-4 4.1.2 and 4.1.3.
pub(super) trait Sha2Rounds: MerkleDamgard {
    /// The round constants, a multiple of sixteen.
    const ROUND: &'static [Self::Word];

    /// Returns the large sigma 0 of the working variable a.
    fn sum0<V: Vector>(a: V) -> V;

    /// Returns the large sigma 1 of the working variable e.
    fn sum1<V: Vector>(e: V) -> V;

    /// Returns the small sigma 0 of the message word fifteen steps back.
    fn sigma0<V: Vector>(word: V) -> V;

    /// Returns the small sigma 1 of the message word two steps back.
    fn sigma1<V: Vector>(word: V) -> V;
}

/// Runs all rounds over a block of every lane of `N` groups.
#[inline(always)]
pub(super) fn rounds<S: Simd, F: Sha2Rounds, const N: usize>(
    simd: S,
    mut states: [Chain<S::V>; N],
    mut words: [[S::V; WORDS]; N],
    mut meanwhile: impl FnMut(usize),
) -> [Chain<S::V>; N] {
    // The last sixteen rounds are apart, because they extend no words.
    if let Some((last, others)) = F::ROUND.as_chunks().0.split_last() {
        for (at, constants) in others.iter().enumerate() {
            sixteen_rounds::<true, S, F, N>(
                simd,
                &mut states,
                &mut words,
                constants,
                #[inline(always)]
                |quarter| meanwhile(4 * at + quarter),
            );
        }
        sixteen_rounds::<false, S, F, N>(
            simd,
            &mut states,
            &mut words,
            last,
            #[inline(always)]
            |quarter| meanwhile(4 * others.len() + quarter),
        );
    }
    states
}

/// Runs sixteen rounds. They are written out, so that words pass from step to step in registers. Through memory they
/// would wait for their stores.
#[inline(always)]
fn sixteen_rounds<const EXTENDS: bool, S: Simd, F: Sha2Rounds, const N: usize>(
    simd: S,
    states: &mut [Chain<S::V>; N],
    words: &mut [[S::V; WORDS]; N],
    constants: &[F::Word; WORDS],
    mut meanwhile: impl FnMut(usize),
) {
    meanwhile(0);
    four_rounds::<0, EXTENDS, S, F, N>(simd, states, words, constants);
    meanwhile(1);
    four_rounds::<4, EXTENDS, S, F, N>(simd, states, words, constants);
    meanwhile(2);
    four_rounds::<8, EXTENDS, S, F, N>(simd, states, words, constants);
    meanwhile(3);
    four_rounds::<12, EXTENDS, S, F, N>(simd, states, words, constants);
}

/// Runs four rounds from `T` on. A used word is replaced by the word sixteen rounds later.
#[inline(always)]
fn four_rounds<const T: usize, const EXTENDS: bool, S: Simd, F: Sha2Rounds, const N: usize>(
    simd: S,
    states: &mut [Chain<S::V>; N],
    words: &mut [[S::V; WORDS]; N],
    constants: &[F::Word; WORDS],
) {
    for t in T..T + 4 {
        let constant = F::Word::splat(simd, constants[t]);
        for (state, words) in states.iter_mut().zip(words.iter_mut()) {
            *state = round::<S::V, F>(*state, F::Word::add(words[t], constant));
            if EXTENDS {
                words[t] = extended::<S::V, F>(words, t);
            }
        }
    }
}

/// Computes step 1.
#[inline(always)]
fn extended<V: Vector, F: Sha2Rounds>(w: &[V; WORDS], t: usize) -> V {
    let (sigma1, sigma0) = (F::sigma1(w[(t + 14) % WORDS]), F::sigma0(w[(t + 1) % WORDS]));
    F::Word::add(F::Word::add(F::Word::add(w[(t + 9) % WORDS], w[t]), sigma0), sigma1)
}

/// Computes step 3. `word` is the word of the message plus the constant of the round. The sum that waits for `e` is
/// computed last.
#[inline(always)]
fn round<V: Vector, F: Sha2Rounds>([a, b, c, d, e, f, g, h]: Chain<V>, word: V) -> Chain<V> {
    let (sum1, sum0) = (F::sum1(e), F::sum0(a));
    let (choice, majority) = (e.ternary::<0xCA>(f, g), a.ternary::<0xE8>(b, c));
    let early = F::Word::add(F::Word::add(h, word), choice);
    let next_e = F::Word::add(F::Word::add(d, early), sum1);
    let next_a = F::Word::add(F::Word::add(F::Word::add(early, majority), sum1), sum0);
    [next_a, a, b, c, next_e, e, f, g]
}
