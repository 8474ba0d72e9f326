//! Password-based encryption of PKCS#8: PBES2 with PBKDF2 or scrypt, and AES-CBC. RFC 8018 6.2, RFC 7914 section 7.

mod kdf;

use aws_lc_rs::cipher::{
    AES_128, AES_192, AES_256, Algorithm, DecryptionContext, PaddedBlockDecryptingKey,
    PaddedBlockEncryptingKey, UnboundCipherKey,
};
use aws_lc_rs::iv::FixedLength;
use der::asn1::{ObjectIdentifier, OctetStringRef};
use der::{Encode, Reader, SliceReader};
use spki::AlgorithmIdentifierRef;
use zeroize::Zeroizing;

use crate::asn1::{octets, sequence};
use crate::{KeyError, Passphrase, asn1, oid};
pub(crate) use kdf::KeyDerivation;

/// id-PBES2. RFC 8018 A.4.
const PBES2: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.5.13");
const STRUCTURE: &str = "PKCS#8 EncryptedPrivateKeyInfo";
const FAILED: KeyError = KeyError::Machine { what: "encrypting a key" };

/// An AES-CBC cipher of RFC 8018 B.2.5.
struct Pbes2Cipher {
    oid: ObjectIdentifier,
    algorithm: &'static Algorithm,
    key_len: usize,
}

const AES_256_CBC: Pbes2Cipher = Pbes2Cipher {
    oid: ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.1.42"),
    algorithm: &AES_256,
    key_len: 32,
};

const CIPHERS: [Pbes2Cipher; 3] = [
    Pbes2Cipher {
        oid: ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.1.2"),
        algorithm: &AES_128,
        key_len: 16,
    },
    Pbes2Cipher {
        oid: ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.1.22"),
        algorithm: &AES_192,
        key_len: 24,
    },
    AES_256_CBC,
];

/// The content of an EncryptedPrivateKeyInfo. RFC 5958 section 3, RFC 8018 A.4.
struct Encrypted<'a> {
    kdf: AlgorithmIdentifierRef<'a>,
    cipher: AlgorithmIdentifierRef<'a>,
    data: &'a [u8],
}

/// Decrypts the PKCS#8 and checks its padding. The limits of the passphrase are checked before any derivation.
pub(crate) fn decrypt(der: &[u8], passphrase: &Passphrase) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    let encrypted = parse(der)?;
    let cipher = Pbes2Cipher::find(encrypted.cipher.oid)?;
    let context = initialization_vector(&encrypted.cipher)?;
    let kdf = KeyDerivation::parse(&encrypted.kdf, cipher.key_len)?;
    kdf.check(passphrase.limits())?;
    let key = kdf.derive(passphrase, cipher.key_len)?;
    let key = UnboundCipherKey::new(cipher.algorithm, &key).and_then(PaddedBlockDecryptingKey::cbc_pkcs7);
    let key = key.map_err(|_| KeyError::Machine { what: "decrypting a key" })?;
    let mut data = Zeroizing::new(encrypted.data.to_vec());
    let len = key.decrypt(&mut data, context).map_err(|_| KeyError::Decryption)?.len();
    // CBC without a MAC: a wrong passphrase may pass the padding check. The caller checks the structure too.
    data.truncate(len);
    Ok(data)
}

/// Encrypts `plain` with AES-256-CBC and a random IV into an EncryptedPrivateKeyInfo.
pub(crate) fn encrypt(
    plain: &[u8],
    passphrase: &Passphrase,
    kdf: &KeyDerivation<'_>,
) -> Result<Vec<u8>, KeyError> {
    kdf.check(passphrase.limits())?;
    let key = kdf.derive(passphrase, AES_256_CBC.key_len)?;
    let key = UnboundCipherKey::new(AES_256_CBC.algorithm, &key)
        .and_then(PaddedBlockEncryptingKey::cbc_pkcs7)
        .map_err(|_| FAILED)?;
    // The padding adds up to one block (RFC 8018 B.2.5). A buffer that grew would leave the key in freed memory.
    let mut data = Zeroizing::new(Vec::with_capacity(plain.len() + AES_256_CBC.algorithm.block_len()));
    data.extend_from_slice(plain);
    let DecryptionContext::Iv128(iv) = key.encrypt(&mut *data).map_err(|_| FAILED)? else {
        return Err(FAILED);
    };
    let cipher = sequence(&[&encoded(AES_256_CBC.oid)?, &octets(iv.as_ref())?])?;
    let parameters = sequence(&[&kdf.encode()?, &cipher])?;
    let algorithm = sequence(&[&encoded(PBES2)?, &parameters])?;
    sequence(&[&algorithm, &octets(&data)?])
}

fn parse(der: &[u8]) -> Result<Encrypted<'_>, KeyError> {
    let malformed = asn1::malformed(STRUCTURE);
    let mut reader = SliceReader::new(der).map_err(&malformed)?;
    let (scheme, data) = reader
        .sequence(|reader| {
            let scheme: AlgorithmIdentifierRef<'_> = reader.decode()?;
            let data: &OctetStringRef = reader.decode()?;
            Ok((scheme, data.as_bytes()))
        })
        .map_err(&malformed)?;
    reader.finish().map_err(&malformed)?;
    if scheme.oid != PBES2 {
        return Err(KeyError::UnsupportedEncryption { what: "scheme", found: oid::shown(&scheme.oid) });
    }
    let parameters = scheme.parameters_any().map_err(asn1::malformed(STRUCTURE))?;
    let (kdf, cipher) = parameters
        .sequence(|reader| Ok((reader.decode()?, reader.decode()?)))
        .map_err(asn1::malformed::<der::Error>(STRUCTURE))?;
    Ok(Encrypted { kdf, cipher, data })
}

impl Pbes2Cipher {
    fn find(oid: ObjectIdentifier) -> Result<Self, KeyError> {
        let found = CIPHERS.into_iter().find(|cipher| cipher.oid == oid);
        found.ok_or_else(|| KeyError::UnsupportedEncryption { what: "cipher", found: oid::shown(&oid) })
    }
}

fn initialization_vector(cipher: &AlgorithmIdentifierRef<'_>) -> Result<DecryptionContext, KeyError> {
    let parameters = cipher.parameters_any().map_err(asn1::malformed(STRUCTURE))?;
    let iv = parameters.decode_as::<&OctetStringRef>().map_err(asn1::malformed(STRUCTURE))?.as_bytes();
    let wrong = KeyError::Length { what: "AES-CBC IV", expected: "16 bytes".to_owned(), found: iv.len() };
    let iv: [u8; 16] = iv.try_into().map_err(|_| wrong)?;
    Ok(DecryptionContext::Iv128(FixedLength::from(iv)))
}

fn encoded(oid: ObjectIdentifier) -> Result<Vec<u8>, KeyError> {
    oid.to_der().map_err(asn1::not_encoded)
}
