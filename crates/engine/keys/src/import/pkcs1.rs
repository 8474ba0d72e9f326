//! RSA keys in PKCS#1. RFC 8017 A.1.

use der::Decode;
use oarlock_core::KeyParts;
use pkcs1::{RsaPrivateKeyRef, RsaPublicKeyRef};

use crate::rsa::{self, PrivateNumbers};
use crate::{KeyError, asn1};

pub(super) fn private(bytes: &[u8]) -> Result<KeyParts, KeyError> {
    let key = RsaPrivateKeyRef::from_der(bytes).map_err(asn1::malformed("PKCS#1 RSAPrivateKey"))?;
    if key.other_prime_infos.is_some() {
        return Err(KeyError::MultiPrime);
    }
    rsa::private_parts(&PrivateNumbers {
        n: key.modulus.as_bytes(),
        e: key.public_exponent.as_bytes(),
        d: key.private_exponent.as_bytes(),
        p: key.prime1.as_bytes(),
        q: key.prime2.as_bytes(),
        dp: key.exponent1.as_bytes(),
        dq: key.exponent2.as_bytes(),
        qinv: key.coefficient.as_bytes(),
    })
}

pub(super) fn public(bytes: &[u8]) -> Result<KeyParts, KeyError> {
    let key = RsaPublicKeyRef::from_der(bytes).map_err(asn1::malformed("PKCS#1 RSAPublicKey"))?;
    let parts = rsa::public_parts(key.modulus.as_bytes(), key.public_exponent.as_bytes())?;
    Ok(KeyParts::RsaPublic(parts))
}
