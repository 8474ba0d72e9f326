//! The permutation Keccak-f[1600]. FIPS 202 section 3.

/// The round constants. FIPS 202 section 3.2.5.
const ROUNDS: [u64; 24] = [
    0x0000_0000_0000_0001,
    0x0000_0000_0000_8082,
    0x8000_0000_0000_808a,
    0x8000_0000_8000_8000,
    0x0000_0000_0000_808b,
    0x0000_0000_8000_0001,
    0x8000_0000_8000_8081,
    0x8000_0000_0000_8009,
    0x0000_0000_0000_008a,
    0x0000_0000_0000_0088,
    0x0000_0000_8000_8009,
    0x0000_0000_8000_000a,
    0x0000_0000_8000_808b,
    0x8000_0000_0000_008b,
    0x8000_0000_0000_8089,
    0x8000_0000_0000_8003,
    0x8000_0000_0000_8002,
    0x8000_0000_0000_0080,
    0x0000_0000_0000_800a,
    0x8000_0000_8000_000a,
    0x8000_0000_8000_8081,
    0x8000_0000_0000_8080,
    0x0000_0000_8000_0001,
    0x8000_0000_8000_8008,
];

/// Permutes a state of 25 words, of which word `x + 5 * y` is the lane at x and y.
pub(crate) fn permute(state: &mut [u64; 25]) {
    for constant in ROUNDS {
        let column = |x: usize| state[x] ^ state[x + 5] ^ state[x + 10] ^ state[x + 15] ^ state[x + 20];
        let columns = [column(0), column(1), column(2), column(3), column(4)];
        // Theta, rho and pi. Written out, because the compiler must see every index and every distance.
        let theta = |x: usize| columns[(x + 4) % 5] ^ columns[(x + 1) % 5].rotate_left(1);
        let mix = [theta(0), theta(1), theta(2), theta(3), theta(4)];
        let moved = |from: usize, by: u32| (state[from] ^ mix[from % 5]).rotate_left(by);
        let rows = [
            [moved(0, 0), moved(6, 44), moved(12, 43), moved(18, 21), moved(24, 14)],
            [moved(3, 28), moved(9, 20), moved(10, 3), moved(16, 45), moved(22, 61)],
            [moved(1, 1), moved(7, 6), moved(13, 25), moved(19, 8), moved(20, 18)],
            [moved(4, 27), moved(5, 36), moved(11, 10), moved(17, 15), moved(23, 56)],
            [moved(2, 62), moved(8, 55), moved(14, 39), moved(15, 41), moved(21, 2)],
        ];
        // Chi and iota.
        for (row, out) in rows.iter().zip(state.as_chunks_mut::<5>().0) {
            *out = [
                row[0] ^ (!row[1] & row[2]),
                row[1] ^ (!row[2] & row[3]),
                row[2] ^ (!row[3] & row[4]),
                row[3] ^ (!row[4] & row[0]),
                row[4] ^ (!row[0] & row[1]),
            ];
        }
        state[0] ^= constant;
    }
}
