//! The leaves agree with the portable leaf, operation by operation.

use zeroize::Zeroize;

use super::*;

/// Returns words at the edges of 52 and 64 bits, and others (SplitMix64).
pub(super) fn samples(seed: u64) -> Words {
    let edges = [0, 1, (1 << 52) - 1, 1 << 52, (1 << 51) + 1, u64::MAX, 1 << 63, 15];
    let mut state = seed;
    std::array::from_fn(|lane| {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = state;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^= word >> 31;
        if word & 3 == 0 { edges[(word >> 8) as usize % edges.len()] } else { word ^ lane as u64 }
    })
}

/// Returns a vector after its first bytes were stored over other bytes.
fn stored<S: Simd>(simd: S, vector: S::V, len: usize) -> S::V {
    let mut out = [0x5A; 80];
    vector.store_prefix(&mut out[..len]);
    assert!(out[len..].iter().all(|byte| *byte == 0x5A));
    simd.load_prefix(&out)
}

/// Returns the lanes of a vector as a list.
fn list<V: Vector>(vector: V) -> Vec<u64> {
    vector.words().as_ref().to_vec()
}

/// Returns the results of every operation of [`Simd`] and [`Vector`] on three vectors.
fn plain<S: Simd>(simd: S, words: [&Words; 3]) -> Vec<Vec<u64>> {
    simd.call(|| {
        let [a, b, c] = words.map(|words| simd.load(&LaneArray::from_fn(|lane| words[lane])));
        let vectors = [
            a + b,
            a - b,
            a & b,
            a | b,
            a ^ b,
            !a,
            a.and_not(b),
            a.shl::<0>(),
            a.shl::<11>(),
            a.shl::<32>(),
            a.shr::<0>(),
            a.shr::<52>(),
            a.rotr::<19>(),
            a.rotr::<8>(),
            a.swap_bytes(),
            simd.load_bytes(&LaneArray::from_fn(|at| (at * at) as u8)),
            a.ternary::<0x96>(b, c),
            a.ternary::<0xCA>(b, c),
            a.ternary::<0xE8>(b, c),
            a.ternary::<0x1B>(b, c),
            a.add_if(0b1010_0110, b),
            a.add_if(0b0101_1001, b),
            a.add32(b),
            a.add32_if(0b1010_0110_0111_0001, b),
            a.add32_if(0b0101_1001_1000_1110, b),
            a.shr32::<10>(),
            a.rotr32::<7>(),
            a.rotr32::<16>(),
            a.swap_bytes32(),
            simd.splat32(0x8000_0001),
            simd.splat(7),
            simd.zero(),
        ];
        let bytes: Vec<u8> = (0..70).map(|at| 3 * at + 1).collect();
        let prefixes = (0..=70).map(|len| simd.load_prefix(&bytes[..len]));
        let stores = (0..=70).map(|len| stored(simd, a, len));
        let rows = LaneArray::from_fn(|row| a + simd.splat(row as u64));
        let mut halves = std::array::from_fn(|row| a + simd.splat((row as u64) << 32 | row as u64));
        S::V::transpose32(&mut halves);
        let transposed = S::V::transpose(rows);
        let all = vectors.into_iter().chain(prefixes).chain(stores);
        all.chain(transposed.as_ref().iter().copied()).chain(halves).map(list).collect()
    })
}

/// Returns the results of every operation of [`MulVector`] on three vectors.
fn products<S: MulSimd>(simd: S, [a, b, c]: [&Words; 3]) -> Vec<Words> {
    simd.call(|| {
        let (a, b, c) = (simd.load(a), simd.load(b), simd.load(c));
        let count = b & simd.splat(127);
        let mask = 0b1010_0110;
        let vectors = [
            a.madd_lo(b, c),
            a.madd_hi(b, c),
            a.pinned_lo(b, c),
            a.pinned_hi(b, c),
            BlindMulVector::fetch(&a),
            a.sar::<52>(),
            a.shr_each(count),
            a.shl_each(count),
            a.or_if(mask, b),
            a.sub_if(mask, b),
            c.pick16(a, b),
        ];
        let masks = [a.is_equal(b), a.is_equal(a), a.is_below(b), b.is_below(a), a.has_any(b)];
        let rows = std::array::from_fn(|row| a + simd.splat(row as u64));
        let words = vectors.into_iter().chain(S::V::transpose8(rows)).map(|vector| vector.words());
        words.chain(masks.map(|mask| [u64::from(mask); LANES])).collect()
    })
}

/// Compares the results of a leaf with those of the portable leaf for many inputs.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn compare<T: PartialEq + Debug>(
    found: impl Fn([&Words; 3]) -> Vec<T>,
    expected: impl Fn([&Words; 3]) -> Vec<T>,
) {
    for seed in 0..if cfg!(miri) { 2 } else { 200 } {
        let [a, b, c] = [0, 1, 2].map(|part| samples(3 * seed + part));
        let (found, expected) = (found([&a, &b, &c]), expected([&a, &b, &c]));
        assert_eq!(found.len(), expected.len());
        for (at, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert_eq!(found, expected, "operation {at} of seed {seed}");
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn avx512_agrees_with_the_portable_leaf() {
    let Some(ifma) = IfmaSimd::detect() else {
        eprintln!("SKIPPED: this processor has no AVX-512 IFMA");
        return;
    };
    compare(|words| plain(ifma, words), |words| plain(PortableSimd::<8>, words));
    compare(|words| products(ifma, words), |words| products(PortableSimd::<8>, words));
}

#[cfg(target_arch = "x86_64")]
#[test]
fn avx2_agrees_with_the_portable_leaf_of_its_width() {
    let Some(avx2) = Avx2Simd::detect() else {
        eprintln!("SKIPPED: this processor has no AVX2");
        return;
    };
    compare(|words| plain(avx2, words), |words| plain(PortableSimd::<4>, words));
}

#[cfg(target_arch = "aarch64")]
#[test]
fn neon_agrees_with_the_portable_leaf_of_its_width() {
    let Some(neon) = NeonSimd::detect() else {
        eprintln!("SKIPPED: this processor has no NEON");
        return;
    };
    compare(|words| plain(neon, words), |words| plain(PortableSimd::<2>, words));
}

#[test]
fn the_portable_leaf_does_what_the_instructions_are_documented_to_do() {
    let simd = PortableSimd::<8>;
    let (a, b) = (simd.splat((1 << 52) - 1), simd.splat(u64::MAX));
    assert_eq!(simd.splat(5).madd_lo(a, b).words(), [6; LANES]);
    assert_eq!(simd.splat(5).madd_hi(a, b).words(), [5 + (1 << 52) - 2; LANES]);
    let table = simd.load(&[10, 11, 12, 13, 14, 15, 16, 17]);
    let index = simd.load(&[0, 1, 7, 8, 9, 15, 16, 33]);
    assert_eq!(index.pick16(table, table + simd.splat(8)).words(), [10, 11, 17, 18, 19, 25, 10, 11]);
    assert_eq!(a.ternary::<0xCA>(simd.splat(0xF0), simd.splat(0x0F)).words()[0] & 0xFF, 0xF0);
    assert_eq!(products(simd, [&samples(1), &samples(2), &samples(3)]).len(), 24);
}

#[test]
fn vectors_and_bytes_are_erased() {
    let mut vector = PortableSimd::<8>.splat(7);
    vector.zeroize();
    assert_eq!(vector.words(), [0; LANES]);
    let mut bytes = [7; 150];
    erase(&mut bytes[1..149]);
    assert!(bytes[0] == 7 && bytes[1..149] == [0; 148] && bytes[149] == 7);
}
