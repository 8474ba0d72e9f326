//! Compiles the protocol, without `protoc`.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

const PROTOCOL: &str = "oarlock/v1/cryptoserver.proto";

/// Messages that hold keys or data: what they print is written by hand.
const SECRET: [&str; 16] = [
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
    "ProcessRequest",
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=proto");
    let descriptors = protox::compile([PROTOCOL], ["proto"])?;
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("no OUT_DIR")?);
    fs::write(out.join("descriptors.bin"), prost::Message::encode_to_vec(&descriptors))?;

    let mut config = prost_build::Config::new();
    config.bytes(["."]).skip_debug(SECRET.map(|name| format!(".oarlock.v1.{name}")));
    if env::var_os("CARGO_FEATURE_GRPC").is_some() {
        tonic_prost_build::configure().compile_fds_with_config(descriptors, config)?;
    } else {
        config.compile_fds(descriptors)?;
    }
    Ok(())
}
