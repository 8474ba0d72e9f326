//! FF1, the encryption that keeps a text's length and alphabet. NIST SP 800-38G 5.1.
//!
//! [`Ff1Sizes`] is what follows from a record's lengths. [`crypt`] computes records of every length with the block
//! cipher of an engine. It reads no table and takes no branch that depends on numerals. `docs/math/ff1.md` explains
//! the arithmetic.

mod number;
mod sizes;

use oarlock_core::{Direction, Status};
use zeroize::Zeroizing;

use self::number::Modulus;
pub use self::sizes::Ff1Sizes;

/// The bytes of an AES block.
const BLOCK: usize = 16;

/// The rounds of the Feistel network.
pub const FF1_ROUNDS: u8 = 10;

/// Encrypts or decrypts the numerals of `input` into `output`, which is as long. `encrypt` encrypts a block of AES.
///
/// A numeral is one byte for a radix of up to 256, and two bytes, big-endian, for a larger one.
///
/// # Errors
/// [`Status::OutOfRange`] for a numeral that is not below the radix, [`Status::BadLength`] if `output` has another
/// length.
pub fn crypt(
    sizes: &Ff1Sizes,
    direction: Direction,
    tweak: &[u8],
    input: &[u8],
    output: &mut [u8],
    encrypt: impl Fn(&mut [u8; BLOCK]),
) -> Result<(), Status> {
    if output.len() != input.len() {
        return Err(Status::BadLength);
    }
    if !sizes.are_numerals(input) {
        return Err(Status::OutOfRange);
    }
    let (left, right) = sizes.halves(input);
    let moduli = [Modulus::power(sizes.radix(), sizes.left()), Modulus::power(sizes.radix(), sizes.right())];
    let limbs = moduli[1].limbs().len();
    let [mut a, mut b] =
        [left, right].map(|half| number::of_numerals(sizes.radix(), sizes.numerals(half), limbs));
    let mut rounds = RoundFunction::new(sizes, tweak, &encrypt);
    for step in 0..FF1_ROUNDS {
        match direction {
            Direction::Encrypt => {
                let modulus = &moduli[usize::from(step % 2)];
                modulus.add(&mut a, rounds.value(step, &b));
            }
            Direction::Decrypt => {
                let round = FF1_ROUNDS - 1 - step;
                let modulus = &moduli[usize::from(round % 2)];
                modulus.subtract(&mut b, rounds.value(round, &a));
            }
        }
        std::mem::swap(&mut a, &mut b);
    }
    let (left, right) = sizes.halves_mut(output);
    for (number, out) in [(&mut a, left), (&mut b, right)] {
        number::write_numerals(number, sizes.radix(), sizes.numeral_bytes(), out);
    }
    Ok(())
}

/// The function of a round. SP 800-38G algorithm 7, steps 6i to 6iv.
struct RoundFunction<'a, E> {
    encrypt: &'a E,
    /// The CBC-MAC of everything that is the same in all rounds.
    start: Zeroizing<[u8; BLOCK]>,
    /// The blocks behind it: the rest of the tweak, zeros, the number of the round, and half of the numerals.
    tail: Zeroizing<Vec<u8>>,
    number_len: usize,
    /// The result: the bytes of S, and the same as a number.
    stream: Zeroizing<Vec<u8>>,
    value: Zeroizing<Vec<u32>>,
}

impl<'a, E: Fn(&mut [u8; BLOCK])> RoundFunction<'a, E> {
    fn new(sizes: &Ff1Sizes, tweak: &[u8], encrypt: &'a E) -> Self {
        let mut start = Zeroizing::new(sizes.first_block());
        encrypt(&mut start);
        let (blocks, rest) = tweak.as_chunks();
        chain(&mut start, blocks, encrypt);
        let number_len = sizes.number_len();
        let tail_len = (rest.len() + 1 + number_len).next_multiple_of(BLOCK);
        let mut tail = Zeroizing::new(vec![0; tail_len]);
        tail[..rest.len()].copy_from_slice(rest);
        let stream_len = sizes.stream_len();
        let stream = Zeroizing::new(vec![0; stream_len.next_multiple_of(BLOCK)]);
        let value = Zeroizing::new(vec![0; stream_len / 4]);
        Self { encrypt, start, tail, number_len, stream, value }
    }

    /// Returns the value y of a round for a half of the numerals.
    fn value(&mut self, round: u8, half: &[u32]) -> &[u32] {
        let number_at = self.tail.len() - self.number_len;
        self.tail[number_at - 1] = round;
        number::write_bytes(half, &mut self.tail[number_at..]);
        let mut mac = self.start.clone();
        chain(&mut mac, self.tail.as_chunks().0, self.encrypt);
        for (at, out) in (0_u32..).zip(self.stream.as_chunks_mut().0) {
            *out = *mac;
            // Block 0 is the MAC itself, and block j the encryption of the MAC XOR j.
            if at > 0 {
                for (byte, number) in out[BLOCK - 4..].iter_mut().zip(at.to_be_bytes()) {
                    *byte ^= number;
                }
                (self.encrypt)(out);
            }
        }
        let bytes = &self.stream[..4 * self.value.len()];
        for (limb, bytes) in self.value.iter_mut().zip(bytes.as_chunks().0.iter().rev()) {
            *limb = u32::from_be_bytes(*bytes);
        }
        &self.value
    }
}

/// Continues a CBC-MAC.
fn chain(state: &mut [u8; BLOCK], blocks: &[[u8; BLOCK]], encrypt: impl Fn(&mut [u8; BLOCK])) {
    for block in blocks {
        for (byte, other) in state.iter_mut().zip(block) {
            *byte ^= other;
        }
        encrypt(state);
    }
}
