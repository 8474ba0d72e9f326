use oarlock_core::DigestAlg;

use super::*;

fn digest(alg: DigestAlg, pieces: &[&[u8]]) -> Vec<u8> {
    let mut hasher = Hasher::new(alg).unwrap();
    pieces.iter().for_each(|piece| hasher.update(piece));
    let copy = hasher.clone();
    let digest = hasher.finish();
    assert_eq!(copy.finish(), digest);
    digest
}

/// FIPS 180-4 and FIPS 202 examples of the empty message.
#[test]
fn empty_messages_have_their_published_digests() {
    for (alg, first) in [
        (DigestAlg::Sha1, [0xda, 0x39, 0xa3, 0xee]),
        (DigestAlg::Sha224, [0xd1, 0x4a, 0x02, 0x8c]),
        (DigestAlg::Sha256, [0xe3, 0xb0, 0xc4, 0x42]),
        (DigestAlg::Sha384, [0x38, 0xb0, 0x60, 0xa7]),
        (DigestAlg::Sha512, [0xcf, 0x83, 0xe1, 0x35]),
        (DigestAlg::Sha512_224, [0x6e, 0xd0, 0xdd, 0x02]),
        (DigestAlg::Sha512_256, [0xc6, 0x72, 0xb8, 0xd1]),
        (DigestAlg::Sha3_224, [0x6b, 0x4e, 0x03, 0x42]),
        (DigestAlg::Sha3_256, [0xa7, 0xff, 0xc6, 0xf8]),
        (DigestAlg::Sha3_384, [0x0c, 0x63, 0xa7, 0x5b]),
        (DigestAlg::Sha3_512, [0xa6, 0x9f, 0x73, 0xcc]),
        (DigestAlg::Shake128, [0x7f, 0x9c, 0x2b, 0xa4]),
        (DigestAlg::Shake256, [0x46, 0xb9, 0xdd, 0x2b]),
    ] {
        let found = digest(alg, &[]);
        assert_eq!((found.len(), &found[..4]), (alg.output_len(), &first[..]), "{alg}");
    }
}

#[test]
fn pieces_of_every_length_give_the_digest_of_the_whole() {
    let message: Vec<u8> = (0..400_u32).map(|at| (at * at % 251) as u8).collect();
    for alg in DigestAlg::ALL {
        let whole = digest(alg, &[&message]);
        for len in 1..=2 * alg.block_len() {
            let pieces: Vec<&[u8]> = message.chunks(len).collect();
            assert_eq!(digest(alg, &pieces), whole, "{alg} in pieces of {len}");
        }
    }
}

/// FIPS 202 example of NIST for SHAKE256 of no bits: bytes 0 to 7, and 504 to 511, which are in the fourth block.
#[test]
fn shake_fills_any_number_of_bytes() {
    let mut out = [0; 512];
    shake256(&[], &mut out);
    assert_eq!(out[..8], [0x46, 0xb9, 0xdd, 0x2b, 0x0b, 0xa8, 0x8d, 0x13]);
    assert_eq!(out[504..], [0x8a, 0x06, 0x4a, 0x8f, 0x57, 0xe2, 0x7f, 0x2a]);
    for len in [0, 1, 135, 136, 137, 273] {
        let mut short = vec![0; len];
        shake256(&[], &mut short);
        assert_eq!(short, out[..len]);
    }
}

/// RFC 4231 4.3 and 4.7: a short key, and one that is longer than a block.
#[test]
fn hmac_has_the_codes_of_the_standard() {
    let mut code = [0; 32];
    HmacKey::<Sha256>::new(b"Jefe").code(&[b"what do ya want ", b"for nothing?"], &mut code);
    assert_eq!(code[..8], [0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e]);
    let mut head = [0; 8];
    HmacKey::<Sha512>::new(&[0xaa; 131])
        .code(&[b"Test Using Larger Than Block-Size Key - Hash Key First"], &mut head);
    assert_eq!(head, [0x80, 0xb2, 0x42, 0x63, 0xc7, 0xc1, 0xa3, 0xeb]);
}
