//! Files with a TSIG key in the form of BIND (RFC 8945): `key "NAME" { algorithm hmac-sha256; secret "..."; };`.
//!
//! The program that signs the update reads the file again. This check comes before, because nsupdate sends an unsigned
//! update if it cannot read the key.

use std::io;
use std::path::{Path, PathBuf};

use oarlock_key_files::{ExposedSecret, check_secret_mode, read_secret};

/// The maximum length of a file in bytes. One with the longest key has less than 300.
const MAX_BYTES: usize = 16 << 10;

/// The algorithms that are accepted. RFC 8945 6 forbids MD5 and advises against SHA-1.
const ALGORITHMS: [&str; 4] = ["hmac-sha256", "hmac-sha384", "hmac-sha512", "hmac-sha224"];

/// A checked file with a TSIG key. It does not hold the secret.
#[derive(Debug)]
pub(super) struct TsigKeyFile {
    pub(super) path: PathBuf,
    pub(super) name: String,
}

/// The reason why a TSIG key cannot be used. No error quotes the file, which has the secret.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TsigKeyError {
    #[error("{}: {error}", path.display())]
    Read { path: PathBuf, error: io::Error },
    #[error(transparent)]
    Exposed(#[from] ExposedSecret),
    #[error(
        "{}: expected one TSIG key, as `tsig-keygen -a hmac-sha256 NAME` writes it: key \"NAME\" {{ algorithm ...; secret \
         \"...\"; }};",
        .0.display()
    )]
    Form(PathBuf),
    #[error("{}: the algorithm of the TSIG key is not accepted: expected {}", .0.display(), ALGORITHMS.join(", "))]
    Algorithm(PathBuf),
    #[error("{}: the secret of the TSIG key is not base64", .0.display())]
    Secret(PathBuf),
}

impl TsigKeyFile {
    /// Checks that a file has one key and that no other user can read it.
    pub(super) fn open(path: &Path) -> Result<Self, TsigKeyError> {
        let unread = |error| TsigKeyError::Read { path: path.to_owned(), error };
        check_secret_mode(path, &path.metadata().map_err(unread)?)?;
        let bytes = read_secret(path, MAX_BYTES).map_err(unread)?;
        let form = || TsigKeyError::Form(path.to_owned());
        // The words are parts of the bytes, which are wiped.
        let text = std::str::from_utf8(&bytes).map_err(|_| form())?;
        let words = words(text).ok_or_else(form)?;
        let (key, rest) = words.split_first().ok_or_else(form)?;
        let [name, "{", body @ .., "}", ";"] = rest else { return Err(form()) };
        let value = |wanted: &str| {
            body.chunks(3).find_map(|setting| match setting {
                [name, value, ";"] if name.eq_ignore_ascii_case(wanted) => Some(*value),
                _ => None,
            })
        };
        let (Some(algorithm), Some(secret), 6) = (value("algorithm"), value("secret"), body.len()) else {
            return Err(form());
        };
        if *key != "key" || !is_key_name(name) {
            return Err(form());
        }
        let bare = algorithm.strip_suffix('.').unwrap_or(algorithm);
        if !ALGORITHMS.iter().any(|known| known.eq_ignore_ascii_case(bare)) {
            return Err(TsigKeyError::Algorithm(path.to_owned()));
        }
        if !is_base64(secret) {
            return Err(TsigKeyError::Secret(path.to_owned()));
        }
        Ok(Self { path: path.to_owned(), name: (*name).to_owned() })
    }
}

fn is_key_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    (1..=255).contains(&name.len()) && name.bytes().all(is_letter)
}

fn is_base64(text: &str) -> bool {
    let bare = text.trim_end_matches('=');
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    !bare.is_empty()
        && text.len().is_multiple_of(4)
        && text.len() - bare.len() <= 2
        && bare.bytes().all(is_letter)
}

/// Splits a text of BIND's form into words, strings, braces and semicolons. Returns None if a string or a comment does
/// not end.
fn words(text: &str) -> Option<Vec<&str>> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        if rest.starts_with("//") || first == '#' {
            rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
        } else if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.split_once("*/")?.1;
        } else if let Some(string) = rest.strip_prefix('"') {
            let (word, after) = string.split_once('"')?;
            words.push(word);
            rest = after;
        } else if matches!(first, '{' | '}' | ';') {
            words.push(&rest[..1]);
            rest = &rest[1..];
        } else {
            let end = rest.find(|char: char| char.is_whitespace() || "{};\"#".contains(char));
            let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
            words.push(word);
            rest = after;
        }
        rest = rest.trim_start();
    }
    Some(words)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const SECRET: &str = "b3Igbm90IHRvIGJlLCB0aGF0IGlzIHRoZSBxdWVzdGlvbg==";

    fn open(text: &str, mode: u32) -> Result<TsigKeyFile, TsigKeyError> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("tsig.key");
        fs::write(&path, text.replace("SECRET", SECRET)).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        TsigKeyFile::open(&path)
    }

    #[test]
    fn takes_the_forms_that_tools_write() {
        for text in [
            "key \"upd.example\" {\n\talgorithm hmac-sha256;\n\tsecret \"SECRET\";\n};\n",
            "# a comment\nkey upd.example { secret SECRET; algorithm HMAC-SHA512.; }; // end",
            "/* key x { } */key\"upd.example\"{algorithm hmac-sha384;secret\"SECRET\";};",
        ] {
            assert_eq!(open(text, 0o600).unwrap().name, "upd.example", "{text}");
        }
    }

    #[test]
    fn refuses_other_files_without_quoting_them() {
        use TsigKeyError::{Algorithm, Exposed, Form, Read, Secret};
        let good = "key u { algorithm hmac-sha256; secret \"SECRET\"; };";
        for text in [
            "",
            "SECRET",
            "key u { algorithm hmac-sha256; secret \"SECRET\" };",
            "key u { algorithm hmac-sha256; };",
            "key u { secret SECRET; };",
            "key u { algorithm hmac-sha256; secret SECRET; secret SECRET; };",
            "key u { algorithm hmac-sha256; secret \"SECRET; };",
            "kez u { algorithm hmac-sha256; secret SECRET; };",
            "key \"u\ny\" { algorithm hmac-sha256; secret SECRET; };",
            "hmac-sha256:u:SECRET",
            &good.repeat(2),
            &format!("{good} /* open"),
        ] {
            let error = open(text, 0o600).unwrap_err();
            assert!(matches!(error, Form(_)) && !error.to_string().contains(SECRET), "{text}: {error}");
        }
        for algorithm in ["hmac-md5", "hmac-sha1", "gss-tsig", "hmac-md5.sig-alg.reg.int"] {
            let error = open(&good.replace("hmac-sha256", algorithm), 0o600).unwrap_err();
            assert!(matches!(error, Algorithm(_)), "{algorithm}: {error}");
        }
        for secret in ["\"\"", "AAA", "A=AA", "AAAA====", "AA\u{e9}A", "===="] {
            let error = open(&good.replace("\"SECRET\"", secret), 0o600).unwrap_err();
            assert!(matches!(error, Secret(_)), "{secret}: {error}");
        }
        assert!(matches!(open(good, 0o644).unwrap_err(), Exposed(_)));
        let missing = TsigKeyFile::open(Path::new("/nonexistent/tsig.key"));
        assert!(matches!(missing.unwrap_err(), Read { .. }));
    }
}
