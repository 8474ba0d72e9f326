//! BIND's files of private keys, `K<zone>+<algorithm>+<tag>.private`, as other programs for DNSSEC write them too.
//!
//! ```text
//! Private-key-format: v1.3
//! AlgorithmId: 13 (ECDSAP256SHA256)
//! PrivateKey: GU6SnQ/Ou+xC5RumuIUIuJZteXT2z0O/ok1s38Et6mQ=
//! Created: 20261123161421
//! ```
//!
//! Numbers are base64 of big-endian bytes. Unknown fields, such as times, are skipped.

use base64ct::{Base64, Encoding};
use oarlock_core::{Curve, Key, KeyHome, KeyParts, RsaPrivateParts};
use zeroize::Zeroizing;

use crate::rsa::PrivateNumbers;
use crate::{KeyError, ec, edwards, fingerprint, rsa, text_file};

/// The maximum length of a file in bytes. A file of an RSA key of 8192 bits has about 6 KiB.
pub const MAX_BIND_LEN: usize = 64 << 10;

const FORMAT: &str = "Private-key-format";
const STRUCTURE: &str = "BIND private key file";
const MAJOR: u8 = 1;
/// Fields whose values are secret or numbers; the first eight are RSA's.
const FIELDS: [&str; 9] = [
    "Modulus",
    "PublicExponent",
    "PrivateExponent",
    "Prime1",
    "Prime2",
    "Exponent1",
    "Exponent2",
    "Coefficient",
    "PrivateKey",
];
/// The index of `PrivateKey` in [`FIELDS`].
const PRIVATE_KEY: usize = 8;

/// The content of a file.
#[derive(Clone, Debug)]
pub struct BindKey {
    /// The private key.
    pub key: Key,
    /// The DNSSEC algorithm of the key (IANA, DNS Security Algorithm Numbers).
    pub algorithm: u8,
}

/// The kinds of keys that algorithms of DNSSEC have.
#[derive(Clone, Copy)]
enum DnssecKeyKind {
    Rsa,
    Ec(Curve),
    Ed25519,
}

type Values = [Option<Zeroizing<Vec<u8>>>; FIELDS.len()];

/// True if the text begins as such a file does.
#[must_use]
pub fn is_bind(text: &[u8]) -> bool {
    text_file::without_mark(text).trim_ascii_start().starts_with(FORMAT.as_bytes())
}

/// Parses a file and validates its key as every key is validated.
///
/// # Errors
/// [`KeyError::InputTooLong`], [`KeyError::BindLine`], [`KeyError::BindField`], [`KeyError::Version`],
/// [`KeyError::UnsupportedAlgorithm`], and those of [`rsa::private`], [`raw::ec_private`](crate::raw::ec_private) and
/// [`raw::ed25519_private`](crate::raw::ed25519_private).
pub fn import(text: &[u8]) -> Result<BindKey, KeyError> {
    if text.len() > MAX_BIND_LEN {
        return Err(KeyError::InputTooLong { limit: MAX_BIND_LEN, found: text.len() });
    }
    let text = text_file::without_mark(text);
    let mut algorithm = None;
    let mut values = Values::default();
    let mut lines =
        (1..).zip(text.split(|byte| *byte == b'\n')).filter(|(_, line)| !line.trim_ascii().is_empty());
    check_format(lines.next())?;
    for (at, line) in lines {
        let (name, value) = field(at, line)?;
        match FIELDS.iter().position(|known| known.as_bytes() == name) {
            Some(known) => set(&mut values[known], FIELDS[known], decoded(FIELDS[known], value)?)?,
            None if name == b"Algorithm" => set(&mut algorithm, "Algorithm", number(at, value)?)?,
            // BIND writes these fields for a key in an HSM. The file then holds no private numbers.
            None if matches!(name, b"Engine" | b"Label") => return Err(key_in_device(at)),
            None => {}
        }
    }
    let algorithm = algorithm.ok_or(missing("Algorithm"))?;
    let parts = match kind(algorithm)? {
        DnssecKeyKind::Rsa => rsa_parts(&values)?,
        DnssecKeyKind::Ec(curve) => ec::private(curve, value(&values, PRIVATE_KEY)?, None)?,
        DnssecKeyKind::Ed25519 => edwards::ed25519_private(value(&values, PRIVATE_KEY)?, None)?,
    };
    Ok(BindKey { key: fingerprint::local(parts)?, algorithm })
}

/// Writes a local private key as a file for `algorithm`. Its times may follow, as lines at its end.
///
/// # Errors
/// [`KeyError::NotExportable`] if the key has no local private half or belongs to another algorithm,
/// [`KeyError::UnsupportedAlgorithm`].
pub fn export(key: &Key, algorithm: u8) -> Result<Zeroizing<String>, KeyError> {
    let refused = |reason| KeyError::NotExportable { what: "private key", reason };
    if let KeyHome::Held { .. } = key.home() {
        return Err(refused("it lives with its holder"));
    }
    // The capacity suffices for the whole file and its times. A buffer that grew would leave parts of the key in freed memory.
    let mut text = Zeroizing::new(String::with_capacity(MAX_BIND_LEN));
    text.push_str(&format!("{FORMAT}: v1.3\nAlgorithm: {algorithm} ({})\n", mnemonic(algorithm)));
    match (kind(algorithm)?, key.parts().ok_or(refused("it is not here"))?) {
        (DnssecKeyKind::Rsa, KeyParts::RsaPrivate(parts)) => write_rsa(parts, &mut text),
        (DnssecKeyKind::Ec(curve), KeyParts::EcPrivate(parts)) if parts.curve == curve => {
            write(PRIVATE_KEY, parts.scalar.expose(), &mut text);
        }
        (DnssecKeyKind::Ed25519, KeyParts::Ed25519Private(parts)) => {
            write(PRIVATE_KEY, parts.seed.expose(), &mut text);
        }
        _ => return Err(refused("it is not a private key of this algorithm")),
    }
    Ok(text)
}

fn kind(algorithm: u8) -> Result<DnssecKeyKind, KeyError> {
    match algorithm {
        // RSA/MD5, number 1, is missing because RFC 6725 deprecates it.
        5 | 7 | 8 | 10 => Ok(DnssecKeyKind::Rsa),
        13 => Ok(DnssecKeyKind::Ec(Curve::P256)),
        14 => Ok(DnssecKeyKind::Ec(Curve::P384)),
        15 => Ok(DnssecKeyKind::Ed25519),
        other => Err(KeyError::UnsupportedAlgorithm { found: format!("{other} of DNSSEC") }),
    }
}

/// Returns BIND's name of an algorithm.
fn mnemonic(algorithm: u8) -> &'static str {
    match algorithm {
        5 => "RSASHA1",
        7 => "NSEC3RSASHA1",
        8 => "RSASHA256",
        10 => "RSASHA512",
        13 => "ECDSAP256SHA256",
        14 => "ECDSAP384SHA384",
        15 => "ED25519",
        _ => "?",
    }
}

/// Checks `Private-key-format: v1.3`. A higher minor version keeps the meaning of these fields.
fn check_format(first: Option<(usize, &[u8])>) -> Result<(), KeyError> {
    let what = "expected Private-key-format: v1.3";
    let (at, line) = first.ok_or(KeyError::BindLine { line: 1, what })?;
    let bad = KeyError::BindLine { line: at, what };
    let (name, value) = field(at, line)?;
    let version = value.strip_prefix(b"v").filter(|_| name == FORMAT.as_bytes()).ok_or(bad.clone())?;
    let (major, minor) = version.split_at(version.iter().position(|byte| *byte == b'.').ok_or(bad)?);
    number(at, &minor[1..])?;
    match number(at, major)? {
        MAJOR => Ok(()),
        found => Err(KeyError::Version { structure: STRUCTURE, expected: MAJOR, found }),
    }
}

/// Splits a line into name and value.
fn field(at: usize, line: &[u8]) -> Result<(&[u8], &[u8]), KeyError> {
    let colon = line.iter().position(|byte| *byte == b':');
    let (name, value) = line.split_at(
        colon.ok_or(KeyError::BindLine { line: at, what: "expected a name, a colon and a value" })?,
    );
    Ok((name.trim_ascii(), value[1..].trim_ascii()))
}

/// Reads the number at the start of a value. The text behind it, such as a mnemonic in parentheses, is for human
/// readers.
fn number(at: usize, value: &[u8]) -> Result<u8, KeyError> {
    let digits = value.split(|byte| *byte == b' ').next().unwrap_or_default();
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(digits).ok().filter(|_| is_number);
    let number = text.and_then(|text| text.parse().ok());
    number.ok_or(KeyError::BindLine { line: at, what: "expected a number up to 255" })
}

fn decoded(field: &'static str, value: &[u8]) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    // The decoder writes into a buffer of the full size, so that no copy of a secret stays in freed memory.
    let mut bytes = Zeroizing::new(vec![0; value.len() / 4 * 3]);
    let bad = KeyError::BindField { field, what: "not base64" };
    let len = Base64::decode(value, &mut bytes).map_err(|_| bad)?.len();
    bytes.truncate(len);
    Ok(bytes)
}

fn set<T>(target: &mut Option<T>, field: &'static str, value: T) -> Result<(), KeyError> {
    match target.replace(value) {
        None => Ok(()),
        // Programs differ in the value that they take from a repeated field, so no value is right.
        Some(_) => Err(KeyError::BindField { field, what: "given twice" }),
    }
}

fn missing(field: &'static str) -> KeyError {
    KeyError::BindField { field, what: "missing" }
}

fn key_in_device(line: usize) -> KeyError {
    KeyError::BindLine { line, what: "the private key is not in the file but in a device" }
}

fn value(values: &Values, field: usize) -> Result<&[u8], KeyError> {
    values[field].as_ref().map(|value| value.as_slice()).ok_or(missing(FIELDS[field]))
}

fn rsa_parts(values: &Values) -> Result<KeyParts, KeyError> {
    rsa::private_parts(&PrivateNumbers {
        n: value(values, 0)?,
        e: value(values, 1)?,
        d: value(values, 2)?,
        p: value(values, 3)?,
        q: value(values, 4)?,
        dp: value(values, 5)?,
        dq: value(values, 6)?,
        qinv: value(values, 7)?,
    })
}

fn write_rsa(parts: &RsaPrivateParts, text: &mut String) {
    let numbers = [
        &parts.public.n,
        &parts.public.e,
        parts.d.expose(),
        parts.p.expose(),
        parts.q.expose(),
        parts.dp.expose(),
        parts.dq.expose(),
        parts.qinv.expose(),
    ];
    for (field, number) in numbers.into_iter().enumerate() {
        write(field, number, text);
    }
}

fn write(field: usize, value: &[u8], text: &mut String) {
    text.push_str(FIELDS[field]);
    text.push_str(": ");
    text.push_str(&Zeroizing::new(Base64::encode_string(value)));
    text.push('\n');
}
