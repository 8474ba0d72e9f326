//! Helpers of the targets. Run `./seed.sh` once, then `cargo +nightly fuzz run keys_any`, and so on for each target.

mod batches;
mod bytes;
mod records;
mod secrets;
pub mod sockets;

use oarlock_core::Key;
use oarlock_keys::{Passphrase, WorkLimits, export, import};

pub use batches::check_batch;
pub use bytes::Bytes;
pub use records::check_file;
pub use secrets::check_error;

/// The passphrase of the seeds, with limits that keep a run under a millisecond or so.
pub fn cheap_passphrase() -> Passphrase {
    let limits =
        WorkLimits { pbkdf2_iterations: 2048, scrypt_memory_bytes: 1 << 16, scrypt_work_bytes: 1 << 18 };
    Passphrase::new(b"secret".as_slice()).with_limits(limits)
}

/// Exports an imported key, imports it again, and compares both.
pub fn check_round_trip(key: &Key) {
    let spki = export::spki_der(key).expect("every imported key here has a public half");
    let public = import::spki_der(&spki).expect("what is exported can be imported");
    assert_eq!(public.fingerprint(), key.fingerprint());
    if let Ok(pkcs8) = export::private_pkcs8_der(key) {
        let private = import::pkcs8_der(&pkcs8).expect("what is exported can be imported");
        assert_eq!((private.kind(), private.fingerprint()), (key.kind(), key.fingerprint()));
    }
}
