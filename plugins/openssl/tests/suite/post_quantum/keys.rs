//! ML-KEM, ML-DSA and SLH-DSA keys in files, certificates and signatures, with `openssl`.

use std::path::Path;
use std::process::Command;

use crate::common::{ProgramResult, TestDirectory, program};

/// The algorithms, with other names of theirs.
const ALGORITHMS: [(&str, &str); 8] = [
    ("ML-KEM-512", "MLKEM512"),
    ("ML-KEM-768", "2.16.840.1.101.3.4.4.2"),
    ("ML-KEM-1024", "id-alg-ml-kem-1024"),
    ("ML-DSA-44", "MLDSA44"),
    ("ML-DSA-65", "id-ml-dsa-65"),
    ("ML-DSA-87", "2.16.840.1.101.3.4.3.19"),
    ("SLH-DSA-SHA2-128f", "id-slh-dsa-sha2-128f"),
    ("SLH-DSA-SHAKE-192f", "2.16.840.1.101.3.4.3.29"),
];

/// Returns the bytes of a seed, and those that PKCS#8 has of the key: the same, but for SLH-DSA, whose root follows its
/// three seeds. FIPS 203 and FIPS 204 state 64 and 32 bytes.
fn lens(algorithm: &str) -> (usize, usize) {
    match algorithm {
        "SLH-DSA-SHA2-128f" => (48, 64),
        "SLH-DSA-SHAKE-192f" => (72, 96),
        _ if algorithm.starts_with("ML-KEM") => (64, 64),
        _ => (32, 32),
    }
}

/// Keys go to files in every form and come back the same.
pub fn files(dir: &TestDirectory) {
    for (algorithm, alias) in ALGORITHMS {
        dir.openssl(&format!("genpkey -algorithm {algorithm} -out key")).ok();
        dir.openssl("pkey -in key -pubout -out key.pub").ok();
        dir.openssl("pkey -in key -outform DER -out key.der").ok();
        dir.openssl("pkey -in key.der -inform DER -out again").ok();
        assert_eq!(dir.read("again"), dir.read("key"), "{algorithm}");
        dir.openssl("pkey -pubin -in key.pub -outform DER -out pub.der").ok();
        dir.openssl("pkey -pubin -in pub.der -inform DER -pubout -out again.pub").ok();
        assert_eq!(dir.read("again.pub"), dir.read("key.pub"), "{algorithm}");
        let (seed_len, key_len) = lens(algorithm);
        assert!(dir.read("key.der").len() < 30 + key_len, "{algorithm}");
        let seed = (0..seed_len).map(|byte| format!("{byte:02x}")).collect::<String>();
        for (name, output) in [(algorithm, "one"), (alias, "two")] {
            dir.openssl(&format!("genpkey -algorithm {name} -pkeyopt hexseed:{seed} -out {output}")).ok();
        }
        assert_eq!(dir.read("one"), dir.read("two"), "{algorithm}");
        assert_ne!(dir.read("one"), dir.read("key"), "{algorithm}");
        dir.openssl(&format!("genpkey -algorithm {algorithm} -pkeyopt hexseed:{} -out one", &seed[2..]))
            .failed();

        dir.openssl("pkey -in key -aes256 -passout pass:secret -out sealed").ok();
        assert!(dir.read("sealed").starts_with(b"-----BEGIN ENCRYPTED PRIVATE KEY-----"));
        dir.openssl("pkey -in sealed -passin pass:secret -out again").ok();
        assert_eq!(dir.read("again"), dir.read("key"), "{algorithm}");
        dir.openssl("pkey -in sealed -passin pass:other -out again").failed();
        damaged(dir);
    }
}

/// Files that are cut, or that state a key of another length.
fn damaged(dir: &TestDirectory) {
    for name in ["key.der", "pub.der"] {
        let der = dir.read(name);
        let options = if name == "pub.der" { "-pubin" } else { "" };
        for cut in [1, der.len() / 2, der.len() - 1] {
            dir.write("damaged", &der[..cut]);
            dir.openssl(&format!("pkey {options} -in damaged -inform DER -noout")).failed();
        }
        let mut longer = der.clone();
        longer.push(0);
        longer[1..].iter_mut().take(1).for_each(|len| *len = len.wrapping_add(1));
        dir.write("damaged", longer);
        dir.openssl(&format!("pkey {options} -in damaged -inform DER -noout")).failed();
    }
}

/// Signs messages and certificates.
pub fn signatures(dir: &TestDirectory) {
    dir.write("message", b"a message of no particular length".repeat(100));
    dir.write("other", b"another message");
    // Without a file, OpenSSL 4.0 takes the lines of its configuration for extensions.
    dir.write("ext", "[ext]\nbasicConstraints = CA:FALSE\n");
    let algorithms = ALGORITHMS.map(|(algorithm, _)| algorithm);
    for algorithm in algorithms.into_iter().filter(|algorithm| !algorithm.starts_with("ML-KEM")) {
        dir.openssl(&format!(
            "req -x509 -newkey {algorithm} -nodes -keyout key -subj /CN=ca -addext basicConstraints=critical,CA:TRUE \
             -days 2 -out ca.crt"
        ))
        .ok();
        dir.openssl("verify -check_ss_sig -CAfile ca.crt ca.crt").ok();
        // A leaf with a key of a curve, under the authority.
        dir.key("leaf", "-algorithm EC -pkeyopt ec_paramgen_curve:P-256");
        dir.openssl("req -new -key leaf -subj /CN=leaf -out leaf.csr").ok();
        dir.openssl(
            "x509 -req -in leaf.csr -CA ca.crt -CAkey key -days 2 -extfile ext -extensions ext -out leaf.crt",
        )
        .ok();
        dir.openssl("verify -CAfile ca.crt leaf.crt").ok();
        dir.openssl("req -new -key key -subj /CN=own -out own.csr").ok();
        dir.openssl("req -verify -noout -in own.csr").ok();
        dir.openssl("x509 -in leaf.crt -outform DER -out leaf.der").ok();
        let mut der = dir.read("leaf.der");
        let last = der.len() - 100;
        der[last] ^= 1;
        dir.write("leaf.der", der);
        dir.openssl("x509 -in leaf.der -inform DER -out damaged.crt").ok();
        dir.openssl("verify -CAfile ca.crt damaged.crt").failed();

        dir.openssl("pkey -in key -pubout -out key.pub").ok();
        let sign = "pkeyutl -sign -rawin -inkey key -in message -out signature";
        let verify = "pkeyutl -verify -rawin -pubin -inkey key.pub -in message -sigfile signature";
        dir.openssl(sign).ok();
        dir.openssl(verify).ok();
        let hedged = dir.read("signature");
        dir.openssl(sign).ok();
        assert_ne!(dir.read("signature"), hedged, "{algorithm}");
        dir.openssl(&verify.replace("-in message", "-in other")).failed();
        dir.openssl(&format!("{verify} -pkeyopt hexcontext-string:616263")).failed();
        dir.openssl(&format!("{sign} -pkeyopt hexcontext-string:616263")).ok();
        dir.openssl(&format!("{verify} -pkeyopt hexcontext-string:616263")).ok();
        dir.openssl(verify).failed();
        dir.openssl(&format!("{sign} -pkeyopt deterministic:1")).ok();
        let first = dir.read("signature");
        dir.openssl(&format!("{sign} -pkeyopt deterministic:1")).ok();
        assert_eq!(dir.read("signature"), first, "{algorithm}");
        let long = "61".repeat(256);
        dir.openssl(&format!("{sign} -pkeyopt hexcontext-string:{long}")).failed();
    }
}

/// Checks keys, signatures, certificates and ciphertexts between OpenSSL's own implementation and this provider's.
pub fn both_ways(dir: &TestDirectory) {
    dir.write("message", b"a message of no particular length".repeat(100));
    dir.write("mu", [7; 64]);
    for (algorithm, _) in ALGORITHMS {
        dir.plain(&format!("genpkey -algorithm {algorithm} -out theirs")).ok();
        dir.openssl(&format!("genpkey -propquery provider=oarlock -algorithm {algorithm} -out ours")).ok();
        for key in ["theirs", "ours"] {
            dir.plain(&format!("pkey -in {key} -pubout -out {key}.pub")).ok();
            dir.openssl(&format!("pkey -in {key} -pubout -out own.pub")).ok();
            assert_eq!(dir.read("own.pub"), dir.read(&format!("{key}.pub")), "{algorithm}");
            for (ours, theirs) in [(true, false), (false, true)] {
                let side = |is_ours: bool, arguments: &str| {
                    if is_ours { dir.openssl(arguments) } else { dir.plain(arguments) }.ok()
                };
                if algorithm.starts_with("ML-KEM") {
                    side(ours, &format!("pkeyutl -encap -pubin -inkey {key}.pub -out cipher -secret one"));
                    side(theirs, &format!("pkeyutl -decap -inkey {key} -in cipher -secret two"));
                    assert_eq!(dir.read("one"), dir.read("two"), "{algorithm}");
                    continue;
                }
                for (options, input) in [
                    ("-rawin", "message"),
                    ("-rawin -pkeyopt hexcontext-string:616263", "message"),
                    ("-rawin -pkeyopt mu:1", "mu"),
                ] {
                    // SLH-DSA has no mu: it reads the message twice.
                    if algorithm.starts_with("SLH-DSA") && input == "mu" {
                        continue;
                    }
                    side(ours, &format!("pkeyutl -sign {options} -inkey {key} -in {input} -out signature"));
                    let verify = "pkeyutl -verify -pubin -sigfile signature";
                    side(theirs, &format!("{verify} {options} -inkey {key}.pub -in {input}"));
                    side(ours, &format!("{verify} {options} -inkey {key}.pub -in {input}"));
                    // FIPS 204 and FIPS 205 fix every byte of a deterministic signature.
                    let signatures = [ours, theirs].map(|is_ours| {
                        let sign = format!("pkeyutl -sign {options} -pkeyopt deterministic:1 -inkey {key}");
                        side(is_ours, &format!("{sign} -in {input} -out signature"));
                        dir.read("signature")
                    });
                    assert_eq!(signatures[0], signatures[1], "{algorithm} {options}");
                }
            }
        }
        forms(dir, algorithm);
        refused(dir, algorithm);
    }
}

/// Checks by the text of an error that this provider computes, although OpenSSL has the algorithm itself.
fn refused(dir: &TestDirectory, algorithm: &str) {
    let said = if algorithm.starts_with("ML-KEM") {
        dir.write("short", [7; 100]);
        dir.openssl("pkeyutl -decap -inkey ours -in short -secret two").failed()
    } else {
        let long = "61".repeat(256);
        let options = format!("-rawin -pkeyopt hexcontext-string:{long}");
        dir.openssl(&format!("pkeyutl -sign {options} -inkey ours -in message -out signature")).failed()
    };
    assert!(said.contains(":oarlock:"), "{algorithm}: {said}");
}

/// Reads every form of a private key that OpenSSL writes.
fn forms(dir: &TestDirectory, algorithm: &str) {
    let family = match algorithm {
        // It has one form.
        _ if algorithm.starts_with("SLH-DSA") => return,
        _ if algorithm.starts_with("ML-KEM") => "ml-kem",
        _ => "ml-dsa",
    };
    for form in ["seed-priv", "priv-only", "seed-only", "bare-priv", "bare-seed"] {
        dir.plain(&format!("pkey -provparam {family}.output_formats={form} -in theirs -out form")).ok();
        dir.openssl("pkey -in form -pubout -out own.pub").ok();
        assert_eq!(dir.read("own.pub"), dir.read("theirs.pub"), "{algorithm} {form}");
    }
}

/// Runs ML-KEM, ML-DSA and the groups within jobs of `ASYNC_JOB`, whose stacks have 32 KiB, and without. The keys are
/// new, or an ML-KEM-768 and an ML-DSA-65 key at two URIs.
pub fn jobs(dir: &TestDirectory, uris: &[&str]) {
    if program("cc").is_none() {
        return;
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/post_quantum/fibre.c");
    let built = dir.path("fibre");
    let mut build = Command::new("cc");
    build.args(["-O1", "-Wall", "-Werror", "-o"]).arg(&built).arg(source).arg("-l:libcrypto.so.3");
    ProgramResult::from_command(&mut build).ok();
    ProgramResult::from_command(dir.plain_command(built).arg("openssl.cnf").args(uris)).ok();
}
