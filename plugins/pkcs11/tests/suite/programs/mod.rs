//! Programs that use PKCS#11 modules. Each test prints SKIPPED if its program is not installed.

mod dnssec;
mod gnutls;
mod nss;
mod opensc;
mod openssh;
mod provider;
mod python;
mod running;
mod tls;

use crate::common::{
    KEYS, SETTINGS, TestDirectory, USER_PIN, module, module_path, program, python_program, said, with_store,
};

fn with_keys() -> TestDirectory {
    let dir = TestDirectory::new();
    dir.write("pkcs11.toml", KEYS);
    dir.make_keys();
    dir
}

/// True if OpenSSL has the engine of libp11. Prints SKIPPED otherwise.
fn has_engine() -> bool {
    let Some(openssl) = program("openssl") else { return false };
    let output = std::process::Command::new(openssl).args(["engine", "-t", "pkcs11"]).output().unwrap();
    let is_there = said(&output).contains("[ available ]");
    if !is_there {
        eprintln!("SKIPPED: OpenSSL has no engine pkcs11 (libengine-pkcs11-openssl)");
    }
    is_there
}
