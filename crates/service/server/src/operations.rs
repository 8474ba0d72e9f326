//! The names of all operations, as grants, the audit log and metrics use them.

use std::collections::BTreeSet;

use oarlock::{AeadAlg, BlockCipher, CompositeAlg, Curve, DigestAlg, FpeAlg, MacAlg, WrapAlg};
use oarlock::{EcdsaEncoding, NonceRule, SaltLength, Scheme};
use oarlock::{MlDsaSet, MlDsaVariant, MlKemSet, SlhDsaSet};
use oarlock_keytable::{BatchTask, KeyType, KeyWrap};

use crate::pattern::Pattern;

/// Returns the names of all operations that a client can request, in order.
pub(crate) fn operation_names() -> BTreeSet<String> {
    let schemes = schemes().into_iter().map(|scheme| scheme.to_string());
    let verifications = MacAlg::ALL.into_iter().map(|alg| format!("{}-verify", BatchTask::mac(alg)));
    schemes.chain(tasks().into_iter().map(|task| task.to_string())).chain(verifications).collect()
}

/// Returns the names that are nearest to a pattern that fits no name, the best first.
pub(crate) fn nearest_names(pattern: &Pattern) -> Vec<String> {
    let mut names: Vec<_> = operation_names()
        .into_iter()
        .map(|name| (distance(pattern.as_str(), &name), name))
        .filter(|(distance, _)| *distance <= pattern.as_str().len().div_ceil(3))
        .collect();
    names.sort();
    names.into_iter().take(3).map(|(_, name)| name).collect()
}

/// Returns a scheme of each name.
pub(crate) fn schemes() -> Vec<Scheme> {
    let mut schemes =
        vec![Scheme::RsaPkcs1Decrypt, Scheme::Ed25519Sign, Scheme::Ed25519Verify, Scheme::X25519];
    schemes.extend([Scheme::HssVerify, Scheme::XmssVerify]);
    schemes.extend(Curve::ALL.map(|curve| Scheme::Ecdh { curve }));
    for digest in DigestAlg::RSA_AND_ECDSA {
        let (mgf, encoding) = (digest, EcdsaEncoding::Der);
        schemes.extend([
            Scheme::RsaPkcs1Sign { digest },
            Scheme::RsaPkcs1Verify { digest },
            Scheme::RsaPssSign { digest, mgf, salt_len: 0 },
            Scheme::RsaPssVerify { digest, mgf, salt: SaltLength::Any },
            Scheme::RsaOaepDecrypt { digest, mgf },
        ]);
        for curve in Curve::ALL {
            let nonce = NonceRule::Hedged;
            schemes.push(Scheme::EcdsaSign { curve, digest, encoding, nonce });
            schemes.push(Scheme::EcdsaVerify { curve, digest, encoding });
        }
    }
    for set in MlKemSet::ALL {
        schemes.extend([Scheme::MlKemEncaps { set }, Scheme::MlKemDecaps { set }]);
    }
    let variants = [MlDsaVariant::Pure, MlDsaVariant::ExternalMu];
    for variant in variants.into_iter().chain(DigestAlg::PRE_HASH.map(MlDsaVariant::PreHash)) {
        for set in MlDsaSet::ALL {
            let nonce = NonceRule::Hedged;
            schemes.extend([Scheme::MlDsaSign { set, variant, nonce }, Scheme::MlDsaVerify { set, variant }]);
        }
    }
    for pre_hash in [None].into_iter().chain(DigestAlg::PRE_HASH.map(Some)) {
        for set in SlhDsaSet::ALL {
            let sign = Scheme::SlhDsaSign { set, pre_hash, nonce: NonceRule::Hedged };
            schemes.extend([sign, Scheme::SlhDsaVerify { set, pre_hash }]);
        }
    }
    for alg in CompositeAlg::ALL {
        schemes.extend([Scheme::CompositeSign { alg }, Scheme::CompositeVerify { alg }]);
    }
    schemes
}

fn tasks() -> Vec<BatchTask> {
    let mut tasks: Vec<BatchTask> = Vec::new();
    for cipher in BlockCipher::ALL {
        tasks.extend([BatchTask::encrypt(cipher), BatchTask::decrypt(cipher)]);
        tasks.extend(BlockCipher::ALL.map(|to| BatchTask::translate(cipher, to)));
    }
    // Keys of a table have no type for ChaCha20 and AES-192.
    let aead = [
        AeadAlg::Aes128Gcm,
        AeadAlg::Aes256Gcm,
        AeadAlg::Aes128Siv,
        AeadAlg::Aes256Siv,
        AeadAlg::Aes128GcmSiv,
        AeadAlg::Aes256GcmSiv,
    ];
    tasks.extend(aead.into_iter().flat_map(|alg| [BatchTask::seal(alg), BatchTask::open(alg)]));
    let fpe = [FpeAlg::Aes128Ff1, FpeAlg::Aes256Ff1];
    tasks.extend(
        fpe.into_iter().flat_map(|alg| [BatchTask::encrypt_format(alg), BatchTask::decrypt_format(alg)]),
    );
    tasks.extend(MacAlg::ALL.map(BatchTask::mac));
    tasks.extend(DigestAlg::ALL.map(BatchTask::digest));
    tasks.extend(WrapAlg::ALL.map(BatchTask::wrap));
    let legacy = [BlockCipher::Tdes2, BlockCipher::Tdes3];
    let wraps = WrapAlg::ALL.into_iter().map(KeyWrap::Aes);
    let wraps = wraps.chain(legacy.map(KeyWrap::LegacyEcb)).chain(legacy.map(KeyWrap::LegacyCbc));
    for wrap in wraps {
        tasks.extend(KeyType::ALL.map(|key| BatchTask::unwrap_key(wrap, key)));
    }
    tasks
}

/// Returns the Levenshtein distance of two texts.
fn distance(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, byte) in one.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], at + 1);
        for (column, other_byte) in other.bytes().enumerate() {
            let replaced = diagonal + usize::from(byte != other_byte);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_exactly_the_names_of_the_documentation() {
        let names = operation_names();
        for name in ["rsa-pkcs1-sha256-sign", "ecdsa-p256-sha256-sign", "ed25519-verify", "x25519"] {
            assert!(names.contains(name), "{name}");
        }
        for name in
            ["mu-ml-dsa-44-sign", "hash-sha512-ml-dsa-44-sign", "ml-dsa-44-verify", "ml-kem-768-decaps"]
                .into_iter()
                .chain(["slh-dsa-sha2-128s-sign", "hash-shake128-slh-dsa-shake-128f-verify"])
        {
            assert!(names.contains(name), "{name}");
        }
        for name in ["tdes2-cbc-encrypt", "translate-tdes2-cbc-to-aes128-cbc"] {
            assert!(names.contains(name), "{name}");
        }
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/operations.md");
        let page = std::fs::read_to_string(path).unwrap();
        let listed: BTreeSet<String> = page
            .lines()
            .filter_map(|line| line.strip_prefix("- `")?.strip_suffix('`'))
            .map(str::to_owned)
            .collect();
        assert!(listed == names, "docs/operations.md should list:\n{}", lines(&names));
    }

    fn lines(names: &BTreeSet<String>) -> String {
        names.iter().map(|name| format!("- `{name}`\n")).collect()
    }

    #[test]
    fn finds_the_nearest_name_of_a_misspelt_pattern() {
        let nearest = |pattern: &str| nearest_names(&Pattern::from(pattern));
        assert_eq!(nearest("rsa-pkcs1-sha256-sgin")[0], "rsa-pkcs1-sha256-sign");
        assert_eq!(nearest("ed25519-sing")[0], "ed25519-sign");
        assert!(nearest("zzzzzzzzzzzzzzzzzzzzzzzz").is_empty());
        assert_eq!([distance("kitten", "sitting"), distance("", "ab"), distance("ab", "")], [3, 2, 2]);
    }
}
