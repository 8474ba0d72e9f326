//! The master key of a store, and what is encrypted and sealed under it.
//!
//! The associated data of an attribute is the object's number, the attribute's type, the object's version and the two
//! flags. So no value can be moved to another object, attribute or version. The seal of an object covers all its
//! attributes as they are stored, so that none can be added, removed or made public.

use std::fmt;

use aws_lc_rs::aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::rand;
use zeroize::Zeroizing;

use super::error::StoreFault;
use super::object::ObjectId;

pub(super) const KEY_LEN: usize = 32;

/// The key of one initialisation of a store, in memory that is zeroized.
pub(super) struct MasterKey(Zeroizing<[u8; KEY_LEN]>);

/// The position of an attribute, which its encryption is bound to.
#[derive(Clone, Copy)]
pub(super) struct AttributePosition {
    pub(super) object: ObjectId,
    pub(super) version: u64,
    pub(super) is_private: bool,
    pub(super) attribute: u64,
    pub(super) is_secret: bool,
}

/// An attribute as it is stored.
pub(super) struct StoredBytes {
    pub(super) attribute: u64,
    pub(super) is_secret: bool,
    pub(super) bytes: Vec<u8>,
}

/// A key that encrypts with AES-256-GCM, under a random nonce each time.
pub(super) struct SealingKey(RandomizedNonceKey);

impl MasterKey {
    pub(super) fn generate() -> Result<Self, StoreFault> {
        let mut bytes = Zeroizing::new([0; KEY_LEN]);
        rand::fill(&mut *bytes).map_err(|_| StoreFault::Machine("drawing random bytes"))?;
        Ok(Self(bytes))
    }

    /// Copies a key from a buffer of the right length.
    pub(super) fn from_slice(bytes: &[u8]) -> Option<Self> {
        let mut key = Zeroizing::new([0; KEY_LEN]);
        (bytes.len() == KEY_LEN).then(|| key.copy_from_slice(bytes))?;
        Some(Self(key))
    }

    pub(super) fn expose(&self) -> &[u8] {
        &*self.0
    }

    pub(super) fn sealing_key(&self) -> Result<SealingKey, StoreFault> {
        SealingKey::new(&*self.0)
    }
}

impl fmt::Debug for MasterKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("MasterKey")
    }
}

impl SealingKey {
    pub(super) fn new(key: &[u8]) -> Result<Self, StoreFault> {
        let key = RandomizedNonceKey::new(&AES_256_GCM, key);
        key.map(Self).map_err(|_| StoreFault::Machine("setting up AES-256-GCM"))
    }

    /// Encrypts a text, and returns nonce, ciphertext and tag.
    pub(super) fn seal(&self, associated: &[u8], plain: &[u8]) -> Result<Vec<u8>, StoreFault> {
        // The plaintext is overwritten in place, in a buffer that never moves.
        let mut sealed = Vec::with_capacity(NONCE_LEN + plain.len() + AES_256_GCM.tag_len());
        sealed.resize(NONCE_LEN, 0);
        sealed.extend_from_slice(plain);
        let (nonce, tag) = self
            .0
            .seal_in_place_separate_tag(Aad::from(associated), &mut sealed[NONCE_LEN..])
            .map_err(|_| StoreFault::Machine("AES-256-GCM"))?;
        sealed[..NONCE_LEN].copy_from_slice(nonce.as_ref());
        sealed.extend_from_slice(tag.as_ref());
        Ok(sealed)
    }

    /// Decrypts nonce, ciphertext and tag. Returns None if they were changed or belong elsewhere.
    pub(super) fn open(&self, associated: &[u8], sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let (nonce, text) = sealed.split_at_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let mut plain = Zeroizing::new(text.to_vec());
        let len = self.0.open_in_place(nonce, Aad::from(associated), &mut plain).ok()?.len();
        plain.truncate(len);
        Some(plain)
    }

    pub(super) fn seal_value(&self, at: AttributePosition, value: &[u8]) -> Result<Vec<u8>, StoreFault> {
        self.seal(&at.encode(), value)
    }

    pub(super) fn open_value(&self, at: AttributePosition, stored: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        self.open(&at.encode(), stored)
    }

    /// Seals an object: a tag over an empty text, with the encoded object as associated data.
    pub(super) fn seal_object(&self, encoded: &[u8]) -> Result<Vec<u8>, StoreFault> {
        self.seal(encoded, b"")
    }

    pub(super) fn is_seal_of(&self, seal: &[u8], encoded: &[u8]) -> bool {
        self.open(encoded, seal).is_some_and(|text| text.is_empty())
    }
}

impl AttributePosition {
    fn encode(&self) -> Vec<u8> {
        let flags = [u8::from(self.is_private), u8::from(self.is_secret)];
        let numbers = [self.object.0, self.attribute, self.version].map(u64::to_be_bytes);
        [b"oarlock attribute\0".as_slice(), numbers.as_flattened(), &flags].concat()
    }
}

/// Encodes an object with all attributes as they are stored. Two objects never have the same encoding, because every
/// length stands before its value.
pub(super) fn encode_object(
    object: ObjectId,
    version: u64,
    is_private: bool,
    rows: &[StoredBytes],
) -> Vec<u8> {
    let mut encoded = b"oarlock object\0".to_vec();
    encoded.extend(
        [object.0, version, u64::from(is_private), rows.len() as u64].map(u64::to_be_bytes).as_flattened(),
    );
    for row in rows {
        encoded.extend(row.attribute.to_be_bytes());
        encoded.push(u8::from(row.is_secret));
        encoded.extend((row.bytes.len() as u64).to_be_bytes());
        encoded.extend(&row.bytes);
    }
    encoded
}

/// Returns the seal of an object that everybody may write: a digest, which detects damage but no intent.
pub(super) fn public_seal(encoded: &[u8]) -> Vec<u8> {
    digest(&SHA256, encoded).as_ref().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: AttributePosition = AttributePosition {
        object: ObjectId(3),
        version: 7,
        is_private: true,
        attribute: 0x11,
        is_secret: true,
    };

    #[test]
    fn a_value_opens_at_its_own_position_only() {
        let key = MasterKey::generate().unwrap().sealing_key().unwrap();
        for value in [b"".as_slice(), b"x", &[7; 300]] {
            let stored = key.seal_value(HERE, value).unwrap();
            assert_eq!(**key.open_value(HERE, &stored).unwrap(), *value);
            for elsewhere in [
                AttributePosition { object: ObjectId(4), ..HERE },
                AttributePosition { version: 6, ..HERE },
                AttributePosition { attribute: 0x12, ..HERE },
                AttributePosition { is_private: false, ..HERE },
                AttributePosition { is_secret: false, ..HERE },
            ] {
                assert!(key.open_value(elsewhere, &stored).is_none());
            }
            let other = MasterKey::generate().unwrap().sealing_key().unwrap();
            assert!(other.open_value(HERE, &stored).is_none());
        }
    }

    #[test]
    fn every_changed_byte_and_every_cut_is_noticed() {
        let key = MasterKey::generate().unwrap().sealing_key().unwrap();
        let stored = key.seal_value(HERE, b"a value").unwrap();
        for at in 0..stored.len() {
            let mut changed = stored.clone();
            changed[at] ^= 1;
            assert!(key.open_value(HERE, &changed).is_none(), "byte {at}");
            assert!(key.open_value(HERE, &stored[..at]).is_none(), "cut to {at}");
        }
        assert_ne!(stored, key.seal_value(HERE, b"a value").unwrap(), "nonces are random");
    }

    #[test]
    fn a_seal_covers_every_attribute() {
        let row =
            |attribute, is_secret, bytes: &[u8]| StoredBytes { attribute, is_secret, bytes: bytes.to_vec() };
        let encode = |rows: &[StoredBytes]| encode_object(ObjectId(1), 2, false, rows);
        let texts = [
            encode(&[]),
            encode(&[row(1, false, b"ab")]),
            encode(&[row(1, true, b"ab")]),
            encode(&[row(2, false, b"ab")]),
            encode(&[row(1, false, b"a"), row(2, false, b"b")]),
            encode(&[row(1, false, b"ab"), row(2, false, b"")]),
            encode_object(ObjectId(1), 2, true, &[]),
            encode_object(ObjectId(1), 3, false, &[]),
            encode_object(ObjectId(2), 2, false, &[]),
        ];
        let key = MasterKey::generate().unwrap().sealing_key().unwrap();
        let seal = key.seal_object(&texts[0]).unwrap();
        assert!(key.is_seal_of(&seal, &texts[0]));
        for (at, text) in texts.iter().enumerate().skip(1) {
            assert!(!key.is_seal_of(&seal, text), "{at}");
            assert!(texts[..at].iter().all(|other| public_seal(other) != public_seal(text)), "{at}");
        }
    }

    #[test]
    fn a_key_is_never_shown() {
        let key = MasterKey::from_slice(&[0x41; KEY_LEN]).unwrap();
        assert_eq!(format!("{key:?}"), "MasterKey");
        assert!(MasterKey::from_slice(&[0; KEY_LEN - 1]).is_none());
    }
}
