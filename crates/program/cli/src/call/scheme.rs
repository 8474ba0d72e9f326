//! Schemes by name.

use oarlock::{CompositeAlg, Curve, KeyKind, MlDsaSet, MlDsaVariant, SlhDsaSet};
use oarlock::{DigestAlg, EcdsaEncoding, NonceRule, SaltLength, Scheme};

use super::CallError;
use crate::keys::summary;

/// The family of a scheme: the value of `--scheme` without its use, sign or verify.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SchemeFamily {
    Pkcs1(DigestAlg),
    Pss(DigestAlg),
    Ecdsa(DigestAlg, EcdsaEncoding),
    Ed25519,
    MlDsa(MlDsaVariant),
    SlhDsa(Option<DigestAlg>),
    Hss,
    Xmss,
    Composite,
}

const EXPECTED: &str = "rsa-pkcs1-DIGEST, rsa-pss-DIGEST, ecdsa-DIGEST, ecdsa-DIGEST-fixed, ed25519, ml-dsa, mu-ml-dsa, slh-dsa, hss, xmss or composite, with sha1, sha224, sha256, sha384 or sha512";

/// The scheme as the user states it.
#[derive(Clone, Copy, Debug)]
pub(super) enum ChosenScheme<'a> {
    /// The scheme that suits the key.
    Suitable,
    /// The value of `--scheme`.
    Named(&'a str),
    /// The value of `--pre-hash`.
    PreHash(&'a str),
}

impl<'a> ChosenScheme<'a> {
    /// Combines the options, of which the command line allows one.
    pub(super) fn new(scheme: Option<&'a str>, pre_hash: Option<&'a str>) -> Self {
        match (scheme, pre_hash) {
            (Some(name), _) => Self::Named(name),
            (None, Some(digest)) => Self::PreHash(digest),
            (None, None) => Self::Suitable,
        }
    }
}

pub(super) fn sign(chosen: ChosenScheme<'_>, key: KeyKind) -> Result<Scheme, CallError> {
    Ok(match family(chosen, key)? {
        SchemeFamily::Pkcs1(digest) => Scheme::RsaPkcs1Sign { digest },
        SchemeFamily::Pss(digest) => {
            // A salt as long as the digest, as TLS 1.3 asks for. RFC 8446 4.2.3.
            Scheme::RsaPssSign { digest, mgf: digest, salt_len: digest.output_len() as u16 }
        }
        SchemeFamily::Ecdsa(digest, encoding) => {
            Scheme::EcdsaSign { curve: curve(key), digest, encoding, nonce: NonceRule::Hedged }
        }
        SchemeFamily::Ed25519 => Scheme::Ed25519Sign,
        SchemeFamily::MlDsa(variant) => {
            Scheme::MlDsaSign { set: ml_dsa_set(key), variant, nonce: NonceRule::Hedged }
        }
        SchemeFamily::SlhDsa(pre_hash) => {
            Scheme::SlhDsaSign { set: slh_dsa_set(key), pre_hash, nonce: NonceRule::Hedged }
        }
        SchemeFamily::Composite => Scheme::CompositeSign { alg: composite(key) },
        SchemeFamily::Hss | SchemeFamily::Xmss => return Err(CallError::Usage(STATEFUL)),
    })
}

pub(super) fn verify(chosen: ChosenScheme<'_>, key: KeyKind) -> Result<Scheme, CallError> {
    Ok(match family(chosen, key)? {
        SchemeFamily::Pkcs1(digest) => Scheme::RsaPkcs1Verify { digest },
        // The name does not say how long the salt of another signer is, so any length is accepted.
        SchemeFamily::Pss(digest) => Scheme::RsaPssVerify { digest, mgf: digest, salt: SaltLength::Any },
        SchemeFamily::Ecdsa(digest, encoding) => Scheme::EcdsaVerify { curve: curve(key), digest, encoding },
        SchemeFamily::Ed25519 => Scheme::Ed25519Verify,
        SchemeFamily::MlDsa(variant) => Scheme::MlDsaVerify { set: ml_dsa_set(key), variant },
        SchemeFamily::SlhDsa(pre_hash) => Scheme::SlhDsaVerify { set: slh_dsa_set(key), pre_hash },
        SchemeFamily::Hss => Scheme::HssVerify,
        SchemeFamily::Xmss => Scheme::XmssVerify,
        SchemeFamily::Composite => Scheme::CompositeVerify { alg: composite(key) },
    })
}

pub(super) fn decrypt(name: &str, key: KeyKind) -> Result<Scheme, CallError> {
    if !matches!(key, KeyKind::RsaPrivate(_) | KeyKind::RsaPublic(_)) {
        return Err(CallError::KindOfKey {
            command: "decrypt",
            key: summary::kind(key),
            expected: "an RSA key",
        });
    }
    if name == "rsa-pkcs1" {
        return Ok(Scheme::RsaPkcs1Decrypt);
    }
    let expected =
        || CallError::Scheme { expected: "rsa-oaep-DIGEST or rsa-pkcs1".into(), found: name.to_owned() };
    let digest = name.strip_prefix("rsa-oaep-").and_then(digest).ok_or_else(expected)?;
    Ok(Scheme::RsaOaepDecrypt { digest, mgf: digest })
}

/// Checks that a key agrees on secrets.
pub(super) fn derive(key: KeyKind) -> Result<Scheme, CallError> {
    match key {
        KeyKind::X25519Private | KeyKind::X25519Public => Ok(Scheme::X25519),
        KeyKind::EcPrivate(curve) | KeyKind::EcPublic(curve) => Ok(Scheme::Ecdh { curve }),
        _ => Err(CallError::KindOfKey {
            command: "derive",
            key: summary::kind(key),
            expected: "an X25519 or EC key",
        }),
    }
}

/// Checks that a key encapsulates.
pub(super) fn encapsulate(key: KeyKind) -> Result<Scheme, CallError> {
    match key {
        KeyKind::MlKemPrivate(set) | KeyKind::MlKemPublic(set) => Ok(Scheme::MlKemEncaps { set }),
        _ => Err(not_ml_kem("encapsulate", key)),
    }
}

/// Checks that a key decapsulates.
pub(super) fn decapsulate(key: KeyKind) -> Result<Scheme, CallError> {
    match key {
        KeyKind::MlKemPrivate(set) | KeyKind::MlKemPublic(set) => Ok(Scheme::MlKemDecaps { set }),
        _ => Err(not_ml_kem("decapsulate", key)),
    }
}

fn not_ml_kem(command: &'static str, key: KeyKind) -> CallError {
    CallError::KindOfKey { command, key: summary::kind(key), expected: "an ML-KEM key" }
}

fn curve(key: KeyKind) -> Curve {
    match key {
        KeyKind::EcPrivate(curve) | KeyKind::EcPublic(curve) => curve,
        // unreachable because `family` gives ECDSA to EC keys only
        _ => Curve::P256,
    }
}

fn ml_dsa_set(key: KeyKind) -> MlDsaSet {
    match key {
        KeyKind::MlDsaPrivate(set) | KeyKind::MlDsaPublic(set) => set,
        // unreachable because `family` gives ML-DSA to its keys only
        _ => MlDsaSet::MlDsa65,
    }
}

fn slh_dsa_set(key: KeyKind) -> SlhDsaSet {
    match key {
        KeyKind::SlhDsaPrivate(set) | KeyKind::SlhDsaPublic(set) => set,
        // unreachable because `family` gives SLH-DSA to its keys only
        _ => SlhDsaSet::Sha2_128s,
    }
}

fn composite(key: KeyKind) -> CompositeAlg {
    match key {
        KeyKind::CompositePrivate(alg) | KeyKind::CompositePublic(alg) => alg,
        // unreachable because `family` gives composites to their keys only
        _ => CompositeAlg::MlDsa65P256,
    }
}

fn family(chosen: ChosenScheme<'_>, key: KeyKind) -> Result<SchemeFamily, CallError> {
    let name = match chosen {
        ChosenScheme::Suitable => return suitable(key),
        ChosenScheme::Named(name) => name,
        ChosenScheme::PreHash(digest) => return pre_hash(digest, key),
    };
    let family = parse(name)?;
    let (fits, expected) = match key {
        KeyKind::RsaPrivate(_) | KeyKind::RsaPublic(_) => (
            matches!(family, SchemeFamily::Pkcs1(_) | SchemeFamily::Pss(_)),
            "rsa-pkcs1-DIGEST or rsa-pss-DIGEST",
        ),
        KeyKind::EcPrivate(_) | KeyKind::EcPublic(_) => {
            (matches!(family, SchemeFamily::Ecdsa(..)), "ecdsa-DIGEST or ecdsa-DIGEST-fixed")
        }
        KeyKind::Ed25519Private | KeyKind::Ed25519Public => (family == SchemeFamily::Ed25519, "ed25519"),
        KeyKind::MlDsaPrivate(_) | KeyKind::MlDsaPublic(_) => {
            (matches!(family, SchemeFamily::MlDsa(_)), "ml-dsa, mu-ml-dsa or --pre-hash DIGEST")
        }
        KeyKind::SlhDsaPrivate(_) | KeyKind::SlhDsaPublic(_) => {
            (matches!(family, SchemeFamily::SlhDsa(_)), "slh-dsa or --pre-hash DIGEST")
        }
        KeyKind::HssPublic(_) => (family == SchemeFamily::Hss, "hss"),
        KeyKind::XmssPublic(_) => (family == SchemeFamily::Xmss, "xmss"),
        KeyKind::CompositePrivate(_) | KeyKind::CompositePublic(_) => {
            (family == SchemeFamily::Composite, "composite")
        }
        _ => return Err(CallError::Usage(NO_SIGNER)),
    };
    if fits {
        return Ok(family);
    }
    Err(CallError::SchemeOfKey { found: name.to_owned(), key: summary::kind(key), expected })
}

fn parse(name: &str) -> Result<SchemeFamily, CallError> {
    let found = if name == "ed25519" {
        Some(SchemeFamily::Ed25519)
    } else if name == "ml-dsa" {
        Some(SchemeFamily::MlDsa(MlDsaVariant::Pure))
    } else if name == "mu-ml-dsa" {
        Some(SchemeFamily::MlDsa(MlDsaVariant::ExternalMu))
    } else if name == "slh-dsa" {
        Some(SchemeFamily::SlhDsa(None))
    } else if name == "hss" {
        Some(SchemeFamily::Hss)
    } else if name == "xmss" {
        Some(SchemeFamily::Xmss)
    } else if name == "composite" {
        Some(SchemeFamily::Composite)
    } else if let Some(name) = name.strip_prefix("rsa-pkcs1-") {
        digest(name).map(SchemeFamily::Pkcs1)
    } else if let Some(name) = name.strip_prefix("rsa-pss-") {
        digest(name).map(SchemeFamily::Pss)
    } else if let Some(name) = name.strip_prefix("ecdsa-") {
        match name.strip_suffix("-fixed") {
            Some(name) => digest(name).map(|digest| SchemeFamily::Ecdsa(digest, EcdsaEncoding::Fixed)),
            None => digest(name).map(|digest| SchemeFamily::Ecdsa(digest, EcdsaEncoding::Der)),
        }
    } else {
        None
    };
    found.ok_or_else(|| CallError::Scheme { expected: EXPECTED.into(), found: name.to_owned() })
}

/// Returns the default for a key.
fn suitable(key: KeyKind) -> Result<SchemeFamily, CallError> {
    Ok(match key {
        KeyKind::RsaPrivate(_) | KeyKind::RsaPublic(_) => SchemeFamily::Pkcs1(DigestAlg::Sha256),
        KeyKind::EcPrivate(Curve::P384) | KeyKind::EcPublic(Curve::P384) => {
            SchemeFamily::Ecdsa(DigestAlg::Sha384, EcdsaEncoding::Der)
        }
        KeyKind::EcPrivate(_) | KeyKind::EcPublic(_) => {
            SchemeFamily::Ecdsa(DigestAlg::Sha256, EcdsaEncoding::Der)
        }
        KeyKind::Ed25519Private | KeyKind::Ed25519Public => SchemeFamily::Ed25519,
        KeyKind::MlDsaPrivate(_) | KeyKind::MlDsaPublic(_) => SchemeFamily::MlDsa(MlDsaVariant::Pure),
        KeyKind::SlhDsaPrivate(_) | KeyKind::SlhDsaPublic(_) => SchemeFamily::SlhDsa(None),
        KeyKind::HssPublic(_) => SchemeFamily::Hss,
        KeyKind::XmssPublic(_) => SchemeFamily::Xmss,
        KeyKind::CompositePrivate(_) | KeyKind::CompositePublic(_) => SchemeFamily::Composite,
        _ => return Err(CallError::Usage(NO_SIGNER)),
    })
}

const NO_SIGNER: &str = "expected a key that signs: RSA, EC, Ed25519, ML-DSA, SLH-DSA or a composite";

const STATEFUL: &str = "signing with stateful keys is not offered: a key of HSS or XMSS only verifies";

/// Returns HashML-DSA or HashSLH-DSA with a digest.
fn pre_hash(name: &str, key: KeyKind) -> Result<SchemeFamily, CallError> {
    let with_digest: fn(DigestAlg) -> SchemeFamily = match key {
        KeyKind::MlDsaPrivate(_) | KeyKind::MlDsaPublic(_) => {
            |digest| SchemeFamily::MlDsa(MlDsaVariant::PreHash(digest))
        }
        KeyKind::SlhDsaPrivate(_) | KeyKind::SlhDsaPublic(_) => |digest| SchemeFamily::SlhDsa(Some(digest)),
        _ => {
            return Err(CallError::KindOfKey {
                command: "--pre-hash",
                key: summary::kind(key),
                expected: "an ML-DSA or SLH-DSA key; --scheme names the digest of other keys",
            });
        }
    };
    let found = DigestAlg::PRE_HASH.into_iter().find(|digest| digest.to_string() == name);
    found.map(with_digest).ok_or_else(|| CallError::PreHash {
        expected: DigestAlg::PRE_HASH.map(|digest| digest.to_string()).join(", "),
        found: name.to_owned(),
    })
}

fn digest(name: &str) -> Option<DigestAlg> {
    DigestAlg::RSA_AND_ECDSA.into_iter().find(|digest| digest.to_string() == name)
}

#[cfg(test)]
mod tests {
    use oarlock::MlKemSet;

    use super::*;

    #[test]
    fn rejects_a_scheme_of_other_keys() {
        let text = |result: Result<Scheme, CallError>| result.unwrap_err().to_string();
        assert_eq!(
            text(sign(ChosenScheme::Named("ecdsa-sha256"), KeyKind::RsaPrivate(2048))),
            "--scheme ecdsa-sha256: the key is rsa2048: expected rsa-pkcs1-DIGEST or rsa-pss-DIGEST"
        );
        assert!(
            text(verify(ChosenScheme::Named("ed25519"), KeyKind::EcPublic(Curve::P256)))
                .contains("expected ecdsa-DIGEST")
        );
        assert!(
            text(sign(ChosenScheme::Named("rsa-pss-sha256"), KeyKind::Ed25519Public))
                .ends_with("expected ed25519")
        );
        assert!(text(decrypt("rsa-pkcs1", KeyKind::X25519Public)).contains("expected an RSA key"));
        assert!(text(derive(KeyKind::RsaPublic(2048))).contains("the key is rsa2048"));
        let curve = Curve::P384;
        assert_eq!(derive(KeyKind::EcPrivate(curve)).unwrap(), Scheme::Ecdh { curve });
        assert!(sign(ChosenScheme::Named("rsa-pss-sha256"), KeyKind::RsaPublic(2048)).is_ok());
    }

    #[test]
    fn names_the_variants_of_ml_dsa() {
        let (set, nonce) = (MlDsaSet::MlDsa87, NonceRule::Hedged);
        let key = KeyKind::MlDsaPublic(set);
        let signed = |chosen| sign(chosen, key).unwrap();
        let of = |variant| Scheme::MlDsaSign { set, variant, nonce };
        assert_eq!(signed(ChosenScheme::Suitable), of(MlDsaVariant::Pure));
        assert_eq!(signed(ChosenScheme::Named("mu-ml-dsa")), of(MlDsaVariant::ExternalMu));
        assert_eq!(signed(ChosenScheme::PreHash("shake256")), of(MlDsaVariant::PreHash(DigestAlg::Shake256)));
        let text = |chosen, key| verify(chosen, key).unwrap_err().to_string();
        for digest in ["md5", "sha1"] {
            let refused = text(ChosenScheme::PreHash(digest), key);
            assert!(refused.starts_with("--pre-hash: expected sha256, sha384"), "{refused}");
        }
        let rsa = text(ChosenScheme::Named("rsa-pss-sha3-256"), KeyKind::RsaPublic(2048));
        assert!(rsa.starts_with("--scheme: expected") && rsa.contains("sha384 or sha512"), "{rsa}");
        assert!(
            text(ChosenScheme::PreHash("sha256"), KeyKind::Ed25519Public)
                .contains("expected an ML-DSA or SLH-DSA key")
        );
        assert!(
            text(ChosenScheme::Named("ed25519"), key)
                .ends_with("expected ml-dsa, mu-ml-dsa or --pre-hash DIGEST")
        );
        assert!(
            text(ChosenScheme::Suitable, KeyKind::MlKemPublic(MlKemSet::MlKem768))
                .contains("a key that signs")
        );
        assert!(
            encapsulate(key)
                .unwrap_err()
                .to_string()
                .contains("the key is ml-dsa-87: expected an ML-KEM key")
        );
    }

    #[test]
    fn stateful_keys_verify_and_do_not_sign() {
        let key = [&[0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 4][..], &[7; 48]].concat();
        let key = KeyKind::HssPublic(oarlock::HssPublicKey::parse(&key).unwrap().set());
        for chosen in [ChosenScheme::Suitable, ChosenScheme::Named("hss")] {
            assert_eq!(verify(chosen, key).unwrap(), Scheme::HssVerify);
            assert!(sign(chosen, key).unwrap_err().to_string().contains("only verifies"));
        }
        let error = verify(ChosenScheme::Named("xmss"), key).unwrap_err().to_string();
        assert!(error.ends_with("the key is hss-1-sha256-h5-w8: expected hss"), "{error}");
    }

    #[test]
    fn names_pure_and_pre_hash_slh_dsa() {
        let (set, nonce) = (SlhDsaSet::Shake192s, NonceRule::Hedged);
        let key = KeyKind::SlhDsaPrivate(set);
        let signed = |chosen| sign(chosen, key).unwrap();
        let of = |pre_hash| Scheme::SlhDsaSign { set, pre_hash, nonce };
        assert_eq!(signed(ChosenScheme::Suitable), of(None));
        assert_eq!(signed(ChosenScheme::Named("slh-dsa")), of(None));
        assert_eq!(signed(ChosenScheme::PreHash("sha512")), of(Some(DigestAlg::Sha512)));
        let error = verify(ChosenScheme::Named("ml-dsa"), key).unwrap_err().to_string();
        assert!(error.ends_with("expected slh-dsa or --pre-hash DIGEST"), "{error}");
        let other = KeyKind::MlDsaPublic(MlDsaSet::MlDsa44);
        assert!(verify(ChosenScheme::Named("slh-dsa"), other).is_err());
    }
}
