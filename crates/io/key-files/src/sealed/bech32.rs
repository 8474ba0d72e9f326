//! Bech32 (BIP 173) of 32 bytes, for identities and recipients. Decoding has no table and no branch that a secret
//! letter would index or decide.

use zeroize::Zeroizing;

/// The letters of the values 0 to 31.
const LETTERS: &[u8; 32] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";

/// The letters of 32 bytes: five bits each, and four bits of padding.
const DATA_LEN: usize = 52;

/// The letters of the checksum.
const CHECKSUM_LEN: usize = 6;

/// The generator of the checksum.
const GENERATOR: [u32; 5] = [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3];

/// Letters that are not 32 bytes, their prefix and their checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bech32Fault {
    /// The text has another prefix.
    Prefix,
    /// The text is too short or too long, has other letters, or its checksum is wrong.
    Damaged,
}

/// Decodes 32 bytes behind a prefix, which is given as it must be written. All letters have the case of the prefix.
pub(super) fn decode(text: &[u8], prefix: &str) -> Result<Zeroizing<[u8; 32]>, Bech32Fault> {
    let letters = text
        .strip_prefix(prefix.as_bytes())
        .and_then(|rest| rest.strip_prefix(b"1"))
        .ok_or(Bech32Fault::Prefix)?;
    if letters.len() != DATA_LEN + CHECKSUM_LEN {
        return Err(Bech32Fault::Damaged);
    }
    let is_upper = prefix.bytes().any(|byte| byte.is_ascii_uppercase());
    let mut values = Zeroizing::new([0; DATA_LEN + CHECKSUM_LEN]);
    let mut are_all_known = 0xff;
    for (value, letter) in values.iter_mut().zip(letters) {
        let (found, is_known) = value_of(*letter, is_upper);
        *value = found;
        are_all_known &= is_known;
    }
    let checksum = values.iter().fold(prefix_checksum(prefix), |sum, value| step(sum, *value));
    let (bytes, padding) = bytes_of(&values[..DATA_LEN]);
    if are_all_known == 0 || checksum != 1 || padding != 0 {
        return Err(Bech32Fault::Damaged);
    }
    Ok(bytes)
}

/// Encodes 32 bytes behind a prefix of small letters.
pub(super) fn encode(bytes: &[u8; 32], prefix: &str) -> Zeroizing<String> {
    // Reserved, so that no copy is left behind.
    let mut text = Zeroizing::new(String::with_capacity(prefix.len() + 1 + DATA_LEN + CHECKSUM_LEN));
    text.push_str(prefix);
    text.push('1');
    let mut sum = prefix_checksum(prefix);
    for at in 0..DATA_LEN {
        let value = five_bits(bytes, at);
        sum = step(sum, value);
        text.push(LETTERS[usize::from(value)].into());
    }
    let sum = (0..CHECKSUM_LEN).fold(sum, |sum, _| step(sum, 0)) ^ 1;
    for at in (0..CHECKSUM_LEN).rev() {
        text.push(LETTERS[(sum >> (5 * at)) as usize & 31].into());
    }
    text
}

/// Returns the value of a letter, and 0xff if there is one, else 0.
fn value_of(letter: u8, is_upper: bool) -> (u8, u8) {
    let mut value = 0;
    let mut is_known = 0;
    for (number, known) in (0..).zip(LETTERS) {
        let known = if is_upper { known.to_ascii_uppercase() } else { *known };
        // 0xff if the letters are equal, else 0.
        let is_equal = (u16::from(letter ^ known).wrapping_sub(1) >> 8) as u8;
        value |= number & is_equal;
        is_known |= is_equal;
    }
    (value, is_known)
}

/// Begins a checksum with the prefix, in small letters.
fn prefix_checksum(prefix: &str) -> u32 {
    let letters = || prefix.bytes().map(|byte| byte.to_ascii_lowercase());
    let high = letters().map(|byte| byte >> 5);
    high.chain([0]).chain(letters().map(|byte| byte & 31)).fold(1, step)
}

fn step(sum: u32, value: u8) -> u32 {
    let top = sum >> 25;
    let next = ((sum & 0x01ff_ffff) << 5) ^ u32::from(value);
    GENERATOR
        .iter()
        .enumerate()
        .fold(next, |next, (bit, constant)| next ^ (constant & 0_u32.wrapping_sub((top >> bit) & 1)))
}

/// Joins values of five bits. Returns the bytes, and the bits that are left.
fn bytes_of(values: &[u8]) -> (Zeroizing<[u8; 32]>, u32) {
    let mut bytes = Zeroizing::new([0; 32]);
    let (mut bits, mut count, mut at) = (0_u32, 0, 0);
    for value in values {
        bits = (bits << 5) | u32::from(*value);
        count += 5;
        if count >= 8 {
            count -= 8;
            bytes[at] = (bits >> count) as u8;
            bits &= (1 << count) - 1;
            at += 1;
        }
    }
    (bytes, bits)
}

/// Returns the five bits of a letter. The last letter ends with four bits of zero.
fn five_bits(bytes: &[u8; 32], at: usize) -> u8 {
    let (byte, bit) = (5 * at / 8, 5 * at % 8);
    let next = bytes.get(byte + 1).copied().unwrap_or(0);
    (u16::from_be_bytes([bytes[byte], next]) >> (11 - bit)) as u8 & 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_decodes() {
        for seed in 0..50_u8 {
            let bytes: [u8; 32] =
                std::array::from_fn(|at| seed.wrapping_mul(37).wrapping_add((at as u8).wrapping_mul(11)));
            let text = encode(&bytes, "age");
            assert_eq!(text.len(), 62);
            assert_eq!(*decode(text.as_bytes(), "age").unwrap(), bytes);
            let upper = encode(&bytes, "age-secret-key-").to_ascii_uppercase();
            assert_eq!(*decode(upper.as_bytes(), "AGE-SECRET-KEY-").unwrap(), bytes);
        }
    }

    #[test]
    fn every_changed_letter_is_found() {
        let text = encode(&[0xa5; 32], "age");
        for at in 4..text.len() {
            for letter in [b'q', b'p', b'b', b'Q', 0, 0xff] {
                let mut changed = text.as_bytes().to_vec();
                if changed[at] != letter {
                    changed[at] = letter;
                    assert_eq!(decode(&changed, "age"), Err(Bech32Fault::Damaged), "{at}");
                }
            }
        }
        for cut in 4..text.len() {
            assert_eq!(decode(&text.as_bytes()[..cut], "age"), Err(Bech32Fault::Damaged));
        }
        assert_eq!(decode(&[text.as_bytes(), b"q"].concat(), "age"), Err(Bech32Fault::Damaged));
    }

    #[test]
    fn the_case_is_that_of_the_prefix() {
        let text = encode(&[7; 32], "age");
        assert_eq!(decode(text.to_ascii_uppercase().as_bytes(), "age"), Err(Bech32Fault::Prefix));
        let mixed = format!("age1{}", text[4..].to_ascii_uppercase());
        assert_eq!(decode(mixed.as_bytes(), "age"), Err(Bech32Fault::Damaged));
    }

    #[test]
    fn bits_of_the_padding_must_be_zero() {
        // 32 bytes end within a letter: its last four bits are padding. The checksum is right.
        let mut values: Vec<u8> = (0..DATA_LEN).map(|at| five_bits(&[0; 32], at)).collect();
        values[DATA_LEN - 1] = 1;
        let mut sum = values.iter().fold(prefix_checksum("age"), |sum, value| step(sum, *value));
        sum = (0..CHECKSUM_LEN).fold(sum, |sum, _| step(sum, 0)) ^ 1;
        values.extend((0..CHECKSUM_LEN).rev().map(|at| (sum >> (5 * at)) as u8 & 31));
        let text: Vec<u8> =
            b"age1".iter().copied().chain(values.iter().map(|value| LETTERS[usize::from(*value)])).collect();
        assert_eq!(decode(&text, "age"), Err(Bech32Fault::Damaged));
    }
}
