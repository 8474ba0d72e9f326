//! The resident keys, and the grants of clients to use them.
//!
//! A keyring never changes: every change of a file makes a new one with the next generation number. So everything that
//! depends on keys alone, such as the description of a key, is computed once per generation.

mod chains;
mod device_keys;
mod identity_file;
mod sources;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use oarlock::Key;
use oarlock::KeyKind;
use oarlock::keys::export;
use oarlock::keys::threshold::Share;
use oarlock_keytable::{KeyPolicy, KeyTable, KeyType};
use oarlock_records::{KeyVersions, VersionRange, split_version};
use oarlock_wire::proto;

pub use self::sources::ResidentKeysError;
pub(crate) use self::sources::{CounterUse, KeyChanges, KeySources};
use crate::client_pattern::ClientPattern;
use crate::config::{ConfigError, GrantConfig};
use crate::identity::ClientIdentity;
use crate::pattern::Pattern;
use crate::rate::RateLimit;

/// The keys and grants of one generation.
#[derive(Debug)]
pub(crate) struct Keyring {
    /// The number of the keyring: every change makes another one.
    pub(crate) generation: u64,
    asymmetric: BTreeMap<Arc<str>, DescribedKey>,
    pub(crate) table: KeyTable,
    /// The secret keys of devices, which the table has as held keys, and their types.
    device_secrets: BTreeMap<Arc<str>, KeyType>,
    /// The versions of the keys of the table.
    pub(crate) versions: Arc<KeyVersions>,
    grants: Arc<[Arc<ActiveGrant>]>,
    /// The names of keys whose devices are not available, with the reasons.
    missing: BTreeMap<Arc<str>, String>,
    /// True if clients may bring keys of their own.
    pub(crate) may_bring_keys: bool,
}

/// A key that lives at the server.
#[derive(Clone, Debug)]
pub(crate) enum ResidentKey {
    Asymmetric(Key),
    /// A share of an RSA key.
    Share(Share),
    /// The index of a symmetric key in the table.
    Symmetric(u32),
}

/// An asymmetric resident key with its description for clients. Encoding the public half takes longer than looking the
/// key up.
#[derive(Debug)]
struct DescribedKey {
    key: ResidentKey,
    /// The description without the operations that a client is allowed.
    info: proto::KeyInfo,
}

impl DescribedKey {
    fn new(name: &str, key: ResidentKey, certificates: &[Bytes]) -> Self {
        let info = match &key {
            ResidentKey::Asymmetric(key) => describe_key(key, name),
            ResidentKey::Share(share) => proto::KeyInfo {
                kind: format!("rsa{}-share", share.public().modulus_bits()),
                share_index: share.index().into(),
                threshold_key: share.public().to_der().unwrap_or_default().into(),
                ..describe_key(share.public().public(), name)
            },
            ResidentKey::Symmetric(_) => proto::KeyInfo { name: name.to_owned(), ..Default::default() },
        };
        Self { key, info: proto::KeyInfo { certificates: certificates.to_vec(), ..info } }
    }
}

/// A grant with its parsed patterns and its rate.
#[derive(Debug)]
pub(crate) struct ActiveGrant {
    grant: GrantConfig,
    clients: Vec<ClientPattern>,
    rate: Option<RateLimit>,
}

/// The operations that one client may do with one key.
#[derive(Clone, Debug)]
pub(crate) enum ClientRights {
    /// Every operation: the client brought the key.
    Own,
    /// The operations that these grants allow.
    Granted(Vec<Arc<ActiveGrant>>),
}

/// The reason why a client was denied an operation with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DenialReason {
    /// No grant allows the operation.
    Forbidden,
    /// The rate of the grant is used up. The client may try again after this time.
    TooOften(Duration),
}

impl Keyring {
    pub(crate) fn find(&self, name: &str) -> Option<ResidentKey> {
        // Asymmetric keys win over symmetric keys of the same name, so a name has one meaning.
        let asymmetric = self.asymmetric.get(name).map(|described| described.key.clone());
        asymmetric.or_else(|| self.symmetric(name).map(ResidentKey::Symmetric))
    }

    /// Returns the index of a symmetric key, which may be named with the number of its version.
    fn symmetric(&self, name: &str) -> Option<u32> {
        let Some((base, version)) = self.version(name) else { return self.table.index(name) };
        let range = self.versions.range(base).unwrap_or_default();
        match version {
            version if version == range.newest => self.table.index(base),
            version if version < range.min => None,
            _ => self.table.index(name),
        }
    }

    /// Splits the name of a version into the key's name and the number. A key without versions is in its first.
    fn version<'n>(&self, name: &'n str) -> Option<(&'n str, u32)> {
        let (base, version) = split_version(name)?;
        // A key may have such a name itself, if no line has the number of a version.
        let is_first = || version == VersionRange::default().newest && self.table.index(name).is_none();
        let has_versions =
            self.versions.range(base).is_some() || is_first() && self.table.index(base).is_some();
        has_versions.then_some((base, version))
    }

    /// Returns the versions of a key if `name` is that of another version, and the client has rights to the key.
    pub(crate) fn missing_version(&self, name: &str, client: &ClientIdentity) -> Option<VersionRange> {
        let (base, _) = split_version(name)?;
        let has_key = self.table.index(base).is_some() && !self.rights(base, client).is_none();
        has_key.then(|| self.versions.range(base).unwrap_or_default())
    }

    /// Returns the reason why a key is not available if its device is not, and the client has rights to the key.
    pub(crate) fn missing_reason(&self, name: &str, client: &ClientIdentity) -> Option<&str> {
        let reason = self.missing.get(name)?;
        (!self.rights(name, client).is_none()).then_some(reason)
    }

    /// Returns a key and a client's rights to it. A key without any rights is reported as absent, so that names stay
    /// unknown to clients that may not use them.
    pub(crate) fn find_for_client(
        &self,
        name: &str,
        client: &ClientIdentity,
    ) -> Option<(ResidentKey, ClientRights)> {
        let rights = self.rights(name, client);
        if rights.is_none() {
            return None;
        }
        Some((self.find(name)?, rights))
    }

    /// Returns the names of all keys, those of missing devices included.
    pub(crate) fn names(&self) -> impl Iterator<Item = Arc<str>> {
        let symmetric = self.table.names().into_iter().map(|(_, name)| name);
        // A version below the minimum is as if it were not there.
        let symmetric = symmetric.filter(|name| self.symmetric(name).is_some());
        let in_devices = self.missing.keys().chain(self.device_secrets.keys());
        self.asymmetric.keys().chain(in_devices).cloned().chain(symmetric)
    }

    /// Returns the number of keys in the directory and in devices.
    pub(crate) fn asymmetric_len(&self) -> usize {
        self.asymmetric.len()
    }

    /// Returns a client's rights to the key of a name, whether there is such a key or not.
    pub(crate) fn rights(&self, name: &str, client: &ClientIdentity) -> ClientRights {
        let fits = |patterns: &[Pattern], text: &str| patterns.iter().any(|pattern| pattern.fits(text));
        // A grant for a key holds for all of its versions.
        let base = self.version(name).map(|(base, _)| base);
        let applies = |grant: &&Arc<ActiveGrant>| {
            (fits(&grant.grant.keys, name) || base.is_some_and(|base| fits(&grant.grant.keys, base)))
                && client.names().iter().any(|name| grant.clients.iter().any(|pattern| pattern.fits(name)))
        };
        ClientRights::Granted(self.grants.iter().filter(applies).cloned().collect())
    }

    /// Returns the fingerprint by which clients know a key. A share has the fingerprint of the whole key.
    pub(crate) fn fingerprint(&self, key: &ResidentKey) -> Vec<u8> {
        let fingerprint = match key {
            ResidentKey::Asymmetric(key) => Some(key.fingerprint()),
            ResidentKey::Share(share) => Some(share.public().public().fingerprint()),
            ResidentKey::Symmetric(index) => self.table.info(*index).map(|info| info.fingerprint),
        };
        fingerprint.map_or_else(Vec::new, |fingerprint| fingerprint.as_bytes().to_vec())
    }

    /// Returns descriptions of the keys that a client may use, ordered by name.
    pub(crate) fn visible_keys(&self, client: &ClientIdentity) -> Vec<proto::KeyInfo> {
        let mut keys: Vec<_> = self.names().filter_map(|name| self.info_for_client(&name, client)).collect();
        keys.sort_by(|one, other| one.name.cmp(&other.name));
        keys
    }

    /// Returns the description of a key if the client may use it.
    pub(crate) fn info_for_client(&self, name: &str, client: &ClientIdentity) -> Option<proto::KeyInfo> {
        let (key, rights) = self.find_for_client(name, client)?;
        Some(self.key_info(&key, name, &rights))
    }

    /// Returns the description of a key for a client with these rights.
    pub(crate) fn key_info(&self, key: &ResidentKey, name: &str, rights: &ClientRights) -> proto::KeyInfo {
        let described = self.asymmetric.get(name).map(|described| described.info.clone());
        let info = described.unwrap_or_else(|| self.symmetric_info(key, name));
        proto::KeyInfo { allowed: rights.patterns(), ..info }
    }

    /// Returns the type and the policy of a symmetric key. A key in a device has the policy of whole codes and anything
    /// else: its token decides.
    pub(crate) fn symmetric_policy(&self, index: u32, name: &str) -> Option<(KeyType, Arc<KeyPolicy>)> {
        let local = self.table.info(index).map(|info| (info.key_type, info.policy));
        local.or_else(|| Some((*self.device_secrets.get(name)?, Arc::default())))
    }

    /// Returns the number of the newest version of a key, which may be named with another one.
    pub(crate) fn newest_version(&self, name: &str) -> u32 {
        self.range(name).newest
    }

    fn range(&self, name: &str) -> VersionRange {
        let base = self.version(name).map_or(name, |(base, _)| base);
        self.versions.range(base).unwrap_or_default()
    }

    /// Returns the description of a symmetric key. Its type and fingerprint are the table's, which batches may add keys
    /// to.
    fn symmetric_info(&self, key: &ResidentKey, name: &str) -> proto::KeyInfo {
        let info = match key {
            ResidentKey::Symmetric(index) => self.table.info(*index),
            _ => None,
        };
        // Devices tell no fingerprint.
        let of_device = || self.device_secrets.get(name).map(|key_type| (key_type.to_string(), Bytes::new()));
        let (kind, fingerprint) = info
            .map(|info| (info.key_type.to_string(), info.fingerprint.as_bytes().to_vec().into()))
            .or_else(of_device)
            .unwrap_or_default();
        let range = self.range(name);
        proto::KeyInfo {
            name: name.to_owned(),
            kind,
            fingerprint,
            version: range.newest,
            min_version: range.min,
            ..Default::default()
        }
    }
}

/// Returns the public description of an asymmetric key.
pub(crate) fn describe_key(key: &Key, name: &str) -> proto::KeyInfo {
    proto::KeyInfo {
        name: name.to_owned(),
        kind: kind_name(key.kind()),
        fingerprint: key.fingerprint().as_bytes().to_vec().into(),
        public_key: export::spki_der(key).unwrap_or_default().into(),
        ..Default::default()
    }
}

/// Returns the protocol's name of a kind.
fn kind_name(kind: KeyKind) -> String {
    match kind {
        KeyKind::RsaPrivate(bits) => format!("rsa{bits}"),
        KeyKind::RsaPublic(bits) => format!("rsa{bits}-public"),
        KeyKind::ModExp { bits, .. } => format!("rsa{bits}-share"),
        KeyKind::EcPrivate(curve) => curve.to_string(),
        KeyKind::EcPublic(curve) => format!("{curve}-public"),
        KeyKind::Ed25519Private => "ed25519".into(),
        KeyKind::Ed25519Public => "ed25519-public".into(),
        KeyKind::X25519Private => "x25519".into(),
        KeyKind::X25519Public => "x25519-public".into(),
        KeyKind::MlKemPrivate(set) => set.to_string(),
        KeyKind::MlKemPublic(set) => format!("{set}-public"),
        KeyKind::MlDsaPrivate(set) => set.to_string(),
        KeyKind::MlDsaPublic(set) => format!("{set}-public"),
        KeyKind::SlhDsaPrivate(set) => set.to_string(),
        KeyKind::SlhDsaPublic(set) => format!("{set}-public"),
        KeyKind::HssPublic(set) => format!("{set}-public"),
        KeyKind::XmssPublic(set) => format!("{set}-public"),
        KeyKind::CompositePrivate(alg) => alg.to_string(),
        KeyKind::CompositePublic(alg) => format!("{alg}-public"),
        _ => "secret".into(),
    }
}

impl ClientRights {
    pub(crate) fn is_none(&self) -> bool {
        matches!(self, Self::Granted(grants) if grants.is_empty())
    }

    fn patterns(&self) -> Vec<String> {
        match self {
            Self::Own => vec!["*".into()],
            Self::Granted(grants) => {
                let schemes = grants.iter().flat_map(|grant| &grant.grant.schemes);
                schemes.map(|scheme| scheme.as_str().to_owned()).collect()
            }
        }
    }

    /// Returns true if operations are counted against a rate.
    pub(crate) fn is_counted(&self) -> bool {
        matches!(self, Self::Granted(grants) if grants.iter().any(|grant| grant.is_counted()))
    }

    /// Returns the grant that allows an operation, or `None` if the key is the client's own.
    pub(crate) fn allow(&self, operation: &str) -> Result<Option<&Arc<ActiveGrant>>, DenialReason> {
        match self {
            Self::Own => Ok(None),
            Self::Granted(grants) => {
                let allows = |grant: &&Arc<ActiveGrant>| {
                    grant.grant.schemes.iter().any(|scheme| scheme.fits(operation))
                };
                // The first grant counts, as docs/oarlock.toml says: another order would use up another rate.
                grants.iter().find(allows).map(Some).ok_or(DenialReason::Forbidden)
            }
        }
    }
}

impl ActiveGrant {
    /// Parses grants. A grant that was active before stays in use, so that a reload does not refill its rate.
    pub(crate) fn activate(
        grants: &[GrantConfig],
        before: &[Arc<Self>],
    ) -> Result<Arc<[Arc<Self>]>, ConfigError> {
        let activate = |(number, grant): (usize, &GrantConfig)| {
            // Equal settings mean the same grant, wherever it stands in the file.
            if let Some(same) = before.iter().find(|active| active.grant == *grant) {
                return Ok(Arc::clone(same));
            }
            let clients = grant.clients.iter().map(|pattern| ClientPattern::parse(pattern.as_str()));
            let clients =
                clients.collect::<Result<_, _>>().map_err(|error| ConfigError::Client { number, error })?;
            Ok(Arc::new(Self { rate: grant.rate.map(RateLimit::new), clients, grant: grant.clone() }))
        };
        (1..).zip(grants).map(activate).collect()
    }

    /// Returns true if the grant has a rate.
    pub(crate) fn is_counted(&self) -> bool {
        self.rate.is_some()
    }

    /// Counts one operation against the rate.
    #[inline]
    pub(crate) fn take(&self) -> Result<(), DenialReason> {
        match &self.rate {
            None => Ok(()),
            Some(rate) => rate.take(1).map_err(DenialReason::TooOften),
        }
    }
}
