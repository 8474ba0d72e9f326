//! The padding of CBC, and the digests that parameters of mechanisms name.

use oarlock::DigestAlg;
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq, ConstantTimeGreater};

use crate::constants::{MechanismType, ReturnCode, parameter_values as value};
use crate::mechanism::digest_of;

/// The bytes of an AES block.
pub(crate) const BLOCK: usize = 16;

/// Returns the padding of PKCS#7 behind a number of bytes: 1 to 16 bytes. RFC 5652 6.3.
pub(crate) fn pkcs7(len: usize) -> &'static [u8] {
    static PADDINGS: [[u8; BLOCK]; BLOCK] = {
        let mut paddings = [[0; BLOCK]; BLOCK];
        let mut count = 1;
        while count <= BLOCK {
            paddings[count - 1] = [count as u8; BLOCK];
            count += 1;
        }
        paddings
    };
    let count = BLOCK - len % BLOCK;
    PADDINGS.get(count - 1).and_then(|padding| padding.get(..count)).unwrap_or_default()
}

/// Returns the length of the data before the padding, which is in the last block.
///
/// All bytes of the block are always read. Only the answer depends on their values.
///
/// # Errors
/// [`ReturnCode::EncryptedDataInvalid`] for a bad padding.
pub(crate) fn unpadded_len(output: &[u8]) -> Result<usize, ReturnCode> {
    let last: &[u8; BLOCK] = output.last_chunk().ok_or(ReturnCode::EncryptedDataInvalid)?;
    let count = last[BLOCK - 1];
    let mut is_good = !count.ct_eq(&0) & !count.ct_gt(&(BLOCK as u8));
    for (index, byte) in (1_u8..).zip(last.iter().rev()) {
        let is_padding = !index.ct_gt(&count);
        is_good &= Choice::conditional_select(&Choice::from(1), &byte.ct_eq(&count), is_padding);
    }
    if bool::from(is_good) {
        Ok(output.len() - usize::from(count))
    } else {
        Err(ReturnCode::EncryptedDataInvalid)
    }
}

/// Returns the digest of RSA that a parameter names.
pub(crate) fn rsa_digest_of(kind: MechanismType) -> Result<DigestAlg, ReturnCode> {
    one_of(&DigestAlg::RSA_AND_ECDSA, kind)
}

/// Returns the digest of HashML-DSA that a parameter names. No mechanism of the standard is SHAKE128 or SHAKE256 alone.
pub(crate) fn pre_hash_of(kind: MechanismType) -> Result<DigestAlg, ReturnCode> {
    one_of(&DigestAlg::PRE_HASH, kind)
}

fn one_of(allowed: &[DigestAlg], kind: MechanismType) -> Result<DigestAlg, ReturnCode> {
    digest_of(kind).filter(|digest| allowed.contains(digest)).ok_or(ReturnCode::MechanismParamInvalid)
}

/// Returns the digest of a mask generator.
pub(crate) fn digest_of_mgf(mgf: u64) -> Result<DigestAlg, ReturnCode> {
    match mgf {
        value::CKG_MGF1_SHA1 => Ok(DigestAlg::Sha1),
        value::CKG_MGF1_SHA224 => Ok(DigestAlg::Sha224),
        value::CKG_MGF1_SHA256 => Ok(DigestAlg::Sha256),
        value::CKG_MGF1_SHA384 => Ok(DigestAlg::Sha384),
        value::CKG_MGF1_SHA512 => Ok(DigestAlg::Sha512),
        _ => Err(ReturnCode::MechanismParamInvalid),
    }
}

/// The DER of a DigestInfo up to the digest. RFC 8017 9.2 note 1.
const DIGEST_INFOS: [(DigestAlg, &[u8]); 5] = [
    (DigestAlg::Sha1, b"\x30\x21\x30\x09\x06\x05\x2b\x0e\x03\x02\x1a\x05\x00\x04\x14"),
    (DigestAlg::Sha224, b"\x30\x2d\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x04\x05\x00\x04\x1c"),
    (DigestAlg::Sha256, b"\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\x04\x20"),
    (DigestAlg::Sha384, b"\x30\x41\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x02\x05\x00\x04\x30"),
    (DigestAlg::Sha512, b"\x30\x51\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x03\x05\x00\x04\x40"),
];

/// Splits a DigestInfo of a known digest into the digest's name and its value.
pub(crate) fn split_digest_info(encoded: &[u8]) -> Option<(DigestAlg, &[u8])> {
    DIGEST_INFOS.iter().find_map(|(alg, prefix)| {
        let digest = encoded.strip_prefix(*prefix)?;
        (digest.len() == alg.output_len()).then_some((*alg, digest))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_take_the_digests_of_their_standards() {
        let invalid = ReturnCode::MechanismParamInvalid;
        assert_eq!(rsa_digest_of(MechanismType::SHA384), Ok(DigestAlg::Sha384));
        assert_eq!(rsa_digest_of(MechanismType::SHA3_256), Err(invalid));
        assert_eq!(rsa_digest_of(MechanismType::SHA512_256), Err(invalid));
        assert_eq!(pre_hash_of(MechanismType::SHA3_224), Ok(DigestAlg::Sha3_224));
        assert_eq!(pre_hash_of(MechanismType::SHA_1), Err(invalid));
        assert_eq!(pre_hash_of(MechanismType::SHA256_HMAC), Err(invalid));
    }

    #[test]
    fn every_padding_is_removed_and_no_other_bytes_are() {
        for count in 1..=16_u8 {
            let mut block = [0xEE; BLOCK];
            let start = BLOCK - usize::from(count);
            block[start..].fill(count);
            assert_eq!(unpadded_len(&block), Ok(start));
            assert_eq!(unpadded_len(&[[7; BLOCK], block].concat()), Ok(BLOCK + start));
            if count > 1 {
                block[start] ^= 0x40;
                assert_eq!(unpadded_len(&block), Err(ReturnCode::EncryptedDataInvalid));
            }
        }
        for bad in [&[0; BLOCK][..], &[17; BLOCK], &[1; BLOCK - 1]] {
            assert_eq!(unpadded_len(bad), Err(ReturnCode::EncryptedDataInvalid));
        }
        assert_eq!(pkcs7(16), [16; 16]);
        assert_eq!(pkcs7(15), [1]);
    }
}
