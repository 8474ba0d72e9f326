//! The digits that the chains of a one-time key sign: those of a hash value, and those of their checksum.

/// Returns `count` digits of `bits` bits each, most significant first, of which the last are the checksum's. RFC 8554
/// sections 3.1.3 and 4.4; RFC 8391 sections 2.6 and 3.1.5, where `bits` is 4.
pub(super) fn digits(value: &[u8], bits: usize, count: usize) -> Vec<u8> {
    let mut digits = Vec::with_capacity(count);
    push_digits(&mut digits, value, bits);
    let max = (1_u16 << bits) - 1;
    let sum: u16 = digits.iter().map(|digit| max - u16::from(*digit)).sum();
    // The checksum's digits are the highest of two bytes.
    let unused = 16 - bits * (count - digits.len());
    push_digits(&mut digits, &(sum << unused).to_be_bytes(), bits);
    digits.truncate(count);
    digits
}

fn push_digits(digits: &mut Vec<u8>, value: &[u8], bits: usize) {
    let mask = ((1_u16 << bits) - 1) as u8;
    for byte in value {
        digits.extend((0..8 / bits).rev().map(|index| byte >> (index * bits) & mask));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8554 section 3.1.3 has the digits of 0x12 and 0x34.
    #[test]
    fn digits_are_read_from_the_most_significant_bit() {
        let of = |bits| {
            let mut found = Vec::new();
            push_digits(&mut found, &[0x12, 0x34], bits);
            found
        };
        assert_eq!(of(1), [0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 0, 0]);
        assert_eq!(of(2), [0, 1, 0, 2, 0, 3, 1, 0]);
        assert_eq!(of(4), [1, 2, 3, 4]);
        assert_eq!(of(8), [0x12, 0x34]);
    }

    #[test]
    fn a_checksum_stands_in_its_highest_digits() {
        // 64 digits of 0: 64 x 15 = 0x3c0.
        assert_eq!(digits(&[0; 32], 4, 67)[64..], [3, 12, 0]);
        assert_eq!(digits(&[0xFF; 32], 4, 67)[64..], [0, 0, 0]);
        // 32 x 255 = 0x1fe0, and 256 ones in nine bits.
        assert_eq!(digits(&[0; 32], 8, 34)[32..], [0x1F, 0xE0]);
        assert_eq!(digits(&[0; 32], 1, 265)[256..], [1, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(digits(&[0; 24], 2, 101)[96..], [1, 0, 2, 0, 0]);
    }
}
