//! The `openssl speed` program: a second measurement of a library, whose rate counts if it is the better one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Libcrypto;

/// Operations per second by the names of `oarlock speed`: `rsa2048-sign`, `x25519-derive`.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct OpensslRates(BTreeMap<String, f64>);

/// The reason why there are no figures to compare with.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpensslSpeedError {
    /// No `openssl` on the machine reports the version of the loaded library.
    #[error("no openssl program of version {wanted} found ({found})")]
    NoProgram { wanted: String, found: String },
    /// The program ran and failed.
    #[error("{program} speed failed: {reason}", program = program.display())]
    Failed { program: PathBuf, reason: String },
}

impl OpensslRates {
    /// Returns the rate of an operation on one thread. The program counts the CPU time that it used, not the time that
    /// passed.
    pub(crate) fn get(&self, operation: &str) -> Option<f64> {
        self.0.get(without_hot(operation)).copied()
    }
}

/// Runs `openssl speed` of the library's own version for `seconds` per figure, on the operations it knows among
/// `operations`. If it knows none of them, it is not run and there are no rates.
pub(crate) fn measure(
    library: &Libcrypto,
    operations: &[&str],
    seconds: u32,
) -> Result<OpensslRates, OpensslSpeedError> {
    let algorithms = algorithms(operations);
    if algorithms.is_empty() {
        return Ok(OpensslRates::default());
    }
    let program = find_program(library)?;
    let mut command = program_command(&program, library.path());
    command.args(["speed", "-mr", "-seconds", &seconds.max(1).to_string()]).args(&algorithms);
    let fault = |reason: String| OpensslSpeedError::Failed { program: program.clone(), reason };
    let output = command.output().map_err(|error| fault(error.to_string()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(fault(said.lines().last().unwrap_or("no message").into()));
    }
    Ok(parse(&String::from_utf8_lossy(&output.stdout)))
}

/// Parses the output of `openssl speed -mr`. Unknown lines and figures are skipped.
///
/// A result is `+F` with a section number, an index, the key size in bits and its figures: section 2 RSA, 4 ECDSA,
/// 6 EdDSA (with the curve's name before the figures), each signs/s and verifies/s; 5 ECDH, derivations/s.
pub(crate) fn parse(output: &str) -> OpensslRates {
    let mut rates = BTreeMap::new();
    for line in output.lines() {
        let fields: Vec<&str> = line.trim().split(':').collect();
        let signatures = |name: String, sign: &str, verify: &str| {
            vec![(format!("{name}-sign"), rate(sign)), (format!("{name}-verify"), rate(verify))]
        };
        let found = match fields.as_slice() {
            ["+F2", _, bits, sign, verify, ..] => signatures(format!("rsa{bits}"), sign, verify),
            ["+F4", _, bits @ ("256" | "384"), sign, verify, ..] => {
                signatures(format!("p{bits}"), sign, verify)
            }
            // `openssl speed` counts X25519 as a key of 253 bits.
            ["+F5", _, "253", derive, ..] => vec![("x25519-derive".into(), rate(derive))],
            ["+F5", _, bits @ ("256" | "384"), derive, ..] => {
                vec![(format!("p{bits}-derive"), rate(derive))]
            }
            ["+F6", _, _, "Ed25519", sign, verify, ..] => signatures("ed25519".into(), sign, verify),
            _ => Vec::new(),
        };
        rates.extend(found.into_iter().filter_map(|(name, rate)| rate.map(|rate| (name, rate))));
    }
    OpensslRates(rates)
}

fn rate(text: &str) -> Option<f64> {
    text.parse().ok().filter(|rate: &f64| rate.is_finite() && *rate > 0.0)
}

/// Returns the program's own names of the algorithms behind `operations`, each once.
fn algorithms(operations: &[&str]) -> Vec<&'static str> {
    let mut names: Vec<_> = operations.iter().filter_map(|operation| algorithm(operation)).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Returns the name of an operation whose keys need not recur. `openssl speed` uses one key for all.
fn without_hot(operation: &str) -> &str {
    operation.strip_suffix("-hot").unwrap_or(operation)
}

fn algorithm(operation: &str) -> Option<&'static str> {
    Some(match without_hot(operation) {
        "rsa1024-sign" | "rsa1024-verify" => "rsa1024",
        "rsa2048-sign" | "rsa2048-verify" => "rsa2048",
        "rsa3072-sign" | "rsa3072-verify" => "rsa3072",
        "rsa4096-sign" | "rsa4096-verify" => "rsa4096",
        "p256-sign" | "p256-verify" => "ecdsap256",
        "p384-sign" | "p384-verify" => "ecdsap384",
        "ed25519-sign" | "ed25519-verify" => "ed25519",
        "x25519-derive" => "ecdhx25519",
        "p256-derive" => "ecdhp256",
        "p384-derive" => "ecdhp384",
        _ => return None,
    })
}

/// Returns the first program whose library has the version of the loaded one: beside that library, then on the path.
fn find_program(library: &Libcrypto) -> Result<PathBuf, OpensslSpeedError> {
    let mut found = Vec::new();
    for program in candidates(library.path()) {
        let output = program_command(&program, library.path()).arg("version").output();
        let Ok(output) = output else { continue };
        let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        if library_version(&said) == library.version() {
            return Ok(program);
        }
        found.push(said);
    }
    let found = if found.is_empty() { "none at all".into() } else { found.join(", ") };
    Err(OpensslSpeedError::NoProgram { wanted: library.version().into(), found })
}

fn candidates(library: &Path) -> Vec<PathBuf> {
    let folder = library.parent().filter(|folder| !folder.as_os_str().is_empty());
    let beside = folder.into_iter().flat_map(|folder| {
        // Of an installation, of a build tree, and of an installation whose libraries are in a folder of their
        // architecture.
        ["../bin/openssl", "apps/openssl", "../../bin/openssl"].map(|program| folder.join(program))
    });
    beside.chain([PathBuf::from("openssl")]).collect()
}

/// Returns a command for the program that searches the loaded library's directory first, so that it measures that
/// library.
fn program_command(program: &Path, library: &Path) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null());
    if let Some(folder) = library.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        command.env("LD_LIBRARY_PATH", folder);
    }
    // A set but empty variable switches every CPU feature off. The program measures the library without it.
    if std::env::var_os("OPENSSL_ia32cap").is_some_and(|mask| mask.is_empty()) {
        command.env_remove("OPENSSL_ia32cap");
    }
    command
}

/// `OpenSSL 3.0.19 27 Jan 2026 (Library: OpenSSL 3.0.19 27 Jan 2026)`: the library counts, not the program.
fn library_version(said: &str) -> String {
    let library = said.split_once("(Library: ").map_or(said, |(_, library)| library);
    library.split_whitespace().take(2).collect::<Vec<_>>().join(" ").trim_end_matches(')').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As OpenSSL 3.0.19 printed it.
    const CAPTURED: &str = "\
+F2:2:2048:4506.000000:72171.000000
+F4:3:256:64978.787879:22702.000000
+F4:4:384:1823.000000:2144.554455
+F5:22:253:41195.000000:0.000024
+F5:3:256:24387.000000:0.000041
+F6:0:253:Ed25519:43398.000000:16238.383838
";

    #[test]
    fn captured_output_is_read() {
        let rates = parse(CAPTURED);
        let expected = [
            ("rsa2048-sign", 4506.0),
            ("rsa2048-verify", 72171.0),
            ("p256-sign", 64_978.787_879),
            ("p256-verify", 22702.0),
            ("p384-sign", 1823.0),
            ("p384-verify", 2_144.554_455),
            ("x25519-derive", 41195.0),
            ("p256-derive", 24387.0),
            ("ed25519-sign", 43398.0),
            ("ed25519-verify", 16_238.383_838),
        ];
        assert_eq!(rates.0.len(), expected.len());
        assert_eq!(rates.get("p256-verify-hot"), rates.get("p256-verify"), "the program has one key");
        for (name, rate) in expected {
            assert_eq!(rates.get(name), Some(rate), "{name}");
        }
    }

    #[test]
    fn what_is_not_a_result_is_passed_over() {
        let noise = "+H:16:64\n+F:22:sha256:1:2\n+F2:2:2048\n+F2:2:2048:nan:-1\n+F4:2:233:5:6\n+F6:1:456:Ed448:1:2\n\n:::";
        assert_eq!(parse(noise), OpensslRates::default());
        // Later versions add RSA encryption and decryption behind.
        assert_eq!(parse("+F2:2:2048:1.5:2.5:3.5:4.5").get("rsa2048-verify"), Some(2.5));
    }

    #[test]
    fn the_librarys_version_counts() {
        assert_eq!(
            library_version("OpenSSL 3.0.19 27 Jan 2026 (Library: OpenSSL 3.0.20 1 May 2026)"),
            "OpenSSL 3.0.20"
        );
        assert_eq!(library_version("OpenSSL 4.0.0 14 Apr 2026"), "OpenSSL 4.0.0");
        assert_eq!(library_version(""), "");
    }

    #[test]
    fn only_known_operations_are_run() {
        assert_eq!(
            algorithms(&["rsa2048-verify", "rsa2048-sign", "x25519-derive", "p384-derive"]),
            ["ecdhp384", "ecdhx25519", "rsa2048"]
        );
        assert_eq!(algorithms(&["p256-verify-hot", "p256-verify"]), ["ecdsap256"]);
        assert!(algorithms(&["des-cbc-40", "sha1-64", "ml-dsa-44-verify-hot"]).is_empty());
    }
}
