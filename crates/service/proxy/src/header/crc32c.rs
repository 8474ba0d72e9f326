//! CRC-32C (Castagnoli), the checksum of headers of version 2. RFC 3720 B.4.

/// The polynomial, with its bits reversed.
const POLYNOMIAL: u32 = 0x82f6_3b78;

const TABLE: [u32; 256] = table();

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut value, mut bit) = (byte as u32, 0);
        while bit < 8 {
            value = if value & 1 == 1 { (value >> 1) ^ POLYNOMIAL } else { value >> 1 };
            bit += 1;
        }
        table[byte] = value;
        byte += 1;
    }
    table
}

/// Returns the checksum of the pieces, one after the other.
pub(super) fn checksum(pieces: &[&[u8]]) -> u32 {
    let bytes = pieces.iter().copied().flatten();
    !bytes.fold(u32::MAX, |crc, byte| TABLE[usize::from(crc as u8 ^ byte)] ^ (crc >> 8))
}

#[cfg(test)]
mod tests {
    use super::checksum;

    #[test]
    fn the_examples_of_rfc_3720_b_4() {
        assert_eq!(checksum(&[&[0; 32]]), 0x8a91_36aa);
        assert_eq!(checksum(&[&[0xff; 32]]), 0x62a8_ab43);
        let rising: Vec<u8> = (0..32).collect();
        assert_eq!(checksum(&[&rising[..7], &rising[7..]]), 0x46dd_794e);
        assert_eq!(checksum(&[b"123456789"]), 0xe306_9283);
    }
}
