//! Declares the functions of AWS-LC that its bindings lack: ML-KEM and ML-DSA of given randomness, on bare keys, and
//! Keccak on a bare state.
//!
//! AWS-LC exports them under a prefix that names the version of `aws-lc-sys`. That crate tells its dependants the name
//! of its library, which has the same prefix.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

/// The functions of one parameter set of ML-KEM, behind `ml_kem_SET_`.
const ML_KEM: [(&str, &str); 5] = [
    (
        "keypair_deterministic",
        "public: *mut u8, public_len: *mut usize, private: *mut u8, private_len: *mut usize, seed: *const u8",
    ),
    (
        "encapsulate_deterministic",
        "ciphertext: *mut u8, ciphertext_len: *mut usize, secret: *mut u8, secret_len: *mut usize, public: *const u8, random: *const u8",
    ),
    ("decapsulate", "secret: *mut u8, secret_len: *mut usize, ciphertext: *const u8, private: *const u8"),
    ("check_pk", "public: *const u8, public_len: usize"),
    ("check_sk", "private: *const u8, private_len: usize"),
];

/// The functions of one parameter set of ML-DSA. The set stands within some of the names.
const ML_DSA: [(&str, &str); 4] = [
    ("ml_dsa_SET_keypair_internal", "public: *mut u8, private: *mut u8, seed: *const u8"),
    ("ml_dsa_SET_pack_pk_from_sk", "public: *mut u8, private: *const u8"),
    (
        "ml_dsa_extmu_SET_sign_internal",
        "private: *const u8, signature: *mut u8, signature_len: *mut usize, mu: *const u8, mu_len: usize, pre: *const u8, pre_len: usize, random: *const u8",
    ),
    (
        "ml_dsa_extmu_SET_verify",
        "public: *const u8, signature: *const u8, signature_len: usize, mu: *const u8, mu_len: usize",
    ),
];

/// The arguments of `Keccak1600_Absorb`. It returns the bytes that do not fill a block.
const KECCAK_ABSORB: &str = "state: *mut u64, blocks: *const u8, len: usize, rate: usize";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let prefix =
        prefix().ok_or("aws-lc-sys has not told the name of its library (DEP_AWS_LC_..._LIBCRYPTO)")?;
    let mut text = "unsafe extern \"C\" {\n".to_owned();
    for set in ["512", "768", "1024"] {
        for (name, arguments) in ML_KEM {
            declare(&mut text, &prefix, &format!("ml_kem_{set}_{name}"), arguments, "i32")?;
        }
    }
    for set in ["44", "65", "87"] {
        for (name, arguments) in ML_DSA {
            declare(&mut text, &prefix, &name.replace("SET", set), arguments, "i32")?;
        }
    }
    declare(&mut text, &prefix, "Keccak1600_Absorb", KECCAK_ABSORB, "usize")?;
    text.push_str("}\n");
    let folder = env::var_os("OUT_DIR").ok_or("cargo has set no OUT_DIR")?;
    Ok(fs::write(Path::new(&folder).join("symbols.rs"), text)?)
}

/// Returns what stands before the name of every symbol: `aws_lc_0_47_0_`, or nothing if AWS-LC was built so.
fn prefix() -> Option<String> {
    let is_library = |name: &str| name.starts_with("DEP_AWS_LC_") && name.ends_with("_LIBCRYPTO");
    let library = env::vars().find(|(name, _)| is_library(name))?.1;
    library.strip_suffix("crypto").map(str::to_owned)
}

fn declare(text: &mut String, prefix: &str, name: &str, arguments: &str, result: &str) -> std::fmt::Result {
    let rust_name = name.to_ascii_lowercase();
    writeln!(text, "    #[link_name = \"{prefix}{name}\"]\n    fn {rust_name}({arguments}) -> {result};")
}
