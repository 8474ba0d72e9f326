//! The objects of a cryptoserver's symmetric keys. Their operations are the server's.

use oarlock::{AeadAlg, BlockCipher, Fingerprint, Key, KeyKind, MacAlg, WrapAlg};
use oarlock_cryptoki::KeyTypeNumber;
use oarlock_keytable::{BatchTask, KeyType};
use oarlock_wire::proto::KeyInfo;
use oarlock_wire::task;

use super::key_objects::{PrivateUses, SecretUses, ShownKey, secret_object};
use super::read_only::NewShownObject;

/// Key types of PKCS#11 v3.2 for which the library has no mechanism: such a key is shown and computes nothing.
const CKK_DES: KeyTypeNumber = KeyTypeNumber(0x13);
const CKK_DES2: KeyTypeNumber = KeyTypeNumber(0x14);
const CKK_DES3: KeyTypeNumber = KeyTypeNumber(0x15);

/// Returns the object of a symmetric key, or `None` if the key has a type that is not known here.
pub(super) fn show_secret(info: &KeyInfo, holder: &str) -> Option<NewShownObject> {
    let own_type = task::key_type(&info.kind).ok()?;
    let key_type = match own_type {
        KeyType::Aes128 | KeyType::Aes256 => KeyTypeNumber::AES,
        KeyType::Hmac => KeyTypeNumber::GENERIC_SECRET,
        KeyType::Des => CKK_DES,
        KeyType::Tdes2 => CKK_DES2,
        KeyType::Tdes3 => CKK_DES3,
        _ => return None,
    };
    // The server does not report the length of an HMAC key, and no operation here depends on it.
    let len = own_type.key_len();
    let kind = KeyKind::Secret(u16::try_from(len.unwrap_or_default()).ok()?);
    let fingerprint = Fingerprint::new(info.fingerprint.as_ref().try_into().ok()?);
    let key = Key::held(kind, holder, &info.name, None, fingerprint);
    let shown = ShownKey { name: &info.name, key: &key, uses: PrivateUses::ALL, certificates: &[] };
    Some(secret_object(&shown, key_type, len.map(|len| len as u64), granted_uses(own_type, &info.allowed)))
}

/// Returns the uses for which some operation is granted. The server decides about each operation itself.
fn granted_uses(own_type: KeyType, allowed: &[String]) -> SecretUses {
    let is_granted = |tasks: &[BatchTask]| {
        let mut names = tasks.iter().map(ToString::to_string);
        names.any(|name| allowed.iter().any(|pattern| fits(pattern, &name)))
    };
    let (cipher, aead, macs, wraps): (_, _, &[MacAlg], &[WrapAlg]) = match own_type {
        KeyType::Aes128 => (
            BlockCipher::Aes128,
            AeadAlg::Aes128Gcm,
            &[MacAlg::Aes128Cmac],
            &[WrapAlg::Aes128Kw, WrapAlg::Aes128Kwp],
        ),
        KeyType::Aes256 => (
            BlockCipher::Aes256,
            AeadAlg::Aes256Gcm,
            &[MacAlg::Aes256Cmac],
            &[WrapAlg::Aes256Kw, WrapAlg::Aes256Kwp],
        ),
        KeyType::Hmac => {
            let macs = [
                MacAlg::HmacSha1,
                MacAlg::HmacSha224,
                MacAlg::HmacSha256,
                MacAlg::HmacSha384,
                MacAlg::HmacSha512,
            ];
            return SecretUses { authenticate: is_granted(&macs.map(BatchTask::mac)), ..NO_USES };
        }
        _ => return NO_USES,
    };
    let tasks = |of: fn(MacAlg) -> BatchTask| macs.iter().copied().map(of).collect::<Vec<_>>();
    SecretUses {
        encrypt: is_granted(&[BatchTask::encrypt(cipher), BatchTask::seal(aead)]),
        decrypt: is_granted(&[BatchTask::decrypt(cipher), BatchTask::open(aead)]),
        authenticate: is_granted(&tasks(BatchTask::mac)),
        wrap: is_granted(&wraps.iter().copied().map(BatchTask::wrap).collect::<Vec<_>>()),
    }
}

const NO_USES: SecretUses = SecretUses { encrypt: false, decrypt: false, authenticate: false, wrap: false };

/// True if a name fits a pattern of a grant, in which a `*` stands for any characters.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((head, rest)) => name.strip_prefix(head).is_some_and(|tail| {
            let mut ends = tail.char_indices().map(|(start, _)| start).chain([tail.len()]);
            ends.any(|start| tail.get(start..).is_some_and(|tail| fits(rest, tail)))
        }),
    }
}

#[cfg(test)]
mod tests {
    use oarlock_cryptoki::{AttributeType as A, ObjectClass};

    use super::*;

    fn info(kind: &str, allowed: &[&str]) -> KeyInfo {
        KeyInfo {
            name: "k".to_owned(),
            kind: kind.to_owned(),
            fingerprint: vec![7; 32].into(),
            allowed: allowed.iter().map(|pattern| (*pattern).to_owned()).collect(),
            ..KeyInfo::default()
        }
    }

    #[test]
    fn each_type_has_its_class_type_and_length() {
        for (kind, key_type, len) in [
            ("aes128", KeyTypeNumber::AES, Some(16)),
            ("aes256", KeyTypeNumber::AES, Some(32)),
            ("hmac", KeyTypeNumber::GENERIC_SECRET, None),
            ("des", CKK_DES, Some(8)),
            ("tdes2", CKK_DES2, Some(16)),
            ("tdes3", CKK_DES3, Some(24)),
        ] {
            let object = show_secret(&info(kind, &["*"]), "server").unwrap();
            assert_eq!(object.attributes.number(A::CLASS), Some(ObjectClass::SECRET_KEY.0));
            assert_eq!(object.attributes.number(A::KEY_TYPE), Some(key_type.0), "{kind}");
            assert_eq!(object.attributes.number(A::VALUE_LEN), len, "{kind}");
            assert!(object.attributes.is_true(A::SENSITIVE) && !object.attributes.is_true(A::EXTRACTABLE));
        }
        assert!(show_secret(&info("rot13", &["*"]), "server").is_none());
    }

    #[test]
    fn grants_become_uses() {
        let uses = |kind: &str, allowed: &[&str]| {
            let attributes = show_secret(&info(kind, allowed), "server").unwrap().attributes;
            [A::ENCRYPT, A::DECRYPT, A::SIGN, A::WRAP].map(|kind| attributes.is_true(kind))
        };
        assert_eq!(uses("aes128", &["*"]), [true, true, true, true]);
        assert_eq!(uses("aes128", &["aes128-cbc-encrypt"]), [true, false, false, false]);
        assert_eq!(uses("aes256", &["aes128-*"]), [false; 4]);
        assert_eq!(uses("aes256", &["*-decrypt", "aes256-cmac"]), [false, true, true, false]);
        assert_eq!(uses("hmac", &["*"]), [false, false, true, false]);
        assert_eq!(uses("hmac", &["hmac-sha*"]), [false, false, true, false]);
        assert_eq!(uses("tdes2", &["*"]), [false; 4]);
        assert_eq!(uses("aes128", &[]), [false; 4]);
    }

    #[test]
    fn a_star_stands_for_any_characters() {
        assert!(fits("*", "") && fits("a*c*", "abcde") && fits("*-decrypt", "aes-decrypt"));
        assert!(!fits("a*c", "abcd") && !fits("", "a") && !fits("b*", "ab"));
    }
}
