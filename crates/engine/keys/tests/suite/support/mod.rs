//! Fixtures made once by `openssl`; `data/make.sh` says how. The passphrase is `secret`.

use std::path::Path;

use oarlock_core::Key;
use oarlock_keys::{Passphrase, import};

/// The text of a fixture.
pub(crate) fn fixture(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Name and text of every fixture, in order.
pub(crate) fn fixtures() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.retain(|name| name.ends_with(".pem"));
    names.sort();
    names.into_iter().map(|name| (name.clone(), fixture(&name))).collect()
}

/// Returns the passphrase of the encrypted fixtures.
pub(crate) fn passphrase() -> Passphrase {
    Passphrase::new(b"secret".as_slice())
}

/// The key of a fixture.
pub(crate) fn key(name: &str) -> Key {
    import::any(&fixture(name), Some(&passphrase())).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The DER within the first block of a fixture that is no parameters.
pub(crate) fn der(name: &str) -> Vec<u8> {
    use base64ct::{Base64, Encoding};
    let text = String::from_utf8(fixture(name)).unwrap();
    let mut lines =
        text.lines().skip_while(|line| !line.starts_with("-----BEGIN") || line.contains("PARAMETERS"));
    lines.next().unwrap();
    let body: String = lines.take_while(|line| !line.starts_with("-----END")).collect();
    Base64::decode_vec(&body).unwrap()
}
