//! Session tickets: keys that rotate, or keys of a file that several proxies share, and the rules for their use.

mod policy;
mod session;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::hkdf::{HKDF_SHA256, Salt};
use aws_lc_rs::rand;
use oarlock_key_files::read_private;
use rustls::crypto::GetRandomFailed;
use rustls::server::ProducesTickets;
use rustls::ticketer::TicketRotator;
use zeroize::Zeroizing;

pub(crate) use self::policy::{TicketPolicy, max_session_seconds};

const NAME_LEN: usize = 16;
const SECRET_LEN: usize = 32;
const SALT_LEN: usize = 32;
const TAG_LEN: usize = 16;

/// The maximum number of keys in a file.
const MAX_KEYS: usize = 16;

/// The length of a line: the name and the secret in hexadecimal digits.
const LINE_LEN: usize = 2 * (NAME_LEN + SECRET_LEN);

/// The maximum length of a ticket that is opened. Tickets with a client's chain are longer than others.
const MAX_TICKET_LEN: usize = 32 << 10;

/// The reason why ticket keys cannot be used. No reason quotes the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum TicketKeyError {
    /// The file cannot be read, or others may read it.
    #[error("{}: {error}", path.display())]
    Read {
        path: PathBuf,
        /// The reason.
        error: std::io::Error,
    },
    /// A line is not a key.
    #[error(
        "{}:{line}: expected {LINE_LEN} hexadecimal digits, as `openssl rand -hex 48` prints them", path.display()
    )]
    Line {
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// The number of keys is not allowed.
    #[error("{}: expected 1 to {MAX_KEYS} keys, found {found}", path.display())]
    Count {
        path: PathBuf,
        /// The number of keys.
        found: usize,
    },
    /// The system gives no random numbers.
    #[error("the system gives no random numbers for ticket keys")]
    Random,
}

/// A key that seals tickets. Each ticket has an AES-256-GCM key of its own, derived from the secret and a random salt,
/// so that no nonce repeats however many proxies share the secret.
struct TicketKey {
    name: [u8; NAME_LEN],
    secret: Zeroizing<[u8; SECRET_LEN]>,
    lifetime_s: u32,
}

/// The keys of a file: the first seals, and all of them open.
struct SharedTicketKeys(Vec<TicketKey>);

/// Returns keys that are made at random and replaced after `lifetime_s` seconds. A replaced key opens tickets for as
/// long again.
pub(crate) fn rotating_tickets(lifetime_s: u32) -> Result<Arc<dyn ProducesTickets>, TicketKeyError> {
    let rotator = TicketRotator::new(lifetime_s, TicketKey::generate).map_err(|_| TicketKeyError::Random)?;
    Ok(Arc::new(rotator))
}

/// Reads keys from a file.
pub(crate) fn shared_tickets(
    path: &Path,
    lifetime_s: u32,
) -> Result<Arc<dyn ProducesTickets>, TicketKeyError> {
    let bytes = read_private(path, MAX_KEYS * (LINE_LEN + 2) + 1)
        .map_err(|error| TicketKeyError::Read { path: path.to_owned(), error })?;
    let mut keys = Vec::new();
    for (line, text) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        let text = text.trim_ascii();
        if !text.is_empty() {
            let key = TicketKey::parse(text, lifetime_s);
            keys.push(key.ok_or_else(|| TicketKeyError::Line { path: path.to_owned(), line })?);
        }
    }
    match keys.len() {
        1..=MAX_KEYS => Ok(Arc::new(SharedTicketKeys(keys))),
        found => Err(TicketKeyError::Count { path: path.to_owned(), found }),
    }
}

impl TicketKey {
    fn generate() -> Result<Box<dyn ProducesTickets>, GetRandomFailed> {
        let (mut name, mut secret) = ([0; NAME_LEN], Zeroizing::new([0; SECRET_LEN]));
        rand::fill(&mut name).map_err(|_| GetRandomFailed)?;
        rand::fill(&mut *secret).map_err(|_| GetRandomFailed)?;
        // The rotator answers for the lifetime.
        Ok(Box::new(Self { name, secret, lifetime_s: u32::MAX }))
    }

    fn parse(line: &[u8], lifetime_s: u32) -> Option<Self> {
        let mut bytes = Zeroizing::new([0; NAME_LEN + SECRET_LEN]);
        if line.len() != LINE_LEN {
            return None;
        }
        for (byte, digits) in bytes.iter_mut().zip(line.chunks(2)) {
            let digit = |at: usize| char::from(digits[at]).to_digit(16);
            *byte = u8::try_from(digit(0)? << 4 | digit(1)?).ok()?;
        }
        let mut key = Self { name: [0; NAME_LEN], secret: Zeroizing::new([0; SECRET_LEN]), lifetime_s };
        key.name.copy_from_slice(&bytes[..NAME_LEN]);
        key.secret.copy_from_slice(&bytes[NAME_LEN..]);
        Some(key)
    }

    fn cipher(&self, salt: &[u8]) -> Option<LessSafeKey> {
        let mut bytes = Zeroizing::new([0; SECRET_LEN]);
        let derived = Salt::new(HKDF_SHA256, salt).extract(&*self.secret);
        derived.expand(&[b"oarlock proxy ticket"], HKDF_SHA256).ok()?.fill(&mut *bytes).ok()?;
        UnboundKey::new(&AES_256_GCM, &*bytes).ok().map(LessSafeKey::new)
    }
}

fn nonce() -> Nonce {
    // The key is used once.
    Nonce::assume_unique_for_key([0; 12])
}

impl ProducesTickets for TicketKey {
    fn enabled(&self) -> bool {
        true
    }

    fn lifetime(&self) -> u32 {
        self.lifetime_s
    }

    /// Returns the name of the key, the salt, the ciphertext and its tag.
    fn encrypt(&self, plain: &[u8]) -> Option<Vec<u8>> {
        let mut salt = [0; SALT_LEN];
        rand::fill(&mut salt).ok()?;
        let cipher = self.cipher(&salt)?;
        let start = NAME_LEN + SALT_LEN;
        let mut ticket = Vec::with_capacity(start + plain.len() + TAG_LEN);
        ticket.extend_from_slice(&self.name);
        ticket.extend_from_slice(&salt);
        ticket.extend_from_slice(plain);
        let tag =
            cipher.seal_in_place_separate_tag(nonce(), Aad::from(self.name), &mut ticket[start..]).ok()?;
        ticket.extend_from_slice(tag.as_ref());
        Some(ticket)
    }

    fn decrypt(&self, ticket: &[u8]) -> Option<Vec<u8>> {
        if ticket.len() > MAX_TICKET_LEN {
            return None;
        }
        let rest = ticket.strip_prefix(&self.name)?;
        let (salt, sealed) = rest.split_at_checked(SALT_LEN)?;
        let mut sealed = sealed.to_vec();
        let len = self.cipher(salt)?.open_in_place(nonce(), Aad::from(self.name), &mut sealed).ok()?.len();
        sealed.truncate(len);
        Some(sealed)
    }
}

impl ProducesTickets for SharedTicketKeys {
    fn enabled(&self) -> bool {
        true
    }

    fn lifetime(&self) -> u32 {
        self.0.first().map_or(0, |key| key.lifetime_s)
    }

    fn encrypt(&self, plain: &[u8]) -> Option<Vec<u8>> {
        self.0.first()?.encrypt(plain)
    }

    fn decrypt(&self, ticket: &[u8]) -> Option<Vec<u8>> {
        self.0.iter().find(|key| ticket.starts_with(&key.name))?.decrypt(ticket)
    }
}

impl fmt::Debug for TicketKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TicketKey")
    }
}

impl fmt::Debug for SharedTicketKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SharedTicketKeys({})", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn file(text: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), text).unwrap();
        file
    }

    #[test]
    fn a_ticket_is_opened_by_every_proxy_with_the_key() {
        let (old, new) = ("ab".repeat(48), "CD".repeat(48));
        let first = shared_tickets(file(&format!("{old}\n")).path(), 60).unwrap();
        let second = shared_tickets(file(&format!("{new}\r\n\n{old}\n")).path(), 60).unwrap();
        let ticket = first.encrypt(b"session").unwrap();
        assert_eq!(second.decrypt(&ticket).as_deref(), Some(&b"session"[..]));
        assert_eq!(second.lifetime(), 60);
        // The first key of the file seals.
        let ticket = second.encrypt(b"session").unwrap();
        assert_eq!((first.decrypt(&ticket), ticket.starts_with(&[0xcd; 16])), (None, true));
        assert_ne!(second.encrypt(b"session"), second.encrypt(b"session"));
    }

    #[test]
    fn a_changed_or_cut_ticket_is_not_opened() {
        let tickets = rotating_tickets(3_600).unwrap();
        let ticket = tickets.encrypt(b"session").unwrap();
        assert_eq!(tickets.decrypt(&ticket).as_deref(), Some(&b"session"[..]));
        for index in 0..ticket.len() {
            let mut changed = ticket.clone();
            changed[index] ^= 1;
            assert_eq!(tickets.decrypt(&changed), None);
            assert_eq!(tickets.decrypt(&ticket[..index]), None);
        }
        assert_eq!(rotating_tickets(3_600).unwrap().decrypt(&ticket), None);
    }

    #[test]
    fn faulty_files_are_rejected_without_a_quotation() {
        for (text, expected) in [
            (format!("{}\n{}\n", "ab".repeat(48), "cd".repeat(47)), ":2: expected 96"),
            (format!("{}g\n", "abc".repeat(31) + "ab"), ":1: expected 96"),
            (String::new(), "expected 1 to 16 keys, found 0"),
            (format!("{}\n", "ab".repeat(48)).repeat(17), ":17: "),
        ] {
            let error = shared_tickets(file(&text).path(), 60).unwrap_err().to_string();
            assert!(error.contains(expected) && !error.contains("abab"), "{error}");
        }
        let open = file(&"ab".repeat(48));
        fs::set_permissions(open.path(), fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(shared_tickets(open.path(), 60), Err(TicketKeyError::Read { .. })));
        assert!(!format!("{:?}", rotating_tickets(60).unwrap()).contains("secret"));
    }
}
