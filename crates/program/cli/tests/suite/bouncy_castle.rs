//! `oarlock records` and Bouncy Castle decrypt what the other has encrypted: FF1 and AES-GCM-SIV. Keys, signatures and
//! ciphertexts of ML-DSA, SLH-DSA, composites and ML-KEM go both ways. Each test prints SKIPPED without a JDK of
//! version 17 or later, or without a Bouncy Castle that has the algorithms.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::program::peers::has;
use crate::program::{code, command, stderr};
use oarlock::keys::{export, generate, import};
use oarlock::{
    Accelerator, CompositeAlg, Input, Job, Key, KeyKind, MlDsaSet, MlDsaVariant, MlKemSet, NonceRule,
    SigningScheme, SlhDsaSet,
};
use tempfile::TempDir;

/// Debian's. Newer ones lie beside the tests.
const DEBIAN_JAR: &str = "/usr/share/java/bcprov.jar";
const KEYS: [(&str, &str); 2] = [
    ("aes128", "2b7e151628aed2a6abf7158809cf4f3c"),
    ("aes256", "2b7e151628aed2a6abf7158809cf4f3cef4359d8d580aa4f7f036d6f04fc6a94"),
];
/// The lengths of tweaks around the blocks of AES.
const TWEAK_LENS: [usize; 9] = [0, 1, 7, 8, 15, 16, 17, 40, 255];

#[test]
fn tokens_are_those_of_bouncy_castle_in_both_directions() {
    let Some(java) = BouncyCastle::find() else { return };
    let mut jobs = Vec::new();
    for (key_type, key) in KEYS {
        for name in ["digits", "upper-alphanumeric", "alphanumeric"] {
            jobs.push(TokenJob::new(key_type, key, name.to_owned(), named(name)));
        }
        // The numerals of Bouncy Castle are bytes up to radix 256, and pairs of bytes above.
        for radix in [256, 257, 20_000] {
            let characters: Vec<char> = ('\u{4e00}'..).take(radix).collect();
            let name = format!("chars:{}", characters.iter().collect::<String>());
            jobs.push(TokenJob::new(key_type, key, name, characters));
        }
    }
    let asked: Vec<String> =
        jobs.iter().flat_map(|job| job.values.iter().map(|row| job.line("encrypt", row))).collect();
    let mut theirs = java.answer(&asked).into_iter();
    let mut asked = Vec::new();
    for job in &jobs {
        let sealed: Vec<TokenRow> =
            job.values.iter().map(|row| job.row(&theirs.next().unwrap(), &row.tweak)).collect();
        let ours = job.run("tokenise", &job.values);
        assert!(ours == sealed, "{}, radix {}", job.key_type, job.alphabet.len());
        assert!(job.run("detokenise", &sealed) == job.values, "{} detokenises", job.key_type);
        asked.extend(ours.iter().map(|row| job.line("decrypt", row)));
    }
    let mut opened = java.answer(&asked).into_iter();
    for job in &jobs {
        for row in &job.values {
            assert!(job.row(&opened.next().unwrap(), &row.tweak) == *row, "Bouncy Castle detokenises");
        }
    }
}

/// The characters of an alphabet in their order.
fn named(name: &str) -> Vec<char> {
    let (digits, upper, lower) = ('0'..='9', 'A'..='Z', 'a'..='z');
    match name {
        "digits" => digits.collect(),
        "upper-alphanumeric" => digits.chain(upper).collect(),
        _ => digits.chain(upper).chain(lower).collect(),
    }
}

#[derive(PartialEq)]
struct TokenRow {
    text: String,
    tweak: String,
}

/// Values in an alphabet, under a key.
struct TokenJob {
    key_type: &'static str,
    key: &'static str,
    name: String,
    alphabet: Vec<char>,
    numerals: HashMap<char, usize>,
    values: Vec<TokenRow>,
}

impl TokenJob {
    fn new(key_type: &'static str, key: &'static str, name: String, alphabet: Vec<char>) -> Self {
        let mut random = fastrand::Rng::with_seed(alphabet.len() as u64);
        // The shortest text of which there are a million.
        let min = (1..).find(|len| (alphabet.len() as f64).powi(*len) >= 1e6).unwrap() as usize;
        let mut values = Vec::new();
        // Bouncy Castle 1.72 counts the bytes of half a text (step 3 of FF1) by a logarithm in floating point. For 29
        // numerals of radix 256 it rounds up to 30 bytes, so texts of 57 and 58 numerals differ.
        let lens = [15, 16, 17, 32, 33, 56, 57, 100, 101, 130];
        let lens = lens.into_iter().filter(|len| (alphabet.len(), *len) != (256, 57));
        for len in (min..min + 4).chain(lens) {
            for tweak_len in TWEAK_LENS {
                let text = (0..len).map(|_| alphabet[random.usize(..alphabet.len())]).collect();
                let tweak = (0..tweak_len).map(|_| random.alphanumeric()).collect();
                values.push(TokenRow { text, tweak });
            }
        }
        let numerals =
            alphabet.iter().enumerate().map(|(numeral, character)| (*character, numeral)).collect();
        Self { key_type, key, name, alphabet, numerals, values }
    }

    /// Returns a question to Bouncy Castle.
    fn line(&self, direction: &str, row: &TokenRow) -> String {
        let numerals: Vec<String> =
            row.text.chars().map(|character| self.numerals[&character].to_string()).collect();
        let (radix, tweak) = (self.alphabet.len(), hex(row.tweak.as_bytes()));
        format!("ff1\t{direction}\t{}\t{radix}\t{tweak}\t{}", self.key, numerals.join(","))
    }

    /// Returns the row that an answer describes.
    fn row(&self, answer: &str, tweak: &str) -> TokenRow {
        let character = |numeral: &str| self.alphabet[numeral.parse::<usize>().unwrap()];
        TokenRow { text: answer.split(',').map(character).collect(), tweak: tweak.to_owned() }
    }

    /// Runs `oarlock records`.
    fn run(&self, operation: &str, rows: &[TokenRow]) -> Vec<TokenRow> {
        let mut text = "value,tweak\n".to_owned();
        for row in rows {
            writeln!(text, "{},{}", row.text, row.tweak).unwrap();
        }
        let folder = Folder::new(self.key, &text);
        let cipher = format!("{}-ff1", self.key_type);
        let options = ["--tweak-column", "tweak", "--cipher", &cipher, "--alphabet", &self.name];
        folder
            .records(operation, &options)
            .lines()
            .skip(1)
            .map(|line| {
                let (text, tweak) = line.split_once(',').unwrap();
                TokenRow { text: text.to_owned(), tweak: tweak.to_owned() }
            })
            .collect()
    }
}

#[test]
fn gcm_siv_is_that_of_bouncy_castle_in_both_directions() {
    let Some(java) = BouncyCastle::find() else { return };
    for (key_type, key) in KEYS {
        let mut random = fastrand::Rng::with_seed(7);
        let mut bytes = |len: usize| hex(&(0..len).map(|_| random.u8(..)).collect::<Vec<u8>>());
        let plain: Vec<[String; 2]> = (0..70).map(|len| [bytes(len), bytes((len * 5) % 41)]).collect();
        let nonces: Vec<String> = plain.iter().map(|_| bytes(12)).collect();
        let cipher = format!("{key_type}-gcm-siv");
        let options = ["--aad-column", "aad", "--cipher", &cipher];

        let mut text = "value,aad\n".to_owned();
        plain.iter().for_each(|row| writeln!(text, "{}", row.join(",")).unwrap());
        let ours = Folder::new(key, &text).records("encrypt", &options);
        let asked: Vec<String> = ours
            .lines()
            .skip(1)
            .map(|line| {
                let [value, aad, iv, tag] = line.split(',').collect::<Vec<_>>().try_into().unwrap();
                format!("gcm-siv\tdecrypt\t{key}\t{iv}\t{aad}\t{value}{tag}")
            })
            .collect();
        let opened = java.answer(&asked);
        assert!(opened.iter().eq(plain.iter().map(|[value, _]| value)), "Bouncy Castle opens {cipher}");

        let asked: Vec<String> = plain
            .iter()
            .zip(&nonces)
            .map(|([value, aad], nonce)| format!("gcm-siv\tencrypt\t{key}\t{nonce}\t{aad}\t{value}"))
            .collect();
        let mut text = "value,aad,iv,tag\n".to_owned();
        for ((sealed, [_, aad]), nonce) in java.answer(&asked).iter().zip(&plain).zip(&nonces) {
            let (value, tag) = sealed.split_at(sealed.len() - 32);
            writeln!(text, "{value},{aad},{nonce},{tag}").unwrap();
        }
        let ours = Folder::new(key, &text).records("decrypt", &[&options[..], &["--drop-iv"]].concat());
        let opened: Vec<&str> = ours.lines().skip(1).map(|line| line.split_once(',').unwrap().0).collect();
        assert!(opened.iter().eq(plain.iter().map(|[value, _]| value)), "oarlock opens {cipher}");
    }
}

/// A signature algorithm, and a key of ours for it.
struct LatticeSigner {
    name: String,
    ours: Key,
    signing: SigningScheme,
}

/// Bouncy Castle writes private keys with their seed and their expanded form.
#[test]
fn ml_dsa_keys_and_signatures_go_both_ways() {
    let signers = MlDsaSet::ALL.map(|set| LatticeSigner {
        name: set.to_string().to_uppercase(),
        ours: generate::ml_dsa(set).unwrap(),
        signing: SigningScheme::ml_dsa(set, MlDsaVariant::Pure, NonceRule::Hedged),
    });
    signatures_go_both_ways(&signers);
}

#[test]
fn slh_dsa_keys_and_signatures_go_both_ways() {
    // The sets of small signatures take a second each in Java, so that one stands for all.
    let is_tested = |set: &SlhDsaSet| *set == SlhDsaSet::Sha2_128s || set.layers() > 8;
    let signers: Vec<LatticeSigner> = SlhDsaSet::ALL
        .into_iter()
        .filter(is_tested)
        .map(|set| LatticeSigner {
            name: set.standard_name().to_uppercase(),
            ours: generate::slh_dsa(set).unwrap(),
            signing: SigningScheme::slh_dsa(set, None, NonceRule::Hedged),
        })
        .collect();
    signatures_go_both_ways(&signers);
}

#[test]
fn composite_keys_and_signatures_go_both_ways() {
    composites_go_both_ways(|bits| bits <= 2048);
}

#[test]
#[ignore = "long RSA keys take a minute in Java"]
fn composites_of_long_rsa_keys_go_both_ways() {
    composites_go_both_ways(|bits| bits > 2048);
}

/// Tests the composites whose RSA key has so many bits, or none.
fn composites_go_both_ways(is_tested: impl Fn(u16) -> bool) {
    let bits = |alg: &CompositeAlg| match alg.traditional_kind() {
        KeyKind::RsaPrivate(bits) => bits,
        _ => 0,
    };
    let tested = CompositeAlg::ALL.into_iter().filter(|alg| is_tested(bits(alg)));
    let signers: Vec<LatticeSigner> = tested
        .map(|alg| LatticeSigner {
            name: alg.standard_name().to_owned(),
            ours: generate::composite(alg).unwrap(),
            signing: SigningScheme::composite(alg),
        })
        .collect();
    signatures_go_both_ways(&signers);
}

fn signatures_go_both_ways(signers: &[LatticeSigner]) {
    let Some(java) = BouncyCastle::with_lattices() else { return };
    let accelerator = Accelerator::builder().engines(["scalar"]).lazy().build().unwrap();
    let (message, contexts) = (b"message", [&b""[..], b"context"]);
    let asked: Vec<String> = signers.iter().map(|signer| format!("generate\t{}", signer.name)).collect();
    let mut asked_again = Vec::new();
    let mut keys = Vec::new();
    for (LatticeSigner { name, ours, signing }, pair) in signers.iter().zip(java.answer(&asked)) {
        let (private, public) = pair.split_once('\t').unwrap();
        let theirs = import::pkcs8_der(&unhex(private)).unwrap();
        assert_eq!(export::spki_der(&theirs).unwrap(), unhex(public), "{name}");
        for key in [theirs, ours.clone()] {
            let private = hex(&export::private_pkcs8_der(&key).unwrap());
            let public = hex(&export::spki_der(&key).unwrap());
            for context in contexts {
                let fields = format!("{}\t{}", hex(message), hex(context));
                let job = Job::sign(*signing, &key, Input::Message(message)).context(context);
                let signature = hex(accelerator.run_all(&[job]).get(0).unwrap());
                asked_again.push(format!("sign\t{name}\t{private}\t{fields}"));
                asked_again.push(format!("verify\t{name}\t{public}\t{fields}\t{signature}"));
                asked_again.push(format!("verify\t{name}\t{public}\t00{fields}\t{signature}"));
            }
            keys.push((name, signing.verifying(), key));
        }
    }
    let mut answers = java.answer(&asked_again).into_iter();
    for (name, verifying, key) in &keys {
        for context in contexts {
            let signature = unhex(&answers.next().unwrap());
            let verified = [&message[..], b"another"].map(|message| {
                let job = Job::verify(*verifying, key, Input::Message(message), &signature).context(context);
                accelerator.run_all(&[job]).get(0).is_ok()
            });
            assert_eq!(verified, [true, false], "{name}");
            assert_eq!(answers.next().as_deref(), Some("01"), "{name}");
            assert_eq!(answers.next().as_deref(), Some("00"), "{name}, another message");
        }
    }
}

#[test]
fn ml_kem_keys_and_ciphertexts_go_both_ways() {
    let Some(java) = BouncyCastle::with_lattices() else { return };
    let accelerator = Accelerator::builder().engines(["scalar"]).lazy().build().unwrap();
    let run = |job: Job<'_>| accelerator.run_all(&[job]).get(0).map(<[u8]>::to_vec).unwrap();
    let name = |set: MlKemSet| set.to_string().to_uppercase();
    let asked: Vec<String> = MlKemSet::ALL.map(|set| format!("generate\t{}", name(set))).into();
    let mut asked_again = Vec::new();
    let mut made = Vec::new();
    for (set, pair) in MlKemSet::ALL.into_iter().zip(java.answer(&asked)) {
        let (private, public) = pair.split_once('\t').unwrap();
        let theirs = import::pkcs8_der(&unhex(private)).unwrap();
        assert_eq!(export::spki_der(&theirs).unwrap(), unhex(public), "{set}");
        for key in [theirs, generate::ml_kem(set).unwrap()] {
            let private = hex(&export::private_pkcs8_der(&key).unwrap());
            let public = hex(&export::spki_der(&key).unwrap());
            let answer = run(Job::encapsulate(&key));
            let (ciphertext, secret) = answer.split_at(set.ciphertext_len());
            asked_again.push(format!("encapsulate\t{}\t{public}", name(set)));
            asked_again.push(format!("decapsulate\t{}\t{private}\t{}", name(set), hex(ciphertext)));
            made.push((set, key, hex(secret)));
        }
    }
    let mut answers = java.answer(&asked_again).into_iter();
    for (set, key, secret) in &made {
        let theirs = answers.next().unwrap();
        let (ciphertext, shared) = theirs.split_once('\t').unwrap();
        assert_eq!(hex(&run(Job::decapsulate(key, &unhex(ciphertext)))), shared, "{set}");
        assert_eq!(answers.next().as_ref(), Some(secret), "{set}");
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// A directory with a key and a file.
struct Folder(TempDir);

impl Folder {
    fn new(key: &str, text: &str) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        fs::write(folder.0.path().join("in.csv"), text).unwrap();
        fs::write(folder.0.path().join("key"), key).unwrap();
        fs::set_permissions(folder.0.path().join("key"), fs::Permissions::from_mode(0o600)).unwrap();
        folder
    }

    /// Runs an operation on the column `value`, and returns its output.
    fn records(&self, operation: &str, options: &[&str]) -> String {
        let words = ["records", operation, "in.csv", "--column", "value", "--key-file", "key"];
        let output = command(&words).args(options).current_dir(self.0.path()).output().unwrap();
        assert_eq!(code(&output), 0, "{operation}: {}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    }
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// Returns the path at which `.ci/setup` puts a newer one than Debian's.
fn newer_jar() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("bcprov.jar")
}

fn is_java_17() -> bool {
    let Ok(output) = Command::new("java").arg("-version").output() else { return false };
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let version = said.split('"').nth(1).and_then(|version| version.split('.').next()?.parse::<u32>().ok());
    version.is_some_and(|version| version >= 17)
}

/// Java with Bouncy Castle.
struct BouncyCastle {
    source: &'static str,
    jar: PathBuf,
}

impl BouncyCastle {
    fn find() -> Option<Self> {
        let jar = newer_jar();
        let jar = if jar.is_file() { jar } else { PathBuf::from(DEBIAN_JAR) };
        Self::with("BouncyCastle.java", jar)
    }

    /// Finds one with ML-KEM, ML-DSA and SLH-DSA.
    fn with_lattices() -> Option<Self> {
        Self::with("Lattice.java", newer_jar())
    }

    fn with(source: &'static str, jar: PathBuf) -> Option<Self> {
        if !has("java") || !has("javac") {
            return None;
        }
        if !is_java_17() {
            eprintln!("SKIPPED: Java is older than 17");
            return None;
        }
        if !jar.is_file() {
            eprintln!("SKIPPED: {} is not there", jar.display());
            return None;
        }
        Some(Self { source, jar })
    }

    /// Returns one answer for each line.
    fn answer(&self, lines: &[String]) -> Vec<String> {
        let mut java = Command::new("java");
        java.args(["-XX:TieredStopAtLevel=1", "-cp"]).arg(&self.jar);
        java.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/java").join(self.source));
        java.stdin(Stdio::piped());
        let mut child = java.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let text = lines.join("\n") + "\n";
        // It prints while it reads, so that both pipes would fill up.
        let writing = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        writing.join().unwrap().unwrap();
        let answers: Vec<String> =
            String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect();
        assert_eq!(answers.len(), lines.len());
        answers
    }
}
