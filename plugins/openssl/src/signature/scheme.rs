//! The scheme that a signature context selects by its key, digest and padding.

use oarlock::{Curve, DigestAlg, EcdsaEncoding, Input, Key, KeyKind, SaltLength, Scheme};

use super::{PssSalt, SignatureContext, SignaturePadding, SignatureSettings};
use crate::der;
use crate::digest::NamedDigest;
use crate::error::ProviderError;
use crate::key::KeyFamily;

/// The input of a signature.
#[derive(Clone, Copy)]
pub(super) enum SignInput<'a> {
    Message(&'a [u8]),
    /// The digest of a message, or bytes that the caller passes as one.
    Hash(&'a [u8]),
}

impl SignatureContext {
    /// Selects the scheme that signs the input. `encoded` stores an input that has to be encoded first.
    pub(super) fn signing_scheme<'a>(
        &self,
        key: &Key,
        input: SignInput<'a>,
        encoded: &'a mut Vec<u8>,
    ) -> Result<(Scheme, Input<'a>), ProviderError> {
        match (self.family, self.settings.padding) {
            (KeyFamily::Rsa, SignaturePadding::Pkcs1) => self.pkcs1(input, encoded),
            (KeyFamily::Rsa, SignaturePadding::Pss) => self.pss(key, input),
            (KeyFamily::Ec, _) => self.ecdsa(key, input, encoded),
            // EVP_PKEY_sign_message_init(3) and EVP_PKEY_sign(3) pass the message, or mu.
            (family, _) if family.signs_messages() => {
                self.message_settings.signing_scheme(key, input.bytes())
            }
            _ => match input {
                SignInput::Message(message) => Ok((Scheme::Ed25519Sign, Input::Message(message))),
                SignInput::Hash(_) => Err(ProviderError::Unsupported { what: "Ed25519 of a digest".into() }),
            },
        }
    }

    fn pkcs1<'a>(
        &self,
        input: SignInput<'a>,
        encoded: &'a mut Vec<u8>,
    ) -> Result<(Scheme, Input<'a>), ProviderError> {
        // Without a digest the caller has encoded the input, as `openssl pkeyutl -sign` does.
        let Some(digest) = self.settings.digest else {
            let (SignInput::Message(bytes) | SignInput::Hash(bytes)) = input;
            return Ok((Scheme::RsaPkcs1SignEncoded, Input::Message(bytes)));
        };
        match (digest.accelerated, input) {
            (Some(digest), input) => Ok((Scheme::RsaPkcs1Sign { digest }, input.into_input())),
            (None, input) => {
                *encoded = der::digest_info(digest, &input.hashed(digest)?);
                Ok((Scheme::RsaPkcs1SignEncoded, Input::Message(encoded)))
            }
        }
    }

    fn pss<'a>(&self, key: &Key, input: SignInput<'a>) -> Result<(Scheme, Input<'a>), ProviderError> {
        let (digest, mgf) = self.settings.pss_digests()?;
        let salt_len = self.salt_len(key, digest.len());
        let scheme = Scheme::RsaPssSign {
            digest: digest.accelerated_for("PSS")?,
            mgf: mgf.accelerated_for("MGF1")?,
            salt_len,
        };
        Ok((scheme, input.into_input()))
    }

    fn salt_len(&self, key: &Key, digest_len: usize) -> u16 {
        let bits = key.rsa_public().map_or(0, |public| public.bits()).saturating_sub(1);
        // RFC 8017 9.1.1 step 3.
        let max = usize::from(bits).div_ceil(8).saturating_sub(digest_len + 2) as u16;
        let digest_len = digest_len as u16;
        match self.settings.salt {
            PssSalt::Digest => digest_len,
            PssSalt::Max | PssSalt::Auto => max,
            PssSalt::AutoDigestMax => digest_len.min(max),
            PssSalt::Exactly(len) => len,
        }
    }

    fn ecdsa<'a>(
        &self,
        key: &Key,
        input: SignInput<'a>,
        encoded: &'a mut Vec<u8>,
    ) -> Result<(Scheme, Input<'a>), ProviderError> {
        let (KeyKind::EcPrivate(curve) | KeyKind::EcPublic(curve)) = key.kind() else {
            return Err(ProviderError::NoKey);
        };
        let scheme = |digest| Scheme::EcdsaSign {
            curve,
            digest,
            encoding: EcdsaEncoding::Der,
            nonce: self.settings.nonce,
        };
        match (self.settings.digest, input) {
            (Some(NamedDigest { accelerated: Some(alg), .. }), SignInput::Message(message)) => {
                Ok((scheme(*alg), Input::Message(message)))
            }
            (Some(NamedDigest { accelerated: Some(alg), .. }), SignInput::Hash(hash))
                if hash.len() == alg.output_len() =>
            {
                Ok((scheme(*alg), Input::Digest(hash)))
            }
            // The engines take digests of 256 and 384 bits. ECDSA uses the digest only as an integer, so any other one is
            // fitted to the order and passed under the name of such a digest.
            (digest, input) => {
                let hash = match digest {
                    Some(digest) => input.hashed(digest)?,
                    None => input.bytes().to_vec(),
                };
                *encoded = fit_to_order(&hash, curve.scalar_len());
                let alg = if curve == Curve::P384 { DigestAlg::Sha384 } else { DigestAlg::Sha256 };
                Ok((scheme(alg), Input::Digest(encoded)))
            }
        }
    }

    pub(super) fn verifying_scheme(&self, signing: Scheme) -> Scheme {
        match signing {
            Scheme::RsaPkcs1Sign { digest } => Scheme::RsaPkcs1Verify { digest },
            Scheme::RsaPkcs1SignEncoded => Scheme::RsaPkcs1VerifyEncoded,
            Scheme::RsaPssSign { digest, mgf, salt_len } => {
                // The length that was chosen for signing need not be that of the signature at hand.
                let salt = match self.settings.salt {
                    PssSalt::Auto | PssSalt::AutoDigestMax => SaltLength::Any,
                    _ => SaltLength::Exactly(salt_len),
                };
                Scheme::RsaPssVerify { digest, mgf, salt }
            }
            Scheme::EcdsaSign { curve, digest, encoding, .. } => {
                Scheme::EcdsaVerify { curve, digest, encoding }
            }
            Scheme::MlDsaSign { set, variant, .. } => Scheme::MlDsaVerify { set, variant },
            Scheme::SlhDsaSign { set, pre_hash, .. } => Scheme::SlhDsaVerify { set, pre_hash },
            _ => Scheme::Ed25519Verify,
        }
    }

    /// Encodes the identifier of the scheme in certificates and messages, or None before the digest is known.
    pub(super) fn algorithm_id(&self) -> Result<Option<Vec<u8>>, ProviderError> {
        Ok(match (self.family, self.settings.digest, &self.key) {
            (KeyFamily::Ed25519, ..) => Some(der::ed25519()),
            (family, ..) if family.signs_messages() => family.oid().map(der::without_parameters),
            (KeyFamily::Ec, Some(digest), _) => Some(der::ecdsa(digest)),
            (KeyFamily::Rsa, Some(digest), Some(key)) if self.settings.padding == SignaturePadding::Pss => {
                let (_, mgf) = self.settings.pss_digests()?;
                Some(der::rsa_pss(digest, mgf, self.salt_len(key, digest.len())))
            }
            (KeyFamily::Rsa, Some(digest), _) => Some(der::rsa_pkcs1(digest)),
            _ => None,
        })
    }
}

impl SignatureSettings {
    /// Returns the digest and the digest of mask generation. The default is SHA-1. RFC 8017 A.2.3.
    pub(super) fn pss_digests(&self) -> Result<(&'static NamedDigest, &'static NamedDigest), ProviderError> {
        let digest = self.digest.map_or_else(|| NamedDigest::named("SHA1"), Ok)?;
        Ok((digest, self.mgf.unwrap_or(digest)))
    }
}

impl<'a> SignInput<'a> {
    fn bytes(self) -> &'a [u8] {
        let (Self::Message(bytes) | Self::Hash(bytes)) = self;
        bytes
    }

    fn into_input(self) -> Input<'a> {
        match self {
            Self::Message(message) => Input::Message(message),
            Self::Hash(hash) => Input::Digest(hash),
        }
    }

    /// Hashes a message, or checks the length of a hash.
    fn hashed(self, digest: &NamedDigest) -> Result<Vec<u8>, ProviderError> {
        match self {
            Self::Message(message) => {
                let mut hasher = digest.hasher();
                hasher.update(message);
                Ok(hasher.finish().as_ref().to_vec())
            }
            Self::Hash(hash) if hash.len() == digest.len() => Ok(hash.to_vec()),
            Self::Hash(hash) => {
                let expected = format!("{} bytes, found {}", digest.len(), hash.len());
                Err(ProviderError::Parameter { what: "digest", expected })
            }
        }
    }
}

/// Converts a digest of any length to the integer of ECDSA, for orders of whole bytes: the leftmost bytes, or zeros
/// before a shorter digest. FIPS 186-5 6.4.1 step 2.
fn fit_to_order(hash: &[u8], width: usize) -> Vec<u8> {
    let mut out = vec![0; width.saturating_sub(hash.len())];
    out.extend_from_slice(&hash[..hash.len().min(width)]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ecdsa_pads_and_cuts_digests_to_the_order() {
        assert_eq!(fit_to_order(&[1, 2], 4), [0, 0, 1, 2]);
        assert_eq!(fit_to_order(&[1, 2, 3, 4], 4), [1, 2, 3, 4]);
        assert_eq!(fit_to_order(&[1, 2, 3, 4, 5], 4), [1, 2, 3, 4]);
        assert_eq!(fit_to_order(&[], 2), [0, 0]);
    }
}
