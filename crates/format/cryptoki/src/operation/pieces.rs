//! Messages: whole, or in pieces.

use std::borrow::Cow;
use std::ops::Deref;

use aws_lc_rs::hmac;
use oarlock::DigestAlg;
use zeroize::Zeroizing;

use super::digest::{DigestOperation, hmac_algorithm};
use crate::constants::ReturnCode;

/// A message, or what its pieces became.
pub(crate) enum WholeMessage<'a> {
    /// The message, in the memory of the caller.
    Lent(&'a [u8]),
    /// The message, in memory of its own.
    Own(Zeroizing<Vec<u8>>),
    /// The digest or the HMAC of the message.
    Hashed(Zeroizing<Vec<u8>>),
}

/// The pieces of a message that have come.
#[derive(Clone)]
pub(crate) enum MessagePieces {
    Bytes(Zeroizing<Vec<u8>>),
    Digest(DigestOperation),
    /// Boxed, because it is far larger than the others.
    Hmac(Box<hmac::Context>),
}

impl<'a> WholeMessage<'a> {
    /// Returns the bytes. The caller erases those of its own.
    pub(crate) fn into_bytes(self) -> Cow<'a, [u8]> {
        match self {
            Self::Lent(bytes) => Cow::Borrowed(bytes),
            Self::Own(mut bytes) | Self::Hashed(mut bytes) => Cow::Owned(std::mem::take(&mut *bytes)),
        }
    }
}

impl Deref for WholeMessage<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Lent(bytes) => bytes,
            Self::Own(bytes) | Self::Hashed(bytes) => bytes,
        }
    }
}

impl MessagePieces {
    pub(crate) fn hmac(alg: DigestAlg, secret: &[u8]) -> Result<Self, ReturnCode> {
        let key = hmac::Key::new(hmac_algorithm(alg)?, secret);
        Ok(Self::Hmac(Box::new(hmac::Context::with_key(&key))))
    }

    /// Takes the next piece.
    pub(crate) fn update(&mut self, data: &[u8]) {
        match self {
            Self::Bytes(bytes) => append(bytes, data),
            Self::Digest(digest) => digest.update(data),
            Self::Hmac(context) => context.update(data),
        }
    }

    /// Returns the message after its last piece.
    pub(crate) fn finish(self) -> WholeMessage<'static> {
        match self {
            Self::Bytes(bytes) => WholeMessage::Own(bytes),
            Self::Digest(digest) => WholeMessage::Hashed(digest.finish()),
            Self::Hmac(context) => WholeMessage::Hashed(Zeroizing::new(context.sign().as_ref().to_vec())),
        }
    }
}

/// Appends without leaving a copy of the bytes in freed memory.
pub(crate) fn append(bytes: &mut Zeroizing<Vec<u8>>, data: &[u8]) {
    if bytes.capacity() - bytes.len() < data.len() {
        // At least doubled: exact sizes would copy the whole message for each small piece.
        let mut larger = Zeroizing::new(Vec::with_capacity((bytes.len() + data.len()).next_power_of_two()));
        larger.extend_from_slice(bytes);
        *bytes = larger;
    }
    bytes.extend_from_slice(data);
}
