//! Keys that live at the server, and who may use them for what.

mod sources;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use oarlock::Key;
use oarlock::contract::KeyKind;
use oarlock::keys::export;
use oarlock::keys::threshold::Share;
use oarlock::table::KeyTable;
use oarlock_wire::proto;

pub use self::sources::ResidentKeysError;
pub(crate) use self::sources::{CounterUse, KeyChanges, KeySources};
use crate::client_pattern::ClientPattern;
use crate::config::{ConfigError, GrantConfig};
use crate::identity::ClientIdentity;
use crate::pattern::Pattern;
use crate::rate::RateLimit;

/// The keys and grants at one time.
#[derive(Debug)]
pub(crate) struct Keyring {
    /// Every change makes another number.
    pub(crate) generation: u64,
    asymmetric: BTreeMap<Arc<str>, ResidentKey>,
    pub(crate) table: KeyTable,
    grants: Arc<[Arc<ActiveGrant>]>,
    /// True if clients may bring keys of their own.
    pub(crate) may_bring_keys: bool,
}

/// A key that lives at the server.
#[derive(Clone, Debug)]
pub(crate) enum ResidentKey {
    Asymmetric(Key),
    /// A share of an RSA key.
    Share(Share),
    /// Its index in the table.
    Symmetric(u32),
}

/// A grant at work.
#[derive(Debug)]
pub(crate) struct ActiveGrant {
    grant: GrantConfig,
    clients: Vec<ClientPattern>,
    rate: Option<RateLimit>,
}

/// What one client may do with one key.
#[derive(Clone, Debug)]
pub(crate) enum KeyRights {
    /// It brought the key.
    Own,
    /// What these grants allow.
    Granted(Vec<Arc<ActiveGrant>>),
}

/// Why a key's owner does not get what he asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DenialReason {
    /// No grant allows it.
    Forbidden,
    /// It was done too often; again after so long.
    TooOften(Duration),
}

impl Keyring {
    pub(crate) fn find(&self, name: &str) -> Option<ResidentKey> {
        let asymmetric = self.asymmetric.get(name).cloned();
        asymmetric.or_else(|| self.table.index(name).map(ResidentKey::Symmetric))
    }

    /// The names of all keys.
    pub(crate) fn names(&self) -> impl Iterator<Item = Arc<str>> {
        let symmetric = self.table.names().into_iter().map(|(_, name)| name);
        self.asymmetric.keys().cloned().chain(symmetric)
    }

    /// Keys of the directory.
    pub(crate) fn asymmetric_len(&self) -> usize {
        self.asymmetric.len()
    }

    /// What a client may do with a key. Where that is nothing, the key might as well not be there.
    pub(crate) fn rights(&self, name: &str, client: &ClientIdentity) -> KeyRights {
        let fits = |patterns: &[Pattern], text: &str| patterns.iter().any(|pattern| pattern.fits(text));
        let applies = |granted: &&Arc<ActiveGrant>| {
            fits(&granted.grant.keys, name)
                && client.names().iter().any(|name| granted.clients.iter().any(|pattern| pattern.fits(name)))
        };
        KeyRights::Granted(self.grants.iter().filter(applies).cloned().collect())
    }

    /// The fingerprint by which clients know a key: of a share that of the whole key.
    pub(crate) fn fingerprint(&self, found: &ResidentKey) -> Vec<u8> {
        let fingerprint = match found {
            ResidentKey::Asymmetric(key) => Some(key.fingerprint()),
            ResidentKey::Share(share) => Some(share.public().public().fingerprint()),
            ResidentKey::Symmetric(index) => self.table.info(*index).map(|info| info.fingerprint),
        };
        fingerprint.map_or_else(Vec::new, |fingerprint| fingerprint.as_bytes().to_vec())
    }

    /// The keys that a client may use, by name.
    pub(crate) fn visible(&self, client: &ClientIdentity) -> Vec<proto::KeyInfo> {
        let names =
            self.asymmetric.keys().cloned().chain(self.table.names().into_iter().map(|(_, name)| name));
        let mut keys: Vec<_> = names.filter_map(|name| self.info(&name, client)).collect();
        keys.sort_by(|one, other| one.name.cmp(&other.name));
        keys
    }

    /// What a client may know of a key: nothing where it may not use it.
    pub(crate) fn info(&self, name: &str, client: &ClientIdentity) -> Option<proto::KeyInfo> {
        let rights = self.rights(name, client);
        if rights.is_none() {
            return None;
        }
        let found = self.find(name)?;
        Some(self.info_of(&found, name, &rights))
    }

    pub(crate) fn info_of(&self, found: &ResidentKey, name: &str, rights: &KeyRights) -> proto::KeyInfo {
        let plain =
            proto::KeyInfo { name: name.to_owned(), allowed: rights.patterns(), ..Default::default() };
        match found {
            ResidentKey::Asymmetric(key) => proto::KeyInfo { allowed: rights.patterns(), ..about(key, name) },
            ResidentKey::Share(share) => proto::KeyInfo {
                kind: format!("rsa{}-share", share.public().modulus_bits()),
                allowed: rights.patterns(),
                share_index: share.index().into(),
                threshold_key: share.public().to_der().unwrap_or_default().into(),
                ..about(share.public().public(), name)
            },
            ResidentKey::Symmetric(index) => match self.table.info(*index) {
                Some(info) => proto::KeyInfo {
                    kind: info.key_type.to_string(),
                    fingerprint: info.fingerprint.as_bytes().to_vec().into(),
                    ..plain
                },
                None => plain,
            },
        }
    }
}

/// What a client may know of an asymmetric key.
pub(crate) fn about(key: &Key, name: &str) -> proto::KeyInfo {
    proto::KeyInfo {
        name: name.to_owned(),
        kind: kind(key.kind()),
        fingerprint: key.fingerprint().as_bytes().to_vec().into(),
        public_key: export::spki_der(key).unwrap_or_default().into(),
        ..Default::default()
    }
}

/// A kind as the protocol names it.
fn kind(kind: KeyKind) -> String {
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
        _ => "secret".into(),
    }
}

impl KeyRights {
    pub(crate) fn is_none(&self) -> bool {
        matches!(self, Self::Granted(grants) if grants.is_empty())
    }

    fn patterns(&self) -> Vec<String> {
        match self {
            Self::Own => vec!["*".into()],
            Self::Granted(grants) => {
                let schemes = grants.iter().flat_map(|granted| &granted.grant.schemes);
                schemes.map(|scheme| scheme.as_str().to_owned()).collect()
            }
        }
    }

    /// True where operations are counted.
    pub(crate) fn is_counted(&self) -> bool {
        matches!(self, Self::Granted(grants) if grants.iter().any(|granted| granted.is_counted()))
    }

    /// The grant under which a scheme is allowed, or none where the key is the client's own.
    pub(crate) fn allow(&self, scheme: &str) -> Result<Option<&Arc<ActiveGrant>>, DenialReason> {
        match self {
            Self::Own => Ok(None),
            Self::Granted(grants) => {
                let allows =
                    |granted: &&Arc<ActiveGrant>| granted.grant.schemes.iter().any(|own| own.fits(scheme));
                grants.iter().find(allows).map(Some).ok_or(DenialReason::Forbidden)
            }
        }
    }
}

impl ActiveGrant {
    /// Puts grants to work. One that was at work before goes on, so that a reload does not fill up its rate.
    pub(crate) fn of(grants: &[GrantConfig], before: &[Arc<Self>]) -> Result<Arc<[Arc<Self>]>, ConfigError> {
        let granted = |(number, grant): (usize, &GrantConfig)| {
            if let Some(same) = before.iter().find(|own| own.grant == *grant) {
                return Ok(Arc::clone(same));
            }
            let clients = grant.clients.iter().map(|pattern| ClientPattern::parse(pattern.as_str()));
            let clients =
                clients.collect::<Result<_, _>>().map_err(|error| ConfigError::Client { number, error })?;
            Ok(Arc::new(Self { rate: grant.rate.map(RateLimit::new), clients, grant: grant.clone() }))
        };
        (1..).zip(grants).map(granted).collect()
    }

    /// True where there is a rate.
    pub(crate) fn is_counted(&self) -> bool {
        self.rate.is_some()
    }

    /// Counts one operation.
    #[inline]
    pub(crate) fn take(&self) -> Result<(), DenialReason> {
        match &self.rate {
            None => Ok(()),
            Some(rate) => rate.take(1).map_err(DenialReason::TooOften),
        }
    }
}
