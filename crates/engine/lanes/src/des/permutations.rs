//! The permutations of DES, as FIPS 46-3 prints them: entry `i` is the number (from 1) of the input bit that becomes
//! bit `i`.

/// Permuted choice 1: the halves C and D of the key without its parity bits.
pub(super) const PC1: [[u8; 28]; 2] = [
    [
        57, 49, 41, 33, 25, 17, 9, 1, 58, 50, 42, 34, 26, 18, 10, 2, 59, 51, 43, 35, 27, 19, 11, 3, 60, 52,
        44, 36,
    ],
    [
        63, 55, 47, 39, 31, 23, 15, 7, 62, 54, 46, 38, 30, 22, 14, 6, 61, 53, 45, 37, 29, 21, 13, 5, 28, 20,
        12, 4,
    ],
];

/// Permuted choice 2: 24 bits of C, then 24 of D, which is counted from 29.
pub(super) const PC2: [u8; 48] = [
    14, 17, 11, 24, 1, 5, 3, 28, 15, 6, 21, 10, 23, 19, 12, 4, 26, 8, 16, 7, 27, 20, 13, 2, //
    41, 52, 31, 37, 47, 55, 30, 40, 51, 45, 33, 48, 44, 49, 39, 56, 34, 53, 46, 42, 50, 36, 29, 32,
];

/// Left shifts of C and D before each round.
pub(super) const SHIFTS: [u8; 16] = [1, 1, 2, 2, 2, 2, 2, 2, 1, 2, 2, 2, 2, 2, 2, 1];

/// The initial permutation: the halves L and R.
pub(super) const IP: [[u8; 32]; 2] = [
    [
        58, 50, 42, 34, 26, 18, 10, 2, 60, 52, 44, 36, 28, 20, 12, 4, 62, 54, 46, 38, 30, 22, 14, 6, 64, 56,
        48, 40, 32, 24, 16, 8,
    ],
    [
        57, 49, 41, 33, 25, 17, 9, 1, 59, 51, 43, 35, 27, 19, 11, 3, 61, 53, 45, 37, 29, 21, 13, 5, 63, 55,
        47, 39, 31, 23, 15, 7,
    ],
];

/// The permutation after the S-boxes.
pub(super) const P: [u8; 32] = [
    16, 7, 20, 21, 29, 12, 28, 17, 1, 15, 23, 26, 5, 18, 31, 10, 2, 8, 24, 14, 32, 27, 3, 9, 19, 13, 30, 6,
    22, 11, 4, 25,
];
