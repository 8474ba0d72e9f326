//! The suite that every version of OpenSSL must pass with the provider.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};

use crate::common::{KEYS, ProgramResult, TestDirectory};

const PSS: &str = "-sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:digest";

/// Keys of TLS are those of plain OpenSSL, also with digests that only the other provider has.
pub fn derivations(dir: &TestDirectory) {
    let label = "-kdfopt hexprefix:746c73313320 -kdfopt label:derived -kdfopt hexdata:00ff";
    let extract = format!("-kdfopt mode:EXTRACT_ONLY {label}");
    let expand = format!("-kdfopt mode:EXPAND_ONLY {label}");
    let salt = "-kdfopt hexsalt:0123456789abcdef";
    let key = "-kdfopt hexkey:000102030405060708090a0b0c0d0e0f";
    let prf = "-kdfopt hexsecret:0001020304050607 -kdfopt seed:label -kdfopt hexseed:a0a1a2";
    for arguments in [
        format!("-keylen 32 -kdfopt digest:SHA256 {key} {salt} {extract} TLS13-KDF"),
        format!("-keylen 48 -kdfopt digest:SHA384 {key} {extract} TLS13-KDF"),
        format!("-keylen 32 -kdfopt digest:SHA2-256 {salt} {extract} TLS13-KDF"),
        format!("-keylen 1 -kdfopt digest:SHA256 {key} {expand} TLS13-KDF"),
        format!("-keylen 32 -kdfopt digest:SHA256 {key} {expand} TLS13-KDF"),
        format!("-keylen 8160 -kdfopt digest:SHA256 {key} {expand} TLS13-KDF"),
        format!("-keylen 100 -kdfopt digest:SHA1 {key} {expand} TLS13-KDF"),
        format!("-keylen 65 -kdfopt digest:SHA512 {key} {expand} TLS13-KDF"),
        format!("-keylen 40 -kdfopt digest:SHA3-256 {key} {expand} TLS13-KDF"),
        format!("-keylen 40 {key} {expand} -kdfopt digest:SHA512-256 TLS13-KDF"),
        format!("-keylen 48 -kdfopt digest:SHA256 {prf} TLS1-PRF"),
        format!("-keylen 1000 -kdfopt digest:SHA384 {prf} TLS1-PRF"),
        format!("-keylen 20 -kdfopt digest:SHA224 {prf} TLS1-PRF"),
        format!("-keylen 48 -kdfopt digest:MD5-SHA1 {prf} TLS1-PRF"),
        format!("-keylen 48 {prf} -kdfopt digest:SHA512-224 TLS1-PRF"),
    ] {
        let expected = dir.plain(&format!("kdf {arguments}")).ok();
        assert_eq!(dir.openssl(&format!("kdf {arguments}")).ok(), expected, "{arguments}");
        // Strictly this provider, which continues with the other one where it must.
        let strictly = format!("kdf -propquery provider=oarlock {arguments}");
        assert_eq!(dir.openssl(&strictly).ok(), expected, "{arguments}");
    }
    for arguments in [
        format!("-keylen 8161 -kdfopt digest:SHA256 {key} {expand} TLS13-KDF"),
        format!("-keylen 31 -kdfopt digest:SHA256 {key} {extract} TLS13-KDF"),
        format!("-keylen 32 -kdfopt digest:SHA256 {key} TLS13-KDF"),
        format!("-keylen 32 -kdfopt digest:SHA256 {expand} TLS13-KDF"),
        format!("-keylen 32 {key} {expand} TLS13-KDF"),
        format!("-keylen 32 -kdfopt digest:SHA1024 {key} {expand} TLS13-KDF"),
        format!("-keylen 32 -kdfopt digest:SHA256 -kdfopt mode:BACKWARDS {key} TLS13-KDF"),
        "-keylen 32 -kdfopt digest:SHA256 -kdfopt seed:label TLS1-PRF".to_owned(),
        format!("-keylen 32 {prf} TLS1-PRF"),
    ] {
        dir.plain(&format!("kdf {arguments}")).failed();
        dir.openssl(&format!("kdf {arguments}")).failed();
    }
}

pub fn signatures(dir: &TestDirectory) {
    dir.keys();
    dir.write("message", b"a message of no particular length".repeat(100));
    for (key, digest, options) in [
        ("rsa", "-sha256", ""),
        ("rsa", "-sha1", ""),
        ("rsa", "-sha224", ""),
        ("rsa", "-sha512", ""),
        ("rsa", "-sha3-256", ""),
        ("rsa", "-sha256", PSS),
        ("rsa", "-sha224", PSS),
        ("rsa", "-sha384", "-sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:max"),
        (
            "rsa",
            "-sha512",
            "-sigopt rsa_padding_mode:pss -sigopt rsa_mgf1_md:sha256 -sigopt rsa_pss_saltlen:20",
        ),
        ("p256", "-sha256", ""),
        ("p256", "-sha224", ""),
        ("p256", "-sha512", ""),
        ("p256", "-sha3-512", ""),
        ("p384", "-sha384", ""),
        ("p384", "-sha1", ""),
    ] {
        both_ways(dir, key, digest, options);
    }
    for (key, options) in
        [("ed25519", "-rawin"), ("rsa", ""), ("rsa", "-pkeyopt digest:sha256"), ("p256", ""), ("p384", "")]
    {
        // A digest of 32 bytes, or Ed25519's message.
        dir.write("digest", [7; 32]);
        raw_both_ways(dir, key, options);
    }
    recovered(dir);
}

fn both_ways(dir: &TestDirectory, key: &str, digest: &str, options: &str) {
    let sign = format!("dgst {digest} {options} -sign {key} -out signature message");
    let verify = format!("dgst {digest} {options} -verify {key}.pub -signature signature message");
    dir.openssl(&sign).ok();
    dir.plain(&verify).ok();
    dir.plain(&sign).ok();
    dir.openssl(&verify).ok();
    damage(dir, "signature");
    dir.openssl(&verify).failed();
}

fn raw_both_ways(dir: &TestDirectory, key: &str, options: &str) {
    let sign = format!("pkeyutl -sign {options} -inkey {key} -in digest -out signature");
    let verify = format!("pkeyutl -verify {options} -pubin -inkey {key}.pub -in digest -sigfile signature");
    dir.openssl(&sign).ok();
    dir.plain(&verify).ok();
    dir.plain(&sign).ok();
    dir.openssl(&verify).ok();
    damage(dir, "signature");
    dir.openssl(&verify).failed();
}

fn recovered(dir: &TestDirectory) {
    dir.plain("pkeyutl -sign -inkey rsa -in digest -out signature").ok();
    dir.openssl("pkeyutl -verifyrecover -pubin -inkey rsa.pub -in signature -out recovered").ok();
    assert_eq!(dir.read("recovered"), [7; 32]);
}

/// Flips one bit in the middle of a file.
fn damage(dir: &TestDirectory, name: &str) {
    let mut content = dir.read(name);
    let middle = content.len() / 2;
    content[middle] ^= 1;
    dir.write(name, content);
}

pub fn encryption(dir: &TestDirectory) {
    dir.key("rsa", "-algorithm RSA -pkeyopt rsa_keygen_bits:2048");
    dir.write("plain", b"a short secret");
    for options in [
        "",
        "-pkeyopt rsa_padding_mode:oaep",
        "-pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:sha256 -pkeyopt rsa_mgf1_md:sha256",
        "-pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_label:6c6162656c",
    ] {
        let encrypt = format!("pkeyutl -encrypt {options} -pubin -inkey rsa.pub -in plain -out cipher");
        let decrypt = format!("pkeyutl -decrypt {options} -inkey rsa -in cipher -out decrypted");
        dir.plain(&encrypt).ok();
        dir.openssl(&decrypt).ok();
        assert_eq!(dir.read("decrypted"), b"a short secret", "{options}");
        dir.openssl(&encrypt).ok();
        dir.plain(&decrypt).ok();
        assert_eq!(dir.read("decrypted"), b"a short secret", "{options}");
    }
    // Implicit rejection: some message, and no error.
    dir.plain("pkeyutl -encrypt -pubin -inkey rsa.pub -in plain -out cipher").ok();
    let mut cipher = dir.read("cipher");
    let last = cipher.len() - 1;
    cipher[last] ^= 1;
    dir.write("cipher", cipher);
    dir.openssl("pkeyutl -decrypt -inkey rsa -in cipher -out decrypted").ok();
    assert_ne!(dir.read("decrypted"), b"a short secret");
}

pub fn agreement(dir: &TestDirectory) {
    dir.openssl("genpkey -algorithm X25519 -out own").ok();
    dir.openssl("pkey -in own -pubout -out own.pub").ok();
    dir.key("peer", "-algorithm X25519");
    dir.openssl("pkeyutl -derive -inkey own -peerkey peer.pub -out secret").ok();
    dir.plain("pkeyutl -derive -inkey peer -peerkey own.pub -out expected").ok();
    assert_eq!(dir.read("secret"), dir.read("expected"));
    assert_eq!(dir.read("secret").len(), 32);
    // P-521 has no engine here, so OpenSSL's own provider agrees.
    for (curve, len) in [("P-256", 32), ("P-384", 48), ("P-521", 66)] {
        for key in ["own", "peer"] {
            dir.key(key, &format!("-algorithm EC -pkeyopt ec_paramgen_curve:{curve}"));
        }
        for (options, len) in [("", len), (KDF, 77)] {
            dir.openssl(&format!("pkeyutl -derive {options} -inkey own -peerkey peer.pub -out secret")).ok();
            dir.plain(&format!("pkeyutl -derive {options} -inkey peer -peerkey own.pub -out expected")).ok();
            assert_eq!(dir.read("secret"), dir.read("expected"), "{curve} {options}");
            assert_eq!(dir.read("secret").len(), len, "{curve} {options}");
        }
    }
    dir.key("other", "-algorithm EC -pkeyopt ec_paramgen_curve:P-256");
    dir.key("own", "-algorithm EC -pkeyopt ec_paramgen_curve:P-384");
    dir.openssl("pkeyutl -derive -inkey own -peerkey other.pub -out secret").failed();
}

/// The key derivation of CMS, which needs three digests for its output.
const KDF: &str =
    "-pkeyopt kdf-type:X963KDF -pkeyopt kdf-digest:SHA256 -pkeyopt kdf-outlen:77 -pkeyopt hexkdf-ukm:616263";

/// Encrypts mail for the holder of an EC key, which agrees on the key of the content. RFC 5753.
pub fn enveloped_mail(dir: &TestDirectory) {
    dir.write("message", b"a message of no particular length".repeat(20));
    for key in ["p256", "p384"] {
        dir.key(key, &format!("-algorithm EC -pkeyopt ec_paramgen_curve:P-{}", &key[1..]));
        dir.certificate(key);
        for options in ["", "-keyopt ecdh_kdf_md:sha384 -keyopt ecdh_cofactor_mode:1"] {
            let seal =
                format!("cms -encrypt -binary -in message -aes256 -out sealed -recip {key}.crt {options}");
            let open = format!("cms -decrypt -binary -in sealed -recip {key}.crt -inkey {key} -out opened");
            for (sealing, opening) in [(true, false), (false, true), (true, true)] {
                if sealing { dir.openssl(&seal) } else { dir.plain(&seal) }.ok();
                if opening { dir.openssl(&open) } else { dir.plain(&open) }.ok();
                assert_eq!(dir.read("opened"), dir.read("message"), "{key} {options}");
            }
        }
    }
}

pub fn certificates(dir: &TestDirectory) {
    for (name, how) in KEYS {
        dir.key(name, how);
        for options in if name == "rsa" { vec!["", PSS] } else { vec![""] } {
            let request =
                format!("req -x509 -new -key {name} {options} -subj /CN=localhost -days 2 -out signed.crt");
            dir.openssl(&request).ok();
            // A certificate that signed itself.
            dir.plain("verify -check_ss_sig -CAfile signed.crt signed.crt").ok();
            dir.openssl("verify -check_ss_sig -CAfile signed.crt signed.crt").ok();
            dir.openssl(&format!("req -new -key {name} {options} -subj /CN=localhost -out request")).ok();
            dir.plain("req -verify -noout -in request").ok();
        }
    }
}

/// Checks handshakes with the keys of [`KEYS`].
pub fn handshakes(dir: &TestDirectory) {
    for (name, _) in KEYS {
        for (version, options) in [("-tls1_3", ""), ("-tls1_2", "")] {
            connect(dir, name, version, options);
        }
    }
    // The server decrypts a premaster secret; the client encrypts it.
    connect(dir, "rsa", "-tls1_2", "-cipher AES128-GCM-SHA256");
}

/// Connects a server with the provider and a client without, then the opposite.
pub fn connect(dir: &TestDirectory, key: &str, version: &str, options: &str) {
    let options = format!("{version} {options}");
    connect_to(dir, key, &options);
    let server = Server::start(dir, false, key, &options);
    let said = dir.openssl(&client(&server, key, &options)).ok();
    assert!(said.contains("Verify return code: 0 (ok)"), "{said}");
}

/// Connects a server with the provider and a client without.
pub fn connect_to(dir: &TestDirectory, key: &str, options: &str) {
    let server = Server::start(dir, true, key, options);
    let said = dir.plain(&client(&server, key, options)).ok();
    assert!(said.contains("Verify return code: 0 (ok)"), "{said}");
}

/// Returns the stderr of a server with the provider after two handshakes.
pub fn two_connections(dir: &TestDirectory, key: &str) -> String {
    let mut server = Server::starting(dir, true, key, "-naccept 2", Stdio::piped());
    for _ in 0..2 {
        dir.plain(&client(&server, key, "")).ok();
    }
    let mut said = String::new();
    server.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    said
}

/// The TLS groups by name, and the client's names for their keys.
const GROUPS: [(&str, &str); 4] = [
    ("X25519", "Temp Key: X25519"),
    ("P-256", "Temp Key: ECDH, prime256v1"),
    ("P-384", "Temp Key: ECDH, secp384r1"),
    ("P-521", "Temp Key: ECDH, secp521r1"),
];

/// Checks that groups exist before and after the first signature, for which OpenSSL looks up key managers.
pub fn groups(dir: &TestDirectory) {
    // In TLS 1.2 a client's groups are those of certificates as well.
    for (key, versions) in [("p256", &["-tls1_3"][..]), ("rsa", &["-tls1_2", "-tls1_3"])] {
        let server = Server::start(dir, true, key, "");
        for (group, expected) in GROUPS.iter().cycle().take(2 * GROUPS.len()) {
            for version in versions {
                let said = dir.plain(&client(&server, key, &format!("-groups {group} {version}"))).ok();
                assert!(said.contains(expected), "{said}");
            }
        }
        let server = Server::start(dir, false, key, "");
        for (group, expected) in GROUPS {
            let said = dir.openssl(&client(&server, key, &format!("-groups {group}"))).ok();
            assert!(said.contains(expected), "{said}");
        }
    }
}

/// Checks the groups with ML-KEM between OpenSSL's own and this provider's, for versions that have both.
pub fn hybrids(dir: &TestDirectory) {
    let all = "X25519MLKEM768:SecP256r1MLKEM768:SecP384r1MLKEM1024";
    for has_provider in [true, false] {
        let server = Server::start(dir, has_provider, "p256", &format!("-groups {all}"));
        for group in all.split(':') {
            // A client sends a share of the first group, and the server asks for one of the second.
            for groups in [group.to_owned(), format!("P-256:{group}")] {
                let arguments = client(&server, "p256", &format!("-groups {groups}"));
                let said = if has_provider { dir.plain(&arguments) } else { dir.openssl(&arguments) }.ok();
                assert!(said.contains(&format!("Negotiated TLS1.3 group: {group}")), "{said}");
            }
        }
    }
}

/// Checks that this provider's key managers generate keys too, if OpenSSL selects them.
pub fn generation(dir: &TestDirectory) {
    const OWN: &str = "-propquery ?oarlock.keys=import";
    dir.write("message", b"a message");
    for (name, how) in KEYS {
        dir.openssl(&format!("genpkey {OWN} {how} -out {name}")).ok();
        dir.plain(&format!("pkey -in {name} -check -noout")).ok();
        dir.plain(&format!("pkey -in {name} -pubout -out {name}.pub")).ok();
        dir.certificate(name);
    }
    dir.openssl(&format!(
        "genpkey {OWN} -genparam -algorithm EC -pkeyopt ec_paramgen_curve:P-384 -out curve"
    ))
    .ok();
    dir.openssl(&format!("genpkey {OWN} -paramfile curve -out made")).ok();
    assert!(dir.plain("pkey -in made -text -noout").ok().contains("P-384"));
    for key in ["p256", "rsa"] {
        let server = Server::start(dir, true, key, OWN);
        for (group, expected) in GROUPS.iter().take(3) {
            let said = dir.plain(&client(&server, key, &format!("-groups {group}"))).ok();
            assert!(said.contains(expected), "{said}");
        }
        let server = Server::start(dir, false, key, "");
        for (group, expected) in GROUPS.iter().take(3) {
            let said = dir.openssl(&client(&server, key, &format!("{OWN} -groups {group}"))).ok();
            assert!(said.contains(expected), "{said}");
        }
    }
}

fn client(server: &Server, key: &str, options: &str) -> String {
    format!(
        "s_client -connect 127.0.0.1:{} -servername localhost -CAfile {key}.crt -verify_return_error \
         -verify_hostname localhost {options}",
        server.port
    )
}

/// A running `openssl s_server` on its own port.
pub struct Server {
    child: Child,
    pub port: u16,
}

impl Server {
    pub fn start(dir: &TestDirectory, has_provider: bool, key: &str, options: &str) -> Self {
        Self::starting(dir, has_provider, key, options, Stdio::inherit())
    }

    /// Starts a server under another configuration than the documented one.
    pub fn under(dir: &TestDirectory, configuration: &str, key: &str, options: &str) -> Self {
        let mut command = dir.plain_command(&dir.openssl);
        command.env("OPENSSL_CONF", dir.path(configuration));
        Self::run(command, key, options, Stdio::null())
    }

    pub fn starting(
        dir: &TestDirectory,
        has_provider: bool,
        key: &str,
        options: &str,
        stderr: Stdio,
    ) -> Self {
        let command = if has_provider { dir.command(&dir.openssl) } else { dir.plain_command(&dir.openssl) };
        Self::run(command, key, options, stderr)
    }

    fn run(mut command: Command, key: &str, options: &str, stderr: Stdio) -> Self {
        command.args([
            "s_server",
            "-accept",
            "127.0.0.1:0",
            "-cert",
            &format!("{key}.crt"),
            "-key",
            key,
            "-www",
        ]);
        command.args(options.split_whitespace()).stdin(Stdio::null());
        let mut child = command.stdout(Stdio::piped()).stderr(stderr).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let accept = output.lines().map_while(Result::ok).find(|line| line.starts_with("ACCEPT"));
        let port = accept.as_ref().and_then(|line| line.rsplit(':').next()?.parse().ok());
        let port = port.unwrap_or_else(|| panic!("{command:?} said no port: {accept:?}"));
        Self { child, port }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn left_alone(dir: &TestDirectory) {
    dir.write("message", b"a message");
    for (name, how) in [
        ("p521", "-algorithm EC -pkeyopt ec_paramgen_curve:P-521"),
        ("pss", "-algorithm RSA-PSS -pkeyopt rsa_keygen_bits:2048"),
        ("ed448", "-algorithm ED448"),
        ("made", "-algorithm RSA -pkeyopt rsa_keygen_bits:1024"),
        ("made256", "-algorithm EC -pkeyopt ec_paramgen_curve:P-256"),
    ] {
        dir.openssl(&format!("genpkey {how} -out {name}")).ok();
        dir.openssl(&format!("pkey -in {name} -pubout -out {name}.pub")).ok();
        let digest = if name == "ed448" { "" } else { "-digest sha256" };
        dir.openssl(&format!("pkeyutl -sign -rawin {digest} -inkey {name} -in message -out signature")).ok();
        let verify = format!(
            "pkeyutl -verify -rawin {digest} -pubin -inkey {name}.pub -in message -sigfile signature"
        );
        dir.plain(&verify).ok();
    }
    dir.openssl("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out ecdh").ok();
    dir.openssl("pkey -in ecdh -pubout -out ecdh.pub").ok();
    dir.openssl("pkeyutl -derive -inkey ecdh -peerkey ecdh.pub -out secret").ok();
    dir.openssl("dgst -sha256 -hmac key message").ok();
}

pub fn async_jobs(dir: &TestDirectory) {
    for algorithm in ["rsa2048", "ed25519", "ecdsap256", "ecdhx25519", "ecdhp256", "ecdhp384"] {
        let said = dir.openssl(&format!("speed -async_jobs 8 -seconds 1 {algorithm}"));
        let wrong = ["ERROR", "failure", "error:", "engine"].iter().find(|word| said.said().contains(**word));
        assert_eq!(wrong, None, "{}", said.said());
        said.ok();
    }
}

/// Checks a process that may start no threads: everything works, and jobs say that they form no batches.
pub fn without_threads(dir: &TestDirectory) {
    // No system has addresses for such a stack.
    let run = |arguments: &str| {
        dir.openssl_with(arguments, |command| {
            command.env("RUST_MIN_STACK", (1_usize << 50).to_string());
        })
    };
    dir.write("message", b"a message");
    run("genpkey -propquery ?oarlock.keys=import -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out rsa").ok();
    run("dgst -sha256 -sign rsa -out signature message").ok();
    run("dgst -sha256 -prverify rsa -signature signature message").ok();
    let said = run("speed -async_jobs 8 -seconds 1 rsa2048");
    assert!(said.said().contains("this process may start no threads"), "{}", said.said());
    assert!(!said.said().contains("failure"), "{}", said.said());
    said.ok();
}

pub fn bad_input(dir: &TestDirectory) {
    dir.keys();
    dir.write("message", b"a message");
    dir.write("digest", [7; 32]);
    for (arguments, expected) in [
        ("pkeyutl -sign -inkey rsa -in digest -pkeyopt digest:sha384", "expected 48"),
        ("dgst -sha256 -sigopt rsa_mgf1_md:sha1 -sign rsa message", "mgf1-digest: expected the padding PSS"),
        ("dgst -sha256 -sigopt rsa_pss_saltlen:20 -sign rsa message", "saltlen: expected the padding PSS"),
        ("dgst -sha256 -sign oarlock:mail message", "which mode = local does not ask"),
        ("dgst -sha256 -sign oarlock:%ZZ message", "oarlock"),
    ] {
        let said = dir.openssl(arguments).failed();
        assert!(said.contains(expected), "{arguments}: {said}");
    }
    for (section, expected) in [
        ("mode = servce", "mode = \"servce\": expected auto, local or service"),
        ("threads = none", "threads = \"none\": expected a number from 1 to 1024"),
        ("engines = gpu", "engines = \"gpu\": expected lanes, scalar or both"),
    ] {
        let other = TestDirectory::with(dir.openssl.clone(), dir.libraries.clone(), section);
        let said = other.openssl("list -providers").said();
        assert!(said.contains(expected), "{section}: {said}");
    }
    let said = ProgramResult::from_command(
        dir.command(&dir.openssl).args(["list", "-providers"]).env("OARLOCK_MODE", "both"),
    );
    assert!(said.said().contains("OARLOCK_MODE = \"both\""), "{}", said.said());
    let _ = std::io::stderr().flush();
}
