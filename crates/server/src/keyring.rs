//! Keys that live at the server, and who may use them for what.

mod sources;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use oarlock::Key;
use oarlock::KeyKind;
use oarlock::keys::export;
use oarlock::keys::threshold::Share;
use oarlock::table::KeyTable;
use oarlock_wire::proto;

pub use self::sources::KeysError;
pub(crate) use self::sources::{CounterUse, KeySources, Refreshed};
use crate::client_pattern::ClientPattern;
use crate::config::{ConfigError, Grant};
use crate::identity::Identity;
use crate::pattern::Pattern;
use crate::rate::Rate;

/// The keys and grants at one time.
#[derive(Debug)]
pub(crate) struct Keyring {
    /// Every change makes another number.
    pub(crate) generation: u64,
    asymmetric: BTreeMap<Arc<str>, Resident>,
    pub(crate) table: KeyTable,
    grants: Arc<[Arc<Granted>]>,
    /// True if clients may bring keys of their own.
    pub(crate) may_bring_keys: bool,
}

/// A key that lives at the server.
#[derive(Clone, Debug)]
pub(crate) enum Resident {
    Asymmetric(Key),
    /// A share of an RSA key.
    Share(Share),
    /// Its index in the table.
    Symmetric(u32),
}

/// A grant at work.
#[derive(Debug)]
pub(crate) struct Granted {
    grant: Grant,
    clients: Vec<ClientPattern>,
    rate: Option<Rate>,
}

/// What one client may do with one key.
#[derive(Clone, Debug)]
pub(crate) enum Rights {
    /// It brought the key.
    Own,
    /// What these grants allow.
    Granted(Vec<Arc<Granted>>),
}

/// Why a key's owner does not get what he asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Denied {
    /// No grant allows it.
    Forbidden,
    /// It was done too often; again after so long.
    TooOften(Duration),
}

impl Keyring {
    pub(crate) fn find(&self, name: &str) -> Option<Resident> {
        let asymmetric = self.asymmetric.get(name).cloned();
        asymmetric.or_else(|| self.table.index(name).map(Resident::Symmetric))
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
    pub(crate) fn rights(&self, name: &str, client: &Identity) -> Rights {
        let fits = |patterns: &[Pattern], text: &str| patterns.iter().any(|pattern| pattern.fits(text));
        let applies = |granted: &&Arc<Granted>| {
            fits(&granted.grant.keys, name)
                && client.names().iter().any(|name| granted.clients.iter().any(|pattern| pattern.fits(name)))
        };
        Rights::Granted(self.grants.iter().filter(applies).cloned().collect())
    }

    /// The fingerprint by which clients know a key: of a share that of the whole key.
    pub(crate) fn fingerprint(&self, found: &Resident) -> Vec<u8> {
        let fingerprint = match found {
            Resident::Asymmetric(key) => Some(key.fingerprint()),
            Resident::Share(share) => Some(share.public().public().fingerprint()),
            Resident::Symmetric(index) => self.table.info(*index).map(|info| info.fingerprint),
        };
        fingerprint.map_or_else(Vec::new, |fingerprint| fingerprint.as_bytes().to_vec())
    }

    /// The keys that a client may use, by name.
    pub(crate) fn visible(&self, client: &Identity) -> Vec<proto::KeyInfo> {
        let names =
            self.asymmetric.keys().cloned().chain(self.table.names().into_iter().map(|(_, name)| name));
        let mut keys: Vec<_> = names.filter_map(|name| self.info(&name, client)).collect();
        keys.sort_by(|one, other| one.name.cmp(&other.name));
        keys
    }

    /// What a client may know of a key: nothing where it may not use it.
    pub(crate) fn info(&self, name: &str, client: &Identity) -> Option<proto::KeyInfo> {
        let rights = self.rights(name, client);
        if rights.is_none() {
            return None;
        }
        let found = self.find(name)?;
        Some(self.info_of(&found, name, &rights))
    }

    pub(crate) fn info_of(&self, found: &Resident, name: &str, rights: &Rights) -> proto::KeyInfo {
        let plain =
            proto::KeyInfo { name: name.to_owned(), allowed: rights.patterns(), ..Default::default() };
        match found {
            Resident::Asymmetric(key) => proto::KeyInfo { allowed: rights.patterns(), ..about(key, name) },
            Resident::Share(share) => proto::KeyInfo {
                kind: format!("rsa{}-share", share.public().modulus_bits()),
                allowed: rights.patterns(),
                share_index: share.index().into(),
                threshold_key: share.public().to_der().unwrap_or_default().into(),
                ..about(share.public().public(), name)
            },
            Resident::Symmetric(index) => match self.table.info(*index) {
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

impl Rights {
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
    pub(crate) fn allow(&self, scheme: &str) -> Result<Option<&Arc<Granted>>, Denied> {
        match self {
            Self::Own => Ok(None),
            Self::Granted(grants) => {
                let allows =
                    |granted: &&Arc<Granted>| granted.grant.schemes.iter().any(|own| own.fits(scheme));
                grants.iter().find(allows).map(Some).ok_or(Denied::Forbidden)
            }
        }
    }
}

impl Granted {
    /// Puts grants to work. One that was at work before goes on, so that a reload does not fill up its rate.
    pub(crate) fn of(grants: &[Grant], before: &[Arc<Self>]) -> Result<Arc<[Arc<Self>]>, ConfigError> {
        let granted = |(number, grant): (usize, &Grant)| {
            if let Some(same) = before.iter().find(|own| own.grant == *grant) {
                return Ok(Arc::clone(same));
            }
            let clients = grant.clients.iter().map(|pattern| ClientPattern::parse(pattern.as_str()));
            let clients =
                clients.collect::<Result<_, _>>().map_err(|error| ConfigError::Client { number, error })?;
            Ok(Arc::new(Self { rate: grant.rate.map(Rate::new), clients, grant: grant.clone() }))
        };
        (1..).zip(grants).map(granted).collect()
    }

    /// True where there is a rate.
    pub(crate) fn is_counted(&self) -> bool {
        self.rate.is_some()
    }

    /// Counts one operation.
    #[inline]
    pub(crate) fn take(&self) -> Result<(), Denied> {
        match &self.rate {
            None => Ok(()),
            Some(rate) => rate.take(1).map_err(Denied::TooOften),
        }
    }
}
