//! Summaries of keys without their secrets.

use std::io;
use std::path::Path;

use oarlock::keys::threshold::Share;
use oarlock::{Key, KeyKind, MlKemSet};
use oarlock_key_files::KeyMaterial;
use oarlock_keytable::KeyType;
use oarlock_terminal::GlobalOptions;
use oarlock_terminal::report::print_report;
use serde::Serialize;

/// A key without its secrets, as `--json` prints it.
#[derive(Clone, Debug, Serialize)]
pub(super) struct KeySummary {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) holds: KeyHalf,
    /// The length of an RSA key's modulus, or of another key's private or secret number, in bits; null if it is
    /// unknown.
    pub(super) bits: Option<usize>,
    pub(super) fingerprint: Option<String>,
    pub(super) file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) share: Option<SharePosition>,
    /// The public half in PEM.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) public_key: Option<String>,
}

/// The half of a key that is present.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum KeyHalf {
    Private,
    Public,
    /// A share of the private half.
    Share,
    /// A symmetric key, which has no halves.
    Secret,
}

/// The position of a share: its index, the number of shares, and the threshold.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct SharePosition {
    index: u8,
    shares: u8,
    threshold: u8,
}

impl KeySummary {
    /// Describes the content of a file in a key directory.
    pub(super) fn material(name: &str, material: &KeyMaterial, file: &Path) -> Self {
        match material {
            KeyMaterial::Key(key) => Self::asymmetric(name, key, file),
            KeyMaterial::Share(share) => Self::of_share(name, share, file),
        }
    }

    /// Describes a key that has a public half.
    pub(super) fn asymmetric(name: &str, key: &Key, file: &Path) -> Self {
        Self {
            name: name.to_owned(),
            kind: kind(key.kind()),
            holds: if key.kind().is_public() { KeyHalf::Public } else { KeyHalf::Private },
            bits: bits(key.kind()),
            fingerprint: Some(key.fingerprint().to_string()),
            file: file.display().to_string(),
            share: None,
            public_key: None,
        }
    }

    /// Describes a share by the public key that all shares together have.
    fn of_share(name: &str, share: &Share, file: &Path) -> Self {
        let whole = share.public();
        let position =
            SharePosition { index: share.index(), shares: whole.shares(), threshold: whole.threshold() };
        Self { holds: KeyHalf::Share, share: Some(position), ..Self::asymmetric(name, whole.public(), file) }
    }

    /// Describes a symmetric key in a file of keys.
    pub(super) fn symmetric(name: &str, key_type: KeyType, len: Option<usize>, file: &Path) -> Self {
        Self {
            name: name.to_owned(),
            kind: key_type.to_string(),
            holds: KeyHalf::Secret,
            bits: len.map(|len| 8 * len),
            fingerprint: None,
            file: file.display().to_string(),
            share: None,
            public_key: None,
        }
    }

    /// Prints the summary on stdout.
    pub(super) fn print(&self, global: &GlobalOptions) -> io::Result<()> {
        print_report(global.json, self, |_| self.to_text())
    }

    fn to_text(&self) -> String {
        let mut text =
            format!("name         {}\nkind         {}, {}\n", self.name, self.kind, self.holds.word());
        if let Some(SharePosition { index, shares, threshold }) = self.share {
            text += &format!("share        {index} of {shares}, {threshold} sign together\n");
        }
        if let Some(bits) = self.bits {
            text += &format!("size         {bits} bits\n");
        }
        if let Some(fingerprint) = &self.fingerprint {
            text += &format!("fingerprint  {fingerprint}\n");
        }
        text + &format!("file         {}\n", self.file) + self.public_key.as_deref().unwrap_or_default()
    }
}

impl KeyHalf {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Private => "private",
            Self::Public => "public",
            Self::Share => "share",
            Self::Secret => "secret",
        }
    }
}

/// Warns on stderr about a key that is too short.
pub(crate) fn warn(name: &str, key: &Key) {
    match key.kind() {
        KeyKind::RsaPrivate(bits @ ..2048) | KeyKind::RsaPublic(bits @ ..2048) => {
            eprintln!("oarlock: {name}: an RSA key of {bits} bits is too short to be safe");
        }
        // The default of FIPS 203 section 8 is ML-KEM-768.
        KeyKind::MlKemPrivate(MlKemSet::MlKem512) | KeyKind::MlKemPublic(MlKemSet::MlKem512) => {
            eprintln!("oarlock: {name}: ML-KEM-512 has the smallest security margin: prefer ml-kem-768");
        }
        _ => {}
    }
}

/// Returns a kind's name on the command line, which is the same for both halves.
pub(crate) fn kind(kind: KeyKind) -> String {
    match kind {
        KeyKind::RsaPrivate(bits) | KeyKind::RsaPublic(bits) => format!("rsa{bits}"),
        KeyKind::EcPrivate(curve) | KeyKind::EcPublic(curve) => curve.to_string(),
        KeyKind::Ed25519Private | KeyKind::Ed25519Public => "ed25519".into(),
        KeyKind::X25519Private | KeyKind::X25519Public => "x25519".into(),
        KeyKind::MlKemPrivate(set) | KeyKind::MlKemPublic(set) => set.to_string(),
        KeyKind::MlDsaPrivate(set) | KeyKind::MlDsaPublic(set) => set.to_string(),
        KeyKind::SlhDsaPrivate(set) | KeyKind::SlhDsaPublic(set) => set.to_string(),
        KeyKind::HssPublic(set) => set.to_string(),
        KeyKind::XmssPublic(set) => set.to_string(),
        KeyKind::CompositePrivate(alg) | KeyKind::CompositePublic(alg) => alg.to_string(),
        other => format!("{other:?}"),
    }
}

fn bits(kind: KeyKind) -> Option<usize> {
    match kind {
        KeyKind::RsaPrivate(bits) | KeyKind::RsaPublic(bits) => Some(bits.into()),
        KeyKind::EcPrivate(curve) | KeyKind::EcPublic(curve) => Some(8 * curve.scalar_len()),
        KeyKind::Ed25519Private | KeyKind::Ed25519Public => Some(256),
        KeyKind::X25519Private | KeyKind::X25519Public => Some(256),
        _ => None,
    }
}
