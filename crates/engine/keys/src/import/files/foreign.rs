//! Formats of other programs. They are recognised by their first bytes and rejected with their name and the command
//! that converts them.

use super::pem;
use crate::{KeyError, bind, text_file};

/// A format that is not read here.
struct Foreign {
    name: &'static str,
    remedy: &'static str,
    /// True if files of it may hold a private key.
    is_private: bool,
    is_found: fn(&[u8]) -> bool,
}

const OPENSSH: Foreign = Foreign {
    name: "an OpenSSH private key",
    remedy: "`ssh-keygen -p -m PKCS8 -f FILE` converts it in place (keep a copy)",
    is_private: true,
    is_found: |_| false,
};

/// ssh-keygen writes these keys in its own format only.
const OPENSSH_ED25519: Foreign = Foreign {
    name: "an OpenSSH private key for Ed25519",
    remedy: "ssh-keygen cannot convert Ed25519 keys: `oarlock keys generate ed25519` makes a new one",
    ..OPENSSH
};

/// Windows and older programs encrypt with RC2 or 3DES. OpenSSL 3 opens such files only with its legacy algorithms.
const PKCS12: Foreign = Foreign {
    name: "PKCS#12",
    remedy: "`openssl pkcs12 -in FILE -nodes -nocerts -out key.pem` takes the key out; OpenSSL 3 needs `-legacy`, too, if RC2 or \
             3DES encrypts the file",
    is_private: true,
    is_found: is_pkcs12,
};

const PKCS12_IN_BASE64: Foreign = Foreign {
    name: "PKCS#12 in base64",
    remedy: "`base64 -d FILE >key.p12` decodes it, and `openssl pkcs12 -in key.p12 -nodes -nocerts -out key.pem` takes the key out; \
             OpenSSL 3 needs `-legacy`, too, if RC2 or 3DES encrypts the file",
    is_found: |_| false,
    ..PKCS12
};

/// Kubernetes shows the values of secrets so.
const PEM_IN_BASE64: Foreign = Foreign {
    name: "PEM in base64",
    remedy: "`base64 -d FILE >key.pem` decodes it",
    is_private: true,
    is_found: |_| false,
};

/// Anything may be sealed. Most files that are sealed beside keys are keys.
const AGE: Foreign = Foreign {
    name: "a file sealed with age",
    remedy: "`oarlock keys unseal FILE --identity IDENTITY` opens it, and `oarlock serve` does so itself with `[keys] identity`",
    is_private: true,
    is_found: |bytes| {
        bytes.starts_with(b"age-encryption.org/") || bytes.starts_with(b"-----BEGIN AGE ENCRYPTED FILE-----")
    },
};

/// The beginning of PuTTY's files of private keys.
const PUTTY: &[u8] = b"PuTTY-User-Key-File-";

const FORMATS: [Foreign; 13] = [
    AGE,
    PKCS12,
    Foreign {
        name: "a PuTTY private key for Ed25519",
        remedy: "neither puttygen nor ssh-keygen converts Ed25519 keys: `oarlock keys generate ed25519` makes a new one",
        is_private: true,
        is_found: |bytes| bytes.starts_with(PUTTY) && contains(first_line(bytes), b"ssh-ed25519"),
    },
    Foreign {
        name: "a PuTTY private key",
        remedy: "`puttygen FILE -O private-openssh -o key` and then `ssh-keygen -p -m PKCS8 -f key` convert it",
        is_private: true,
        is_found: |bytes| bytes.starts_with(PUTTY),
    },
    Foreign {
        name: "a symmetric JSON Web Key",
        remedy: "its `k` is base64url: write the key in hexadecimal digits in a line of a file of symmetric keys, such as \
                 {\"name\":\"cards\",\"type\":\"aes256\",\"hex\":\"...\"} (docs/records.md)",
        is_private: true,
        is_found: |bytes| bytes.starts_with(b"{") && is_symmetric_jwk(bytes),
    },
    Foreign {
        name: "a JSON Web Key",
        remedy: "convert it to PKCS#8 in PEM, for example with `jwker FILE key.pem`",
        is_private: true,
        is_found: |bytes| bytes.starts_with(b"{") && contains(bytes, b"\"kty\""),
    },
    Foreign {
        name: "an OpenSSH public key for Ed25519",
        remedy: "ssh-keygen cannot convert Ed25519 keys: make a new pair with `oarlock keys generate ed25519`",
        is_private: false,
        is_found: |bytes| bytes.starts_with(b"ssh-ed25519 ") || bytes.starts_with(b"sk-ssh-ed25519"),
    },
    Foreign {
        name: "an OpenSSH public key",
        remedy: "`ssh-keygen -e -m PKCS8 -f FILE` prints an RSA or ECDSA key in PEM",
        is_private: false,
        is_found: |bytes| {
            let prefixes: [&[u8]; 4] = [b"ssh-", b"ecdsa-sha2-", b"sk-ssh-", b"---- BEGIN SSH2 PUBLIC KEY"];
            prefixes.iter().any(|prefix| bytes.starts_with(prefix))
        },
    },
    Foreign {
        name: "a Java key store",
        remedy: "`keytool -importkeystore -srckeystore FILE -destkeystore key.p12 -deststoretype PKCS12` and then \
                 `openssl pkcs12 -in key.p12 -nodes -nocerts -out key.pem` take the key out",
        is_private: true,
        is_found: |bytes| bytes.starts_with(&[0xfe, 0xed, 0xfe, 0xed]),
    },
    Foreign {
        name: text_file::UTF16_NAME,
        remedy: text_file::UTF16_REMEDY,
        is_private: false,
        is_found: text_file::is_utf16,
    },
    Foreign {
        name: "DER in hexadecimal digits",
        remedy: "`xxd -r -p FILE key.der` converts it",
        is_private: true,
        is_found: is_hexadecimal,
    },
    Foreign {
        name: "a file of symmetric keys",
        remedy: "`oarlock records --keys FILE` and [keys] records of the server's configuration take it",
        is_private: true,
        is_found: |bytes| {
            bytes.starts_with(b"{") && contains(bytes, b"\"type\"") && contains(bytes, b"\"hex\"")
        },
    },
    Foreign {
        name: "an age identity",
        remedy: "age keys sign nothing: expected an RSA, EC, Ed25519 or X25519 key",
        is_private: true,
        is_found: |bytes| contains(bytes, b"AGE-SECRET-KEY-"),
    },
];

/// Returns the error for a file that is not a key of a known structure. The error names the format if it is known.
pub(super) fn error(bytes: &[u8]) -> KeyError {
    let text = bytes.trim_ascii_start();
    if text.is_empty() {
        return KeyError::Empty { len: bytes.len() };
    }
    if let Some(found) = FORMATS.iter().find(|format| (format.is_found)(text)) {
        return found.error();
    }
    if pem::has_bad_begin(bytes) {
        return KeyError::PemBegin;
    }
    der_length(bytes).unwrap_or(KeyError::UnknownFormat)
}

/// Returns the error for a file in base64 that is not a key of a known structure. `der` is the decoded content.
pub(super) fn error_in_base64(text: &[u8], der: &[u8]) -> KeyError {
    match () {
        () if is_pkcs12(der) => PKCS12_IN_BASE64.error(),
        () if pem::is_pem(der) => PEM_IN_BASE64.error(),
        () => error(text),
    }
}

/// Returns the error for a PEM block of another program. `der` is the decoded content.
pub(super) fn labelled(label: &str, der: Option<&[u8]>) -> Option<KeyError> {
    let refused = |name, remedy| Some(KeyError::Foreign { found: name, remedy });
    match label {
        // OpenSSH's format states the public key, with its algorithm as a string, before the encrypted part.
        "OPENSSH PRIVATE KEY" if der.is_some_and(|der| contains(der, b"ssh-ed25519")) => {
            Some(OPENSSH_ED25519.error())
        }
        "OPENSSH PRIVATE KEY" => Some(OPENSSH.error()),
        "AGE ENCRYPTED FILE" => Some(AGE.error()),
        "CERTIFICATE REQUEST" | "NEW CERTIFICATE REQUEST" => refused(
            "a certificate request",
            "`openssl req -in FILE -pubkey -noout` prints its public key; the private key is in another file",
        ),
        "PGP PRIVATE KEY BLOCK" => refused(
            "an OpenPGP private key",
            "it cannot be converted: make a new key with `oarlock keys generate`",
        ),
        "DSA PRIVATE KEY" => {
            refused("a DSA private key", "DSA is not supported: expected an RSA, EC, Ed25519 or X25519 key")
        }
        _ => None,
    }
}

/// Returns the name of the format if a file holds or may hold a private key, readable here or not.
pub(super) fn private_key_format(bytes: &[u8]) -> Option<&'static str> {
    let text = bytes.trim_ascii_start();
    let found = FORMATS.iter().find(|format| format.is_private && (format.is_found)(text));
    match found {
        Some(found) => Some(found.name),
        None if pem::has_private_key(bytes) => Some("a private key in PEM"),
        None if bind::is_bind(bytes) => Some("a private key of BIND"),
        None => {
            let content = pem::bare_base64(bytes)?;
            match () {
                () if is_pkcs12(&content) => Some(PKCS12_IN_BASE64.name),
                () if pem::has_private_key(&content) => Some(PEM_IN_BASE64.name),
                () => None,
            }
        }
    }
}

impl Foreign {
    fn error(&self) -> KeyError {
        KeyError::Foreign { found: self.name, remedy: self.remedy }
    }
}

/// The first ten bytes of the object identifiers of PKCS#7 contents, 1.2.840.113549.1.7. The next byte is the kind.
const PKCS7: [u8; 10] = [0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07];

/// Recognises `PFX ::= SEQUENCE { version INTEGER (3), authSafe ContentInfo, macData MacData OPTIONAL }`. RFC 7292
/// section 4.
///
/// Many programs write it in BER, with lengths that are not stated.
fn is_pkcs12(bytes: &[u8]) -> bool {
    let safe =
        sequence(bytes).and_then(|members| members.strip_prefix(&[0x02, 0x01, 0x03])).and_then(sequence);
    safe.is_some_and(|safe| safe.starts_with(&PKCS7))
}

/// Returns the bytes after the header of a SEQUENCE in DER or BER.
fn sequence(bytes: &[u8]) -> Option<&[u8]> {
    match bytes {
        // Many programs write PKCS#12 in BER, where the length 0x80 means that an end mark follows the content.
        [0x30, 0..=0x80, rest @ ..] => Some(rest),
        [0x30, len @ 0x81..=0x84, rest @ ..] => rest.get(usize::from(len & 0x7f)..),
        _ => None,
    }
}

/// Returns true for a text of hexadecimal digits that starts with 30, the tag of a SEQUENCE.
fn is_hexadecimal(text: &[u8]) -> bool {
    let is_digit = |byte: &u8| byte.is_ascii_hexdigit() || byte.is_ascii_whitespace();
    text.starts_with(b"30") && text.len() >= 64 && text.iter().all(is_digit)
}

/// Returns the error for DER that was cut or has bytes after it, if the bytes begin as a key in DER does.
fn der_length(bytes: &[u8]) -> Option<KeyError> {
    // Short, one-byte and two-byte lengths. No key has 64 KiB. From 0x20 on, because no key is shorter than 32 bytes.
    let (header, len): (usize, usize) = match *bytes {
        [0x30, len @ 0x20..=0x7f, ..] => (2, len.into()),
        [0x30, 0x81, len, ..] => (3, len.into()),
        [0x30, 0x82, high, low, ..] => (4, u16::from_be_bytes([high, low]).into()),
        _ => return None,
    };
    let expected = header + len;
    // Every structure here has an INTEGER or a SEQUENCE as its first member.
    let begins_well = matches!(bytes.get(header), Some(0x02 | 0x30));
    (begins_well && expected != bytes.len()).then_some(KeyError::DerLength { expected, found: bytes.len() })
}

/// Recognises `"kty": "oct"`, with any blanks. RFC 7518 6.4.
fn is_symmetric_jwk(bytes: &[u8]) -> bool {
    let kept: Vec<u8> = bytes.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let is_symmetric = contains(&kept, b"\"kty\":\"oct\"");
    // The copy holds the key.
    drop(zeroize::Zeroizing::new(kept));
    is_symmetric
}

fn first_line(bytes: &[u8]) -> &[u8] {
    bytes.split(|byte| matches!(byte, b'\r' | b'\n')).next().unwrap_or_default()
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}
