//! The keys that handles of a stream stand for.

use std::sync::Arc;

use bytes::Bytes;
use oarlock::Key;
use oarlock::keys::threshold::Share;
use oarlock_keytable::KeyTable;
use oarlock_wire::proto::{Blame, Code, Fault};

use super::faults::{missing_key, no_key, no_version, refusal, removed_key, replaced_key, too_many_bytes};
use super::own_keys::import_client_key;
use crate::audit::AuditedOperation;
use crate::budget::HeldBytes;
use crate::clients::KnownClient;
use crate::key_uses::KeyUseCounter;
use crate::keyring::{ClientRights, Keyring, ResidentKey};
use crate::service::SharedService;

/// The maximum length of a key's name in bytes. No key has a longer name.
pub(super) const MAX_NAME_BYTES: usize = 256;

/// The bytes that an asymmetric key of the client's own holds beside its handle.
const OWN_KEY_BYTES: usize = 16 << 10;

/// A key that a client has opened.
#[derive(Clone, Debug)]
pub(super) struct OpenedKey {
    /// The name of a resident key, or the fingerprint of a key of the client's own.
    pub(super) name: Arc<str>,
    pub(super) source: OpenedSource,
    pub(super) rights: ClientRights,
    /// The fingerprint that the client expects; empty for any.
    pub(super) expected: Bytes,
    /// True for an older version of a key.
    pub(super) is_older: bool,
    /// The counter of a resident key.
    pub(super) uses: Option<KeyUseCounter>,
    /// The bytes that a key of the client's own holds, for as long as batches use it too.
    _held: Option<Arc<HeldBytes>>,
}

/// The source of an opened key.
#[derive(Clone, Debug)]
pub(super) enum OpenedSource {
    Resident(ResidentKey),
    /// A resident key that the server no longer has.
    Removed,
    /// A resident key whose name now stands for another key than the client expects.
    Replaced,
    Own(Key),
    /// The index of a key among the stream's own symmetric keys.
    OwnSymmetric(u32),
}

impl OpenedKey {
    /// Opens a resident key, and writes an attempt that is refused to the audit log.
    ///
    /// # Errors
    /// The key does not exist, or the client has no right to it.
    pub(super) fn open_resident(
        service: &SharedService,
        keyring: &Keyring,
        client: &KnownClient,
        name: &str,
        number: u64,
    ) -> Result<(Self, ResidentKey), Fault> {
        // Long names are refused before the grants: patterns take time in the length of the name.
        let short = Some(name).filter(|name| name.len() <= MAX_NAME_BYTES);
        let found = short.and_then(|name| keyring.find_for_client(name, &client.identity));
        let Some((key, rights)) = found else {
            let fault = short.map_or_else(|| no_key(name), |name| absent_key(keyring, name, client));
            audit_refusal(service, client, number, name, fault.code());
            return Err(fault);
        };
        let source = OpenedSource::Resident(key.clone());
        let is_older = keyring.versions.older(name).is_some();
        let uses = service.key_uses.of_key(name);
        let opened =
            Self { name: name.into(), source, rights, expected: Bytes::new(), is_older, uses, _held: None };
        Ok((opened, key))
    }

    /// Opens an asymmetric key that a client brings. Returns it with the key itself.
    ///
    /// # Errors
    /// The key cannot be read, exceeds a limit, or the client holds too many bytes.
    pub(super) fn open_brought(
        service: &SharedService,
        client: &KnownClient,
        bytes: &[u8],
    ) -> Result<(Self, Key), Fault> {
        let key = import_client_key(&service.limits, &client.account, bytes)?;
        let held = HeldBytes::new(&client.account.bytes, OWN_KEY_BYTES).map_err(too_many_bytes)?;
        Ok((Self::of_session(&key, OpenedSource::Own(key.clone()), held), key))
    }

    /// Returns a key of the client's own, which may be used for every operation.
    pub(super) fn of_session(key: &Key, source: OpenedSource, held: HeldBytes) -> Self {
        let name = key.fingerprint().to_string().into();
        let held = Some(Arc::new(held));
        let (rights, expected) = (ClientRights::Own, Bytes::new());
        Self { name, source, rights, expected, is_older: false, uses: None, _held: held }
    }

    /// True for a symmetric key of a device: records under it wait for the device.
    pub(super) fn is_in_device(&self) -> bool {
        match self.source {
            OpenedSource::Resident(ResidentKey::Symmetric(index)) => KeyTable::is_held(index),
            _ => false,
        }
    }

    /// Looks the name of a resident key up in a keyring.
    pub(super) fn source_in(&self, keyring: &Keyring) -> OpenedSource {
        match keyring.find(&self.name) {
            None => OpenedSource::Removed,
            Some(key) if is_expected(&self.expected, &keyring.fingerprint(&key)) => {
                OpenedSource::Resident(key)
            }
            Some(_) => OpenedSource::Replaced,
        }
    }

    /// Returns the key or the share that does jobs.
    ///
    /// # Errors
    /// The key is symmetric, or the server no longer has it.
    pub(super) fn signer(&self) -> Result<JobSigner<'_>, Fault> {
        match &self.source {
            OpenedSource::Resident(ResidentKey::Asymmetric(key)) | OpenedSource::Own(key) => {
                Ok(JobSigner::Key(key))
            }
            OpenedSource::Resident(ResidentKey::Share(share)) => Ok(JobSigner::Share(share)),
            OpenedSource::Resident(ResidentKey::Symmetric(_)) | OpenedSource::OwnSymmetric(_) => {
                Err(refusal(Code::WrongKey, "this is a symmetric key: use it for records", Blame::Caller))
            }
            OpenedSource::Removed => Err(removed_key()),
            OpenedSource::Replaced => Err(replaced_key(&self.name)),
        }
    }
}

/// The key that does a job.
#[derive(Clone, Copy)]
pub(super) enum JobSigner<'s> {
    Key(&'s Key),
    Share(&'s Share),
}

/// Returns the refusal for a key that is not there.
pub(super) fn absent_key(keyring: &Keyring, name: &str, client: &KnownClient) -> Fault {
    if let Some(reason) = keyring.missing_reason(name, &client.identity) {
        return missing_key(name, reason);
    }
    let version = keyring.missing_version(name, &client.identity);
    version.map_or_else(|| no_key(name), |range| no_version(name, range))
}

/// Returns true if the client expects no particular key, or this one.
pub(super) fn is_expected(expected: &[u8], found: &[u8]) -> bool {
    expected.is_empty() || expected == found
}

/// Writes an entry about a key that was not opened.
pub(super) fn audit_refusal(
    service: &SharedService,
    client: &KnownClient,
    number: u64,
    key: &str,
    verdict: Code,
) {
    let refused = AuditedOperation { key, operation: "open", count: 1, verdict };
    service.audit.refuse(&client.origin, number, &[refused]);
}
