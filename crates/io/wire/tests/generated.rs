//! Holds the checked-in messages and services to the protocol's definition.
//!
//! They are checked in because their compiler takes longer to build than the rest of this crate. After a change of
//! `proto/oarlock/v1/cryptoserver.proto`, `OARLOCK_UPDATE=1 cargo test -p oarlock-wire --test generated` writes them
//! again.

use std::env;
use std::fs;
use std::path::Path;

use prost::Message as _;

const PROTOCOL: &str = "oarlock/v1/cryptoserver.proto";

/// Messages that hold keys or data: `src/proto.rs` writes their `Debug` by hand.
const SECRET: [&str; 27] = [
    "Request",
    "Response",
    "OpenKey",
    "Symmetric",
    "Jobs",
    "Results",
    "Records",
    "RecordResults",
    "SignRequest",
    "SignResponse",
    "VerifyRequest",
    "DecryptRequest",
    "DecryptResponse",
    "DeriveRequest",
    "DeriveResponse",
    "EncapsulateResponse",
    "DecapsulateRequest",
    "DecapsulateResponse",
    "ProcessRequest",
    "EncryptRequest",
    "EncryptResponse",
    "MacRequest",
    "MacResponse",
    "VerifyMacRequest",
    "RewrapRequest",
    "TokeniseRequest",
    "TokeniseResponse",
];

/// The messages and services without a feature, and the parts of it that need `grpc`.
const GRPC_ONLY: &str = "#[cfg(feature = \"grpc\")]";

#[test]
fn checked_in_code_is_generated_from_the_protocol() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let descriptors = protox::compile([PROTOCOL], [root.join("proto")]).expect("the protocol is valid");
    let folder = tempfile::tempdir().expect("a temporary directory");
    let mut config = prost_build::Config::new();
    config.bytes(["."]).skip_debug(SECRET.map(|name| format!(".oarlock.v1.{name}"))).out_dir(folder.path());
    let encoded = descriptors.encode_to_vec();
    tonic_prost_build::configure()
        .client_mod_attribute(".", GRPC_ONLY)
        .server_mod_attribute(".", GRPC_ONLY)
        .out_dir(folder.path())
        .compile_fds_with_config(descriptors, config)
        .expect("the code is generated");
    let code = fs::read(folder.path().join("oarlock.v1.rs")).expect("the generated code");
    for (name, expected) in [("oarlock.v1.rs", code), ("descriptors.bin", encoded)] {
        let path = root.join("src/generated").join(name);
        if env::var_os("OARLOCK_UPDATE").is_some() {
            fs::write(&path, &expected).expect("the source directory is writable");
        }
        let is_current = fs::read(&path).is_ok_and(|found| found == expected);
        assert!(is_current, "{} is stale: see the head of this file", path.display());
    }
}
