//! Identities: the secrets that open sealed files.

use std::fmt;
use std::fs::File;
use std::path::Path;

use aws_lc_rs::agreement::{PrivateKey, UnparsedPublicKey, X25519, agree};
use oarlock::keys::text_file::checked_text;
use zeroize::Zeroizing;

use super::bech32::{self, Bech32Fault};
use super::fault::{IdentityFault, IdentityLineFault, IdentityReadFault, SealFault};
use super::file_key::{FileKey, WRAPPED_LEN, wrapping_key};
use super::header::{RecipientStanza, SealHeader, decode_exact};
use super::{AgeRecipient, is_sealed};
use crate::private_file::read_open;
use crate::{SecretReader, check_secret_mode_for};

/// The prefix of the text of an identity.
pub(super) const IDENTITY_PREFIX: &str = "AGE-SECRET-KEY-";

/// The maximum number of identities. Each is tried with each recipient of a file.
const MAX_IDENTITIES: usize = 32;

/// The identities of a file. Each opens the files that are sealed to its recipient.
///
/// The secrets are wiped when they are dropped, and no text shows them.
pub struct AgeIdentities(Vec<AgeIdentity>);

struct AgeIdentity {
    /// On the heap, so that moving the identity leaves no copy.
    secret: Zeroizing<Vec<u8>>,
    recipient: AgeRecipient,
}

impl AgeIdentities {
    /// The maximum length of an identity file in bytes.
    pub(crate) const MAX_FILE_LEN: usize = 64 << 10;

    /// Parses an identity file, as `age-keygen` writes it: an identity on each line. Empty lines and comments, which
    /// begin with `#`, are skipped.
    ///
    /// # Errors
    /// The file has no identity, too many, or a line that is something else. No line is quoted.
    pub fn parse(text: &[u8]) -> Result<Self, IdentityFault> {
        if text.len() > Self::MAX_FILE_LEN {
            return Err(IdentityFault::TooLong { max: Self::MAX_FILE_LEN });
        }
        if is_sealed(text) {
            return Err(IdentityFault::Sealed);
        }
        let mut identities = Vec::new();
        let text = checked_text(text)?;
        for (line, content) in (1..).zip(text.split(|byte| *byte == b'\n')) {
            let content = content.trim_ascii();
            if content.is_empty() || content.starts_with(b"#") {
                continue;
            }
            if identities.len() == MAX_IDENTITIES {
                return Err(IdentityFault::TooMany { max: MAX_IDENTITIES });
            }
            identities
                .push(AgeIdentity::parse(content).map_err(|fault| IdentityFault::Line { line, fault })?);
        }
        if identities.is_empty() { Err(IdentityFault::Empty) } else { Ok(Self(identities)) }
    }

    /// Reads an identity file. No user but this reader may read it ([`check_secret_mode_for`]).
    ///
    /// # Errors
    /// The file cannot be read, others may read it, or it is not an identity file.
    pub fn read(path: &Path, reader: SecretReader) -> Result<Self, IdentityReadFault> {
        let file = File::open(path)?;
        check_secret_mode_for(reader, path, &file.metadata()?)?;
        Ok(Self::parse(&read_open(file, Self::MAX_FILE_LEN + 1)?)?)
    }

    /// Returns the recipients of the identities, in their order.
    pub fn recipients(&self) -> impl Iterator<Item = AgeRecipient> {
        self.0.iter().map(|identity| identity.recipient)
    }

    /// Opens the file key that a header holds for one of the identities.
    pub(super) fn unwrap_file_key(&self, header: &SealHeader<'_>) -> Result<FileKey, SealFault> {
        if header.stanzas.iter().any(|stanza| stanza.kind == b"scrypt") {
            return Err(SealFault::Passphrase);
        }
        let wrapped = header.stanzas.iter().filter(|stanza| stanza.kind == b"X25519");
        let wrapped = wrapped.map(WrappedFileKey::parse).collect::<Result<Vec<_>, _>>()?;
        for one in &wrapped {
            for identity in &self.0 {
                if let Some(file_key) = identity.unwrap(one)? {
                    return Ok(file_key);
                }
            }
        }
        Err(SealFault::OtherRecipient { x25519: wrapped.len(), others: other_kinds(header) })
    }
}

/// The maximum number of types that a message names.
const MAX_KINDS: usize = 3;

/// The maximum length of a type that a message shows.
const MAX_KIND_LEN: usize = 32;

/// Returns the types of the recipients that are not supported.
fn other_kinds(header: &SealHeader<'_>) -> Vec<String> {
    let mut kinds: Vec<String> = Vec::new();
    for stanza in header.stanzas.iter().filter(|stanza| stanza.kind != b"X25519") {
        // The parser has checked that it is printable ASCII.
        let kind = String::from_utf8_lossy(&stanza.kind[..stanza.kind.len().min(MAX_KIND_LEN)]).into_owned();
        if kinds.len() < MAX_KINDS && !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds
}

/// The file key in a stanza of type X25519.
struct WrappedFileKey {
    /// The public half of the key that the sealer made for this recipient alone.
    share: [u8; 32],
    body: [u8; WRAPPED_LEN],
    line: usize,
}

impl WrappedFileKey {
    fn parse(stanza: &RecipientStanza<'_>) -> Result<Self, SealFault> {
        let fault = |expected| SealFault::Header { line: stanza.line, expected };
        let [share] = stanza.arguments[..] else {
            return Err(fault("one share behind X25519"));
        };
        let share = decode_exact(share).ok_or(fault("a share of 32 bytes in base64"))?;
        let body = stanza.body[..].try_into().map_err(|_| fault("a file key of 16 bytes and its tag"))?;
        Ok(Self { share, body, line: stanza.line })
    }
}

impl AgeIdentity {
    fn parse(text: &[u8]) -> Result<Self, IdentityLineFault> {
        let secret = bech32::decode(text, IDENTITY_PREFIX).map_err(|fault| explain(text, fault))?;
        let key = PrivateKey::from_private_key(&X25519, &*secret).map_err(|_| IdentityLineFault::Damaged)?;
        let public = key.compute_public_key().map_err(|_| IdentityLineFault::Damaged)?;
        let recipient = public.as_ref().try_into().map_err(|_| IdentityLineFault::Damaged)?;
        Ok(Self { secret: Zeroizing::new(secret.to_vec()), recipient: AgeRecipient(recipient) })
    }

    /// Returns the file key, or None if it is wrapped for another recipient.
    fn unwrap(&self, wrapped: &WrappedFileKey) -> Result<Option<FileKey>, SealFault> {
        let key = PrivateKey::from_private_key(&X25519, &self.secret).map_err(|_| SealFault::Machine)?;
        // A share of small order makes a secret of zeros, which AWS-LC refuses.
        let weak = SealFault::Header { line: wrapped.line, expected: "a share that is not of small order" };
        let share = UnparsedPublicKey::new(&X25519, wrapped.share);
        let key = agree(&key, share, weak, |secret| wrapping_key(secret, &wrapped.share, &self.recipient))?;
        FileKey::unwrap(&key, wrapped.body)
    }
}

/// Returns the fault of a line that is not an identity.
fn explain(text: &[u8], fault: Bech32Fault) -> IdentityLineFault {
    let begins =
        |prefix: &[u8]| text.get(..prefix.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(prefix));
    match fault {
        _ if begins(b"AGE-SECRET-KEY-PQ-1") => IdentityLineFault::PostQuantum,
        _ if begins(b"AGE-PLUGIN-") => IdentityLineFault::Plugin,
        _ if begins(b"age1") => IdentityLineFault::Recipient,
        _ if begins(b"-----BEGIN ") => IdentityLineFault::Pem,
        Bech32Fault::Damaged => IdentityLineFault::Damaged,
        // Letters of the other case.
        Bech32Fault::Prefix if begins(b"AGE-SECRET-KEY-1") => IdentityLineFault::Damaged,
        Bech32Fault::Prefix => IdentityLineFault::NotIdentity,
    }
}

/// Shows the recipients only.
impl fmt::Debug for AgeIdentities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AgeIdentities")?;
        f.debug_list().entries(self.recipients()).finish()
    }
}
