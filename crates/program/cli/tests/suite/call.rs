//! `oarlock call` under symmetric keys, and the permissions of files with secrets.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Output;

use crate::program::{code, stderr};
use crate::served::Served;
use oarlock::Shape;
use oarlock::engine_api::SecondInput;
use oarlock::engine_api::selftest::sample_operations;
use oarlock::keys::export;
use oarlock_server::development::Development;
use serde_json::Value;
use tempfile::TempDir;

/// Keys of published examples (RFC 4231 4.2, SP 800-38B D.1), and three arbitrary keys.
const KEYS: &str = concat!(
    "{\"name\":\"rfc4231\",\"type\":\"hmac\",\"hex\":\"0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b\"}\n",
    "{\"name\":\"codes\",\"type\":\"aes128\",\"hex\":\"2b7e151628aed2a6abf7158809cf4f3c\",\"operations\":[\"mac\"]}\n",
    "{\"name\":\"aes\",\"type\":\"aes128\",\"hex\":\"000102030405060708090a0b0c0d0e0f\"}\n",
    "{\"name\":\"nonces\",\"type\":\"aes128\",\"hex\":\"00000000000000000000000000000000\",\"algorithms\":[\"gcm\"],\"ivs\":[\"column\"]}\n",
    "{\"name\":\"tdes\",\"type\":\"tdes2\",\"hex\":\"0123456789abcdeffedcba9876543210\"}\n",
);

struct CallFolder {
    dir: TempDir,
    served: Served,
}

impl CallFolder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let development = Development::at(folder.path());
        development.prepare().unwrap();
        fs::write(development.records(), KEYS).unwrap();
        let served = Served::start(folder.path());
        Self { dir: folder, served }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Runs `oarlock call WORDS`, in which @NAME is a file of the directory.
    fn call(&self, words: &str) -> Output {
        let words: Vec<String> = words
            .split(' ')
            .map(|word| {
                word.strip_prefix('@').map_or(word.to_owned(), |name| self.path(name).display().to_string())
            })
            .collect();
        self.served.call(&words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn ok(&self, words: &str) -> Vec<u8> {
        let output = self.call(words);
        assert_eq!(code(&output), 0, "{words}: {}", stderr(&output));
        output.stdout
    }

    fn text(&self, words: &str) -> String {
        String::from_utf8(self.ok(words)).unwrap()
    }

    fn refused(&self, words: &str, expected_code: i32, reason: &str) {
        let output = self.call(words);
        assert_eq!(code(&output), expected_code, "{words}: {}", stderr(&output));
        assert!(stderr(&output).contains(reason), "{words}: {}", stderr(&output));
        assert!(output.stdout.is_empty(), "{words}");
    }
}

#[test]
fn values_are_sealed_and_opened_again() {
    let folder = CallFolder::new();
    fs::write(folder.path("value"), "4111111111111111").unwrap();
    for (seal, open, more) in [
        ("encrypt --key aes --aad cards", "decrypt --key aes --aad cards", 12 + 16),
        ("seal --key aes --cipher aes128-cbc", "open --key aes --cipher aes128-cbc", 16),
        ("seal --key tdes", "open --key tdes", 8),
    ] {
        let seal = format!("{seal} --in @value --out @sealed");
        let sealed = [(); 2].map(|()| {
            folder.ok(&seal);
            fs::read(folder.path("sealed")).unwrap()
        });
        assert_eq!(sealed[0].len(), 16 + more, "{seal}");
        assert_ne!(sealed[0], sealed[1], "each value has an IV of its own");
        assert_eq!(folder.ok(&format!("{open} --in @sealed")), b"4111111111111111");
    }
    folder.ok("seal --key aes --aad cards --in @value --out @sealed");
    folder.refused("open --key aes --aad other --in @sealed", 1, "verification failed");
    folder.refused("open --key nonces --aad cards --in @sealed", 1, "verification failed");
    let json: Value = serde_json::from_slice(&folder.ok("seal --key aes --in @value --json")).unwrap();
    assert_eq!(
        (&json["scheme"], json["hex"].as_str().unwrap().len()),
        (&"aes128-gcm".into(), 2 * (12 + 16 + 16))
    );
}

/// McGrew and Viega, "The Galois/Counter Mode of Operation", test cases 1 and 2; RFC 4231 4.2; SP 800-38B D.1.
#[test]
fn published_examples_are_reproduced() {
    let folder = CallFolder::new();
    fs::write(folder.path("zeros"), [0; 16]).unwrap();
    fs::write(folder.path("empty"), "").unwrap();
    let iv = "000000000000000000000000";
    let seal = |name: &str| folder.text(&format!("seal --key nonces --iv {iv} --hex --in @{name}"));
    assert_eq!(seal("empty"), format!("{iv}58e2fccefa7e3061367f1d57a4e7455a\n"));
    assert_eq!(
        seal("zeros"),
        format!("{iv}0388dace60b6a392f328c2b971b2fe78ab6e47d42cec13bdf53a67b21257bddf\n")
    );
    fs::write(folder.path("message"), "Hi There").unwrap();
    assert_eq!(
        folder.text("mac --key rfc4231 --in @message --hex"),
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7\n"
    );
    assert_eq!(folder.text("mac --key rfc4231 --in @message --hex --length 8"), "b0344c61d8db3853\n");
    // SP 800-38B D.1, example 1.
    assert_eq!(folder.text("mac --key codes --in @empty --hex"), "bb1d6929e95937287fa37d129b756746\n");
}

/// Makes keys of ML-KEM, ML-DSA and SLH-DSA in the directory of a server before it starts.
const COMPOSITE: &str = "mldsa65-ecdsa-p256-sha512";

fn post_quantum_folder() -> CallFolder {
    let folder = tempfile::tempdir().unwrap();
    let development = Development::at(folder.path());
    development.prepare().unwrap();
    fs::write(development.records(), KEYS).unwrap();
    let keys = development.keys();
    for kind in ["ml-kem-768", "ml-dsa-44", "ml-dsa-65", "slh-dsa-sha2-128f", COMPOSITE] {
        let made =
            crate::program::oarlock(&["keys", "generate", kind, "--directory", keys.to_str().unwrap()]);
        assert_eq!(code(&made), 0, "{}", stderr(&made));
    }
    let served = Served::start(folder.path());
    CallFolder { dir: folder, served }
}

#[test]
fn ml_dsa_signs_with_contexts_and_digests() {
    let folder = post_quantum_folder();
    fs::write(folder.path("message"), "hello").unwrap();
    fs::write(folder.path("digest"), [7; 64]).unwrap();
    folder.ok("public-key ml-dsa-65 --out @public.pem");
    let public_key = "--own-key @public.pem";
    for (options, input, other) in [
        ("", "message", "--context mail"),
        ("--context mail", "message", ""),
        ("--context-hex 6d61696c", "message", "--context Mail"),
        ("--pre-hash sha512", "message", ""),
        (
            "--pre-hash sha3-512 --context mail --digest",
            "digest",
            "--pre-hash sha512 --context mail --digest",
        ),
        ("--scheme mu-ml-dsa --digest", "digest", "--pre-hash sha512 --digest"),
        ("--scheme ml-dsa", "message", "--pre-hash sha256"),
    ] {
        let with = |key: &str, options: &str| match options {
            "" => format!("{key} --in @{input}"),
            options => format!("{key} {options} --in @{input}"),
        };
        folder.ok(&format!("sign {} --out @signature", with("--key ml-dsa-65", options)));
        for key in ["--key ml-dsa-65", public_key] {
            let verify = |options: &str| format!("verify {} --signature @signature", with(key, options));
            assert_eq!(folder.text(&verify(options)), "the signature is valid\n");
            let output = folder.call(&verify(other));
            assert_eq!(code(&output), 1, "{options}: {}", stderr(&output));
        }
    }
    // Text and hexadecimal digits of one context are the same.
    folder.ok("sign --key ml-dsa-65 --context mail --in @message --out @signature");
    folder.ok("verify --key ml-dsa-65 --context-hex 6d61696c --in @message --signature @signature");
    let json = folder.ok("sign --key ml-dsa-44 --pre-hash shake256 --in @message --json");
    let json: Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["scheme"], "hash-shake256-ml-dsa-44-sign");
    assert_eq!(json["hex"].as_str().unwrap().len(), 2 * 2420);
    let long = "x".repeat(256);
    for (words, reason) in [
        (
            format!("sign --key ml-dsa-65 --context {long} --in @message"),
            "expected at most 255 bytes, found 256",
        ),
        ("sign --key p256 --context mail --in @message".into(), "ecdsa-p256-sha256-sign takes no context"),
        ("sign --key p256 --pre-hash sha256 --in @message".into(), "expected an ML-DSA or SLH-DSA key"),
        ("sign --key ml-dsa-65 --pre-hash md5 --in @message".into(), "--pre-hash: expected sha256, sha384"),
        (
            "sign --key ml-dsa-65 --scheme mu-ml-dsa --in @message".into(),
            "expected --digest and a file of mu",
        ),
        (
            "sign --key ml-dsa-65 --scheme mu-ml-dsa --context x --digest --in @digest".into(),
            "takes no context",
        ),
        (
            "sign --key ml-dsa-65 --context-hex 6d6 --in @message".into(),
            "an even number of hexadecimal digits",
        ),
        (
            "sign --key ml-dsa-65 --scheme ed25519 --in @message".into(),
            "expected ml-dsa, mu-ml-dsa or --pre-hash",
        ),
        ("sign --key ml-dsa-65 --digest --in @message".into(), "digest"),
        ("sign --key ml-kem-768 --in @message".into(), "RSA, EC, Ed25519, ML-DSA, SLH-DSA or a composite"),
        (
            "sign --key ml-dsa-65 --pre-hash sha256 --scheme ml-dsa --in @message".into(),
            "cannot be used with",
        ),
    ] {
        folder.refused(&words, 2, reason);
    }
}

#[test]
fn slh_dsa_signs_with_contexts_and_digests() {
    let folder = post_quantum_folder();
    fs::write(folder.path("message"), "hello").unwrap();
    fs::write(folder.path("digest"), [7; 32]).unwrap();
    folder.ok("public-key slh-dsa-sha2-128f --out @public.pem");
    for (options, input, other) in [
        ("--scheme slh-dsa", "message", "--context mail"),
        ("--context mail", "message", "--pre-hash sha256"),
        ("--pre-hash sha256 --digest", "digest", "--pre-hash sha3-256 --digest"),
    ] {
        folder.ok(&format!("sign --key slh-dsa-sha2-128f {options} --in @{input} --out @signature"));
        for key in ["--key slh-dsa-sha2-128f", "--own-key @public.pem"] {
            let verify = |options| format!("verify {key} {options} --in @{input} --signature @signature");
            assert_eq!(folder.text(&verify(options)), "the signature is valid\n");
            assert_eq!(code(&folder.call(&verify(other))), 1, "{options}");
        }
    }
    let json = folder.ok("sign --key slh-dsa-sha2-128f --pre-hash shake256 --in @message --json");
    let json: Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["scheme"], "hash-shake256-slh-dsa-sha2-128f-sign");
    assert_eq!(json["hex"].as_str().unwrap().len(), 2 * 17_088);
    folder.refused("sign --key slh-dsa-sha2-128f --scheme ml-dsa --in @message", 2, "slh-dsa");
}

#[test]
fn composites_sign_with_contexts() {
    let folder = post_quantum_folder();
    fs::write(folder.path("message"), "hello").unwrap();
    folder.ok(&format!("public-key {COMPOSITE} --out @public.pem"));
    for (options, other) in [("--scheme composite", "--context mail"), ("--context mail", "--context other")]
    {
        folder.ok(&format!("sign --key {COMPOSITE} {options} --in @message --out @signature"));
        for key in [&format!("--key {COMPOSITE}"), "--own-key @public.pem"] {
            let verify = |options| format!("verify {key} {options} --in @message --signature @signature");
            assert_eq!(folder.text(&verify(options)), "the signature is valid\n");
            assert_eq!(code(&folder.call(&verify(other))), 1, "{options}");
        }
    }
    folder.refused(&format!("sign --key {COMPOSITE} --scheme ml-dsa --in @message"), 2, "expected composite");
    folder.refused(&format!("sign --key {COMPOSITE} --pre-hash sha256 --in @message"), 2, "--pre-hash");
    folder.refused("sign --key ml-dsa-65 --scheme composite --in @message", 2, "expected ml-dsa");
    let shown = crate::program::oarlock(&["keys", "show", folder.path("public.pem").to_str().unwrap()]);
    assert!(String::from_utf8_lossy(&shown.stdout).contains(COMPOSITE), "{shown:?}");
}

#[test]
fn public_keys_of_hss_and_xmss_only_verify() {
    let folder = CallFolder::new();
    for (shape, scheme) in [(Shape::HssVerify, "hss"), (Shape::XmssVerify, "xmss")] {
        let known = sample_operations(shape, 1).unwrap();
        let operation = known.get(0).unwrap();
        let SecondInput::Signature(signature) = operation.extra else { panic!("{scheme}") };
        fs::write(folder.path("public.pem"), export::spki_pem(operation.key).unwrap()).unwrap();
        fs::write(folder.path("message"), operation.input).unwrap();
        fs::write(folder.path("other"), "other").unwrap();
        fs::write(folder.path("signature"), signature).unwrap();
        for option in [String::new(), format!(" --scheme {scheme}")] {
            let verify =
                |input| format!("verify --own-key @public.pem{option} --in @{input} --signature @signature");
            assert_eq!(folder.text(&verify("message")), "the signature is valid\n");
            assert_eq!(code(&folder.call(&verify("other"))), 1);
        }
        let context = "verify --own-key @public.pem --context mail --in @message --signature @signature";
        folder.refused(context, 2, "takes no context");
        let shown = crate::program::oarlock(&["keys", "show", folder.path("public.pem").to_str().unwrap()]);
        assert!(String::from_utf8_lossy(&shown.stdout).contains(&format!("{scheme}-")), "{shown:?}");
    }
}

#[test]
fn secrets_are_encapsulated_and_decapsulated() {
    let folder = post_quantum_folder();
    folder.ok("public-key ml-kem-768 --out @public.pem");
    for key in ["--key ml-kem-768", "--own-key @public.pem"] {
        folder.ok(&format!("encapsulate {key} --ciphertext @ciphertext --out @secret"));
        let secret = fs::read(folder.path("secret")).unwrap();
        assert_eq!((fs::read(folder.path("ciphertext")).unwrap().len(), secret.len()), (1088, 32));
        assert_eq!(fs::metadata(folder.path("secret")).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(folder.ok("decapsulate --key ml-kem-768 --in @ciphertext"), secret);
    }
    let json: Value = serde_json::from_slice(&folder.ok("encapsulate --key ml-kem-768 --json")).unwrap();
    assert_eq!(json["scheme"], "ml-kem-768-encaps");
    let bytes = |name: &str| {
        let text = json[name].as_str().unwrap();
        (0..text.len() / 2)
            .map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap())
            .collect::<Vec<_>>()
    };
    fs::write(folder.path("ciphertext"), bytes("ciphertext")).unwrap();
    let hex = folder.text("decapsulate --key ml-kem-768 --in @ciphertext --hex");
    assert_eq!(hex.trim_end(), json["hex"].as_str().unwrap());
    // A ciphertext for another key has another secret, and is no error.
    fs::write(folder.path("random"), [5; 1088]).unwrap();
    let random = folder.ok("decapsulate --key ml-kem-768 --in @random");
    assert_eq!((random.len(), folder.ok("decapsulate --key ml-kem-768 --in @random")), (32, random));
    fs::write(folder.path("short"), [5; 1087]).unwrap();
    fs::write(folder.path("empty"), "").unwrap();
    for (name, found) in [("short", "found 1087"), ("empty", "found 0")] {
        let reason = format!("a ciphertext of ml-kem-768 has 1088 bytes, {found}");
        folder.refused(&format!("decapsulate --key ml-kem-768 --in @{name}"), 2, &reason);
    }
    for (words, reason) in [
        ("encapsulate --key ml-kem-768", "expected --ciphertext FILE"),
        ("encapsulate --key ml-kem-768 --hex --json", "expected --ciphertext FILE"),
        ("encapsulate --key ml-dsa-65 --ciphertext @c", "the key is ml-dsa-65: expected an ML-KEM key"),
        ("decapsulate --key x25519 --in @short", "the key is x25519: expected an ML-KEM key"),
        ("derive --key ml-kem-768 --peer @public.pem", "expected an X25519 or EC key"),
        ("decapsulate --key aes --in @short", "expected `oarlock call encrypt`, `decrypt` or `mac`"),
    ] {
        folder.refused(words, 2, reason);
    }
    let keys = folder.text("keys");
    assert!(keys.contains("ml-kem-768") && keys.contains("ml-dsa-44"), "{keys}");
}

#[test]
fn errors_name_what_was_expected() {
    let folder = CallFolder::new();
    fs::write(folder.path("value"), "odd length").unwrap();
    for (words, reason) in [
        (
            "seal --key aes --cipher tdes2-cbc --in @value",
            "expected aes128-gcm or aes128-gcm-siv or aes128-cbc",
        ),
        ("seal --key rfc4231 --in @value", "expected a key of AES or DES"),
        ("seal --key p256 --in @value", "expected a symmetric key"),
        ("seal --key aes --iv 00 --in @value", "expected 24 hexadecimal digits"),
        ("seal --key aes --iv 000000000000000000000000 --in @value", "forbids an IV"),
        ("seal --key tdes --aad x --in @value", "expected a cipher of GCM"),
        ("seal --key tdes --in @value", "a length does not fit"),
        ("open --key aes --in @value", "at least 28 bytes"),
        (
            "mac --key tdes --mac hmac-sha1 --in @value",
            "expected retail-mac or retail-mac-pad2 or tdes2-cmac",
        ),
        ("mac --key absent --in @value", "absent"),
        ("sign --key aes --in @value", "expected `oarlock call encrypt`, `decrypt` or `mac`"),
    ] {
        folder.refused(words, 2, reason);
    }
}

#[test]
fn only_the_owner_can_read_written_secrets() {
    let folder = CallFolder::new();
    fs::write(folder.path("value"), "secret").unwrap();
    folder.ok("public-key x25519 --out @peer.pem");
    folder.ok("seal --key aes --in @value --out @sealed");
    for words in ["derive --key x25519 --peer @peer.pem", "open --key aes --in @sealed"] {
        for more in ["", " --hex"] {
            let out = folder.path("out");
            fs::write(&out, "old").unwrap();
            fs::set_permissions(&out, Permissions::from_mode(0o644)).unwrap();
            folder.ok(&format!("{words} --out @out{more}"));
            assert_eq!(fs::metadata(&out).unwrap().permissions().mode() & 0o777, 0o600, "{words}");
            assert_ne!(fs::read(&out).unwrap(), b"old");
        }
    }
}

/// A key is rotated while its server runs. What the first version encrypted is decrypted and encrypted again.
#[test]
fn a_key_is_rotated_under_a_running_server() {
    let mut folder = CallFolder::new();
    let mut log = folder.served.log();
    log.wait_for("listening");
    let keys = Development::at(folder.dir.path()).records();
    let rotate = |words: &[&str]| {
        let rotate = ["--json", "keys", "rotate", "aes", "--records", keys.to_str().unwrap()];
        let output = crate::program::oarlock(&[&rotate[..], words].concat());
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        (json["version"].as_u64().unwrap(), json["min_version"].as_u64().unwrap())
    };
    fs::write(folder.path("value"), "4111111111111111").unwrap();
    folder.ok("encrypt --key aes --aad cards --in @value --out @first");
    assert_eq!(rotate(&[]), (2, 1));
    folder.served.signal("-HUP");
    log.wait_for("keys and grants were read again");

    let json: Value = serde_json::from_slice(&folder.ok("encrypt --key aes --in @value --json")).unwrap();
    assert_eq!(json["key_version"], 2);
    folder.refused("decrypt --key aes --aad cards --in @first", 1, "verification failed");
    assert_eq!(folder.ok("decrypt --key aes@1 --aad cards --in @first"), b"4111111111111111");
    folder.refused("encrypt --key aes@1 --in @value", 2, "forbids");
    folder.refused("mac --key aes@1 --in @value", 2, "an older version");
    folder.ok("rewrap --key aes@1 --aad cards --in @first --out @second");
    assert_eq!(folder.ok("decrypt --key aes --aad cards --in @second"), b"4111111111111111");
    folder.ok("encrypt --key aes --in @value --out @plain");
    folder.ok("rewrap --key aes --in @plain --to-key tdes --to-cipher tdes2-cbc --out @third");
    assert_eq!(folder.ok("decrypt --key tdes --in @third"), b"4111111111111111");
}

#[test]
fn a_key_without_versions_is_not_rotated() {
    let folder = CallFolder::new();
    let keys = Development::at(folder.dir.path()).records();
    let path = keys.to_str().unwrap();
    for (words, reason) in [
        (&["absent"][..], "\"absent\": the file has no key of this name"),
        (&["aes", "--min-version", "3"], "minimum version 3: expected 1 to 2"),
        (&["aes", "--keep-key"], "--keep-key changes nothing by itself"),
    ] {
        let output = crate::program::oarlock(&[&["keys", "rotate", "--records", path], words].concat());
        assert!(code(&output) == 2 && stderr(&output).contains(reason), "{}", stderr(&output));
    }
    let missing = folder.path("missing");
    let output = crate::program::oarlock(&["keys", "rotate", "aes", "--records", missing.to_str().unwrap()]);
    assert!(code(&output) == 2 && stderr(&output).contains("cannot read"), "{}", stderr(&output));
    assert_eq!(fs::read_to_string(&keys).unwrap(), KEYS);
}
