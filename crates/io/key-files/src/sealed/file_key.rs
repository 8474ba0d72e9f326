//! The key of a sealed file, and what is derived from it.

use aws_lc_rs::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::agreement::{PrivateKey, UnparsedPublicKey, X25519, agree};
use aws_lc_rs::hkdf::{HKDF_SHA256, Salt};
use aws_lc_rs::{hmac, rand};
use zeroize::Zeroizing;

use super::AgeRecipient;
use super::fault::SealFault;

/// The length of a file key.
const FILE_KEY_LEN: usize = 16;

/// The length of a wrapped file key: the key and a tag.
pub(super) const WRAPPED_LEN: usize = FILE_KEY_LEN + 16;

/// The key of one file. A wrapped copy of it is in the header for each recipient.
pub(super) struct FileKey(Zeroizing<[u8; FILE_KEY_LEN]>);

/// A share, and the file key that is wrapped under it.
type ShareAndKey = ([u8; 32], Vec<u8>);

/// A key of ChaCha20-Poly1305.
pub(super) type DerivedKey = Zeroizing<[u8; 32]>;

impl FileKey {
    pub(super) fn generate() -> Result<Self, SealFault> {
        let mut key = Zeroizing::new([0; FILE_KEY_LEN]);
        rand::fill(&mut *key).map_err(|_| SealFault::Machine)?;
        Ok(Self(key))
    }

    /// Opens a wrapped file key. Returns None if the tag does not verify.
    pub(super) fn unwrap(
        key: &DerivedKey,
        mut wrapped: [u8; WRAPPED_LEN],
    ) -> Result<Option<Self>, SealFault> {
        let cipher = cipher(key)?;
        let Ok(opened) = cipher.open_in_place(zero_nonce(), Aad::empty(), &mut wrapped) else {
            return Ok(None);
        };
        let mut file_key = Zeroizing::new([0; FILE_KEY_LEN]);
        file_key.copy_from_slice(opened);
        zeroize::Zeroize::zeroize(&mut wrapped);
        Ok(Some(Self(file_key)))
    }

    /// Wraps the file key for a recipient. Returns the share and the wrapped key. Returns None for a recipient of small
    /// order.
    pub(super) fn wrap(&self, recipient: &AgeRecipient) -> Result<Option<ShareAndKey>, SealFault> {
        let ephemeral = PrivateKey::generate(&X25519).map_err(|_| SealFault::Machine)?;
        let share = ephemeral.compute_public_key().map_err(|_| SealFault::Machine)?;
        let share: [u8; 32] = share.as_ref().try_into().map_err(|_| SealFault::Machine)?;
        let peer = UnparsedPublicKey::new(&X25519, recipient.0);
        let key =
            agree(&ephemeral, peer, None, |secret| wrapping_key(secret, &share, recipient).map_err(Some));
        let key = match key {
            Ok(key) => key,
            Err(None) => return Ok(None),
            Err(Some(fault)) => return Err(fault),
        };
        let mut wrapped = Vec::with_capacity(WRAPPED_LEN);
        wrapped.extend_from_slice(&*self.0);
        let tag = cipher(&key)?
            .seal_in_place_separate_tag(zero_nonce(), Aad::empty(), &mut wrapped)
            .map_err(|_| SealFault::Machine)?;
        wrapped.extend_from_slice(tag.as_ref());
        Ok(Some((share, wrapped)))
    }

    /// Returns the code of a header.
    pub(super) fn header_mac(&self, header: &[u8]) -> Result<[u8; 32], SealFault> {
        let code = hmac::sign(&self.header_key()?, header);
        code.as_ref().try_into().map_err(|_| SealFault::Machine)
    }

    /// Verifies the code of a header, in constant time.
    pub(super) fn verify_header(&self, header: &[u8], mac: &[u8; 32]) -> Result<(), SealFault> {
        hmac::verify(&self.header_key()?, header, mac).map_err(|_| SealFault::HeaderChanged)
    }

    fn header_key(&self) -> Result<hmac::Key, SealFault> {
        Ok(hmac::Key::new(hmac::HMAC_SHA256, &*derive(&[], &*self.0, b"header")?))
    }

    /// Returns the cipher of the content.
    pub(super) fn payload_cipher(&self, nonce: &[u8]) -> Result<LessSafeKey, SealFault> {
        cipher(&derive(nonce, &*self.0, b"payload")?)
    }
}

/// Derives the key that wraps a file key from the secret of X25519.
pub(super) fn wrapping_key(
    secret: &[u8],
    share: &[u8; 32],
    recipient: &AgeRecipient,
) -> Result<DerivedKey, SealFault> {
    derive(&[*share, recipient.0].concat(), secret, b"age-encryption.org/v1/X25519")
}

fn derive(salt: &[u8], secret: &[u8], info: &[u8]) -> Result<DerivedKey, SealFault> {
    let mut key = Zeroizing::new([0; 32]);
    let prk = Salt::new(HKDF_SHA256, salt).extract(secret);
    let filled = prk.expand(&[info], HKDF_SHA256).and_then(|okm| okm.fill(&mut *key));
    filled.map_err(|_| SealFault::Machine)?;
    Ok(key)
}

fn cipher(key: &DerivedKey) -> Result<LessSafeKey, SealFault> {
    let key = UnboundKey::new(&CHACHA20_POLY1305, &**key).map_err(|_| SealFault::Machine)?;
    Ok(LessSafeKey::new(key))
}

/// The nonce of a wrapped file key. Its key is used once.
fn zero_nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; 12])
}
