//! Single records of AEADs, sealed and opened in place.
//!
//! A record that does not wait for others gains nothing from an engine's lanes, and an engine writes its outputs to
//! memory of its own. So these records go to AWS-LC directly, which seals from the caller's bytes to the wire buffer
//! and opens within it. Suites of a cipher and a MAC have no such path: their constant-time opening belongs to the
//! engines.

use aws_lc_rs::aead::chacha20_poly1305_openssh as openssh;
use aws_lc_rs::aead::{AES_128_GCM, AES_256_GCM, Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use oarlock::{AeadAlg, Status};

use crate::frame::{OpenFrame, SealFrame};
use crate::keys::{DerivationError, Keys};
use crate::suite::RecordTransform;

/// The key of a sealer.
pub(crate) enum DirectSealer {
    Aead(LessSafeKey),
    // Two expanded keys: a box keeps the sealers of other suites small.
    OpenSsh(Box<openssh::SealingKey>),
    /// The suite needs an engine.
    None,
}

/// The key of an opener.
pub(crate) enum DirectOpener {
    Aead(LessSafeKey),
    OpenSsh(Box<openssh::OpeningKey>),
    /// The suite needs an engine.
    None,
}

impl DirectSealer {
    pub(crate) fn new(keys: &Keys) -> Result<Self, DerivationError> {
        Ok(match keys.suite.transform() {
            RecordTransform::Aead(AeadAlg::ChaCha20Poly1305Ssh) => {
                let key = openssh_key(keys)?;
                Self::OpenSsh(Box::new(openssh::SealingKey::new(&key)))
            }
            RecordTransform::Aead(alg) => Self::Aead(aead_key(keys, alg)?),
            RecordTransform::Chain { .. } => Self::None,
        })
    }

    /// Seals `parts` into `out`, which is as long as the frame. Returns None if the suite needs an engine.
    pub(crate) fn seal(
        &self,
        frame: &SealFrame,
        parts: &[&[u8]],
        out: &mut [u8],
    ) -> Option<Result<(), Status>> {
        let (prefix, rest) = out.split_at_mut(frame.prefix.len());
        let (body, tag) = rest.split_at_mut(frame.body_len);
        match self {
            Self::None => None,
            Self::Aead(key) => {
                prefix.copy_from_slice(&frame.prefix);
                Some(seal_aead(key, frame, parts, body, tag))
            }
            Self::OpenSsh(key) => {
                gather(frame, parts, body);
                let Ok(tag) = tag.try_into() else { return Some(Err(Status::BadLength)) };
                key.seal_in_place(packet_number(frame.sequence), body, tag);
                Some(Ok(()))
            }
        }
    }
}

fn seal_aead(
    key: &LessSafeKey,
    frame: &SealFrame,
    parts: &[&[u8]],
    body: &mut [u8],
    tag: &mut [u8],
) -> Result<(), Status> {
    let nonce = Nonce::try_assume_unique_for_key(&frame.iv).map_err(|_| Status::BadLength)?;
    let aad = Aad::from(&frame.aad[..]);
    if let ([payload], true) = (parts, frame.head.is_empty()) {
        // The payload goes from the caller's memory to the wire without a copy. Body and tag are adjacent, but the
        // tail belongs to the second output.
        let mut end = [0; 64];
        let end_len = frame.tail.len() + tag.len();
        if let Some(end) = end.get_mut(..end_len) {
            let (ciphertext, last) = body.split_at_mut(payload.len());
            key.seal_out_of_place_scatter(nonce, aad, payload, ciphertext, &frame.tail, end)
                .map_err(|_| Status::EngineFailed)?;
            let (tail, made) = end.split_at(frame.tail.len());
            last.copy_from_slice(tail);
            tag.copy_from_slice(made);
            return Ok(());
        }
    }
    gather(frame, parts, body);
    let made = key.seal_in_place_separate_tag(nonce, aad, body).map_err(|_| Status::EngineFailed)?;
    tag.copy_from_slice(made.as_ref());
    Ok(())
}

/// Copies head, payload and tail to `body`, which is as long as all of them.
pub(crate) fn gather(frame: &SealFrame, parts: &[&[u8]], body: &mut [u8]) {
    let mut rest = body;
    for part in std::iter::once(&frame.head[..]).chain(parts.iter().copied()).chain([&frame.tail[..]]) {
        let (to, behind) = rest.split_at_mut(part.len());
        to.copy_from_slice(part);
        rest = behind;
    }
}

impl DirectOpener {
    pub(crate) fn new(keys: &Keys) -> Result<Self, DerivationError> {
        Ok(match keys.suite.transform() {
            RecordTransform::Aead(AeadAlg::ChaCha20Poly1305Ssh) => {
                let key = openssh_key(keys)?;
                Self::OpenSsh(Box::new(openssh::OpeningKey::new(&key)))
            }
            RecordTransform::Aead(alg) => Self::Aead(aead_key(keys, alg)?),
            RecordTransform::Chain { .. } => Self::None,
        })
    }

    /// Opens a record in its wire buffer. Returns None if the suite needs an engine.
    pub(crate) fn open(&self, frame: &OpenFrame, wire: &mut [u8]) -> Option<Result<(), Status>> {
        let (front, behind) = wire.split_at_mut(frame.body.end);
        let body = &mut front[frame.body.start..];
        let tag = &behind[..frame.tag.len()];
        match self {
            Self::None => None,
            Self::Aead(key) => {
                let opened = Nonce::try_assume_unique_for_key(&frame.iv)
                    .and_then(|nonce| {
                        key.open_in_place_separate_tag(nonce, Aad::from(&frame.aad[..]), tag, body)
                    })
                    .map(drop);
                Some(opened.map_err(|_| Status::Rejected))
            }
            Self::OpenSsh(key) => {
                let Ok(tag) = tag.try_into() else { return Some(Err(Status::BadLength)) };
                let opened = key.open_in_place(packet_number(frame.sequence), body, tag).map(drop);
                Some(opened.map_err(|_| Status::Rejected))
            }
        }
    }

    /// Decrypts the length of a packet of `chacha20-poly1305@openssh.com`.
    pub(crate) fn decrypt_length(&self, sequence: u32, length: [u8; 4]) -> Option<[u8; 4]> {
        match self {
            Self::OpenSsh(key) => Some(key.decrypt_packet_length(sequence, length)),
            _ => None,
        }
    }
}

fn aead_key(keys: &Keys, alg: AeadAlg) -> Result<LessSafeKey, DerivationError> {
    let suite = keys.suite;
    let algorithm = match alg {
        AeadAlg::Aes128Gcm => &AES_128_GCM,
        AeadAlg::Aes256Gcm => &AES_256_GCM,
        _ => &CHACHA20_POLY1305,
    };
    let key =
        UnboundKey::new(algorithm, keys.key.expose()).map_err(|_| DerivationError::Derivation { suite })?;
    Ok(LessSafeKey::new(key))
}

fn openssh_key(keys: &Keys) -> Result<zeroize::Zeroizing<[u8; openssh::KEY_LEN]>, DerivationError> {
    let (suite, bytes) = (keys.suite, keys.key.expose());
    let length =
        |_| DerivationError::Length { suite, what: "key", expected: openssh::KEY_LEN, found: bytes.len() };
    Ok(zeroize::Zeroizing::new(bytes.try_into().map_err(length)?))
}

/// Frames of SSH have numbers of 32 bits.
fn packet_number(sequence: u64) -> u32 {
    (sequence & u64::from(u32::MAX)) as u32
}
