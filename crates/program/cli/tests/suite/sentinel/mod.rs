//! Keys whose bytes must not appear in texts, and the search for them.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use aws_lc_rs::digest::{SHA256, digest};
use oarlock::Key;
use oarlock::engine_api::KeyParts;
use oarlock::keys::export::{self, Protection};
use oarlock::keys::threshold::Share;
use oarlock::keys::{Passphrase, bind, import};

/// The form of a key file, which decides the commands that read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyFileForm {
    /// PEM.
    Private,
    /// The text format of BIND.
    Bind,
    /// A share of a threshold key.
    Share,
    /// One JSON object per line.
    Symmetric,
    /// A format that is rejected.
    Foreign,
}

/// A key file and its secret bytes.
pub(crate) struct Sentinel {
    pub(crate) name: &'static str,
    pub(crate) form: KeyFileForm,
    pub(crate) text: Vec<u8>,
    pub(crate) secrets: Vec<Vec<u8>>,
}

/// Returns a key file of every form that is read or recognised.
pub(crate) fn all() -> Vec<Sentinel> {
    let private = ["rsa1024", "rsa2048-pkcs1", "p256", "p256-sec1", "p384-sec1", "ed25519", "x25519"];
    let mut all: Vec<Sentinel> =
        private.into_iter().map(|name| pem(name, fixture(&format!("{name}.pem")))).collect();
    // Encrypted under a passphrase.
    let passphrase = Passphrase::new(b"secret".as_slice());
    let cheap = Protection::Pbkdf2 { iterations: 2048.try_into().unwrap() };
    let key = import::any(&fixture("p384.pem"), None).unwrap();
    let wrapped = export::encrypted_pkcs8_pem(&key, &passphrase, cheap).unwrap();
    all.push(Sentinel {
        name: "wrapped",
        form: KeyFileForm::Private,
        text: wrapped.as_bytes().to_vec(),
        secrets: secrets(&key),
    });
    for (name, file) in [("bind-rsa", "rsasha256"), ("bind-p256", "rfc6605-p256")] {
        let text = fixture(&format!("bind/{file}.private"));
        let key = bind::import(&text).unwrap().key;
        all.push(Sentinel { name, form: KeyFileForm::Bind, text, secrets: secrets(&key) });
    }
    // The key of RFC 8080 is unsuitable: its bytes are decimal digits, which occur in many texts.
    let key = import::any(&fixture("ed25519.pem"), None).unwrap();
    let text = bind::export(&key, 15).unwrap().as_bytes().to_vec();
    all.push(Sentinel { name: "bind-ed25519", form: KeyFileForm::Bind, text, secrets: secrets(&key) });
    let text = fixture("threshold/share512.pem");
    let share = Share::from_pem(&text, None).unwrap();
    all.push(Sentinel { name: "share", form: KeyFileForm::Share, secrets: secrets(share.key()), text });
    let sealed = share.to_encrypted_pem(&passphrase, cheap).unwrap();
    all.push(Sentinel {
        name: "wrapped-share",
        form: KeyFileForm::Share,
        secrets: secrets(share.key()),
        text: sealed.as_bytes().to_vec(),
    });
    all.push(symmetric());
    all.push(openssh());
    all
}

fn fixture(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../engine/keys/tests/data").join(name);
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn pem(name: &'static str, text: Vec<u8>) -> Sentinel {
    let key = import::any(&text, None).unwrap();
    Sentinel { name, form: KeyFileForm::Private, text, secrets: secrets(&key) }
}

fn secrets(key: &Key) -> Vec<Vec<u8>> {
    let parts = match key.parts().unwrap() {
        KeyParts::RsaPrivate(rsa) => vec![&rsa.d, &rsa.p, &rsa.q, &rsa.dp, &rsa.dq, &rsa.qinv],
        KeyParts::EcPrivate(ec) => vec![&ec.scalar],
        KeyParts::Ed25519Private(ed) => vec![&ed.seed],
        KeyParts::X25519Private(x) => vec![&x.scalar],
        KeyParts::ModExp(share) => vec![&share.exponent],
        other => panic!("{other:?}"),
    };
    parts.into_iter().map(|part| part.expose().to_vec()).collect()
}

/// Returns keys that look random but are the same in each run.
fn symmetric() -> Sentinel {
    let key = |name: &str, len: usize| digest(&SHA256, name.as_bytes()).as_ref()[..len].to_vec();
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let (aes, hmac, tdes) = (key("aes", 16), key("hmac", 32), key("tdes", 16));
    let text = format!(
        "{{\"name\":\"aes\",\"type\":\"aes128\",\"hex\":\"{}\"}}\n{{\"name\":\"hmac\",\"type\":\"hmac\",\"base64\":\"{}\"}}\n\
         {{\"name\":\"tdes\",\"type\":\"tdes2\",\"hex\":\"{}\",\"max_uses\":7}}\n",
        hex(&aes),
        base64(&hmac),
        hex(&tdes)
    );
    Sentinel {
        name: "symmetric",
        form: KeyFileForm::Symmetric,
        text: text.into_bytes(),
        secrets: vec![aes, hmac, tdes],
    }
}

/// Returns a key in the format of OpenSSH, without a passphrase. PROTOCOL.key of OpenSSH.
fn openssh() -> Sentinel {
    let key = import::any(&fixture("ed25519.pem"), None).unwrap();
    let (seed, public) = (secrets(&key).remove(0), key.ed25519_public().unwrap().to_vec());
    let string = |bytes: &[u8]| [&(bytes.len() as u32).to_be_bytes()[..], bytes].concat();
    let kind = string(b"ssh-ed25519");
    let blob = string(&[&kind[..], &string(&public)].concat());
    let pair = string(&[&seed[..], &public].concat());
    let inner = [&[1; 8][..], &kind, &string(&public), &pair, &string(b"me"), &[1, 2, 3, 4, 5]].concat();
    let none = string(b"none");
    let body =
        [b"openssh-key-v1\0", &none[..], &none, &[0; 4], &[0, 0, 0, 1], &blob, &string(&inner)].concat();
    let lines: Vec<String> = base64(&body)
        .as_bytes()
        .chunks(70)
        .map(|line| String::from_utf8_lossy(line).into_owned() + "\n")
        .collect();
    let label = "OPENSSH PRIVATE KEY";
    let text = format!("-----BEGIN {label}-----\n{}-----END {label}-----\n", lines.concat());
    Sentinel { name: "openssh", form: KeyFileForm::Foreign, text: text.into_bytes(), secrets: vec![seed] }
}

pub(crate) fn base64(bytes: &[u8]) -> String {
    let mut text = oarlock_records::SecretBuffer::default();
    oarlock_records::Encoding::Base64.encode(bytes, &mut text);
    String::from_utf8(text[..].to_vec()).unwrap()
}

/// The number of consecutive bytes of a secret that no text may contain.
const RUN: usize = 6;
/// The number of base64 characters that six bytes determine at every alignment.
const CHARACTERS: usize = 7;

/// The number of bytes for texts in upper case. It is larger because fewer letters differ.
const UPPER_RUN: usize = 9;
const UPPER_CHARACTERS: usize = 11;

/// The consecutive bytes of all secrets, in the encodings that texts could use.
pub(crate) struct Sentinels {
    raw: HashSet<Vec<u8>>,
    hex: HashSet<Vec<u8>>,
    base64: HashSet<Vec<u8>>,
    upper_base64: HashSet<Vec<u8>>,
}

impl Sentinels {
    pub(crate) fn of_all() -> Self {
        let mut patterns = Self {
            raw: HashSet::new(),
            hex: HashSet::new(),
            base64: HashSet::new(),
            upper_base64: HashSet::new(),
        };
        for key in all() {
            key.secrets.iter().for_each(|secret| patterns.add(secret));
        }
        patterns
    }

    fn add(&mut self, secret: &[u8]) {
        for run in secret.windows(RUN).filter(|run| run.iter().collect::<HashSet<_>>().len() > 2) {
            self.raw.insert(run.to_vec());
            self.hex.insert(run.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into_bytes());
            for before in 0..3 {
                let text = base64(&[&vec![0; before][..], run].concat());
                let first = (8 * before).div_ceil(6);
                self.base64.insert(text.as_bytes()[first..first + CHARACTERS].to_vec());
            }
        }
        for run in secret.windows(UPPER_RUN) {
            for before in 0..3 {
                let text = base64(&[&vec![0; before][..], run].concat()).to_ascii_uppercase();
                let first = (8 * before).div_ceil(6);
                self.upper_base64.insert(text.as_bytes()[first..first + UPPER_CHARACTERS].to_vec());
            }
        }
    }

    /// Describes the first position of secret bytes: raw, in hexadecimal digits or in base64; plain, escaped or as a
    /// list of numbers.
    pub(crate) fn find(&self, text: &[u8]) -> Option<String> {
        for (view, text) in
            [("plain", text.to_vec()), ("escaped", unescaped(text)), ("a list", numbers(text))]
        {
            let (lower, upper) = (text.to_ascii_lowercase(), text.to_ascii_uppercase());
            for (form, text, len, runs) in [
                ("bytes", &text, RUN, &self.raw),
                ("hexadecimal digits", &lower, 2 * RUN, &self.hex),
                ("base64", &text, CHARACTERS, &self.base64),
                ("base64 in upper case", &upper, UPPER_CHARACTERS, &self.upper_base64),
            ] {
                if let Some(at) = text.windows(len).position(|window| runs.contains(window)) {
                    return Some(format!("{form}, {view}, at {at}"));
                }
            }
        }
        None
    }

    #[track_caller]
    pub(crate) fn assert_absent(&self, what: &str, text: &[u8]) {
        if let Some(found) = self.find(text) {
            panic!("{what}: {found}: {}", String::from_utf8_lossy(text));
        }
    }
}

/// Returns the text with escapes such as `\\x1b` replaced by their bytes.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let digit = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    let (mut out, mut at) = (Vec::new(), 0);
    while at < text.len() {
        match (text[at..].starts_with(b"\\x"), digit(text.get(at + 2)), digit(text.get(at + 3))) {
            (true, Some(high), Some(low)) => {
                out.push((16 * high + low) as u8);
                at += 4;
            }
            _ => {
                out.push(text[at]);
                at += 1;
            }
        }
    }
    out
}

/// Returns the bytes of lists such as `[45, 45, 66]`, as Rust prints bytes.
fn numbers(text: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(text);
    let parts = text.split(|char: char| !char.is_ascii_digit());
    parts.filter(|part| !part.is_empty()).filter_map(|part| part.parse().ok()).collect()
}
