//! Tests of the format: the vectors of the specification, and what can happen to a file.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use aws_lc_rs::digest;
use flate2::read::ZlibDecoder;

use super::*;

/// An identity and its recipient.
const IDENTITY: &str = "AGE-SECRET-KEY-1GQ9778VQXMMJVE8SK7J6VT8UJ4HDQAJUVSFCWCM02D8GEWQ72PVQ2Y5J33";
const RECIPIENT: &str = "age1t7rxyev2z3rw82stdlrrepyc39nvn86l5078zqkf5uasdy86jp6svpy7pa";

const MAX: usize = 64 << 20;

fn identities() -> AgeIdentities {
    AgeIdentities::parse(IDENTITY.as_bytes()).unwrap()
}

fn recipient() -> AgeRecipient {
    RECIPIENT.parse().unwrap()
}

fn sealed(content: &[u8]) -> Vec<u8> {
    seal(content, &[recipient()], SealArmor::Binary).unwrap()
}

/// A vector: its expectation and its file.
struct TestVector {
    fields: Vec<(String, String)>,
    file: Vec<u8>,
}

impl TestVector {
    fn read(path: &Path) -> Self {
        let text = fs::read(path).unwrap();
        let (mut fields, mut rest) = (Vec::new(), &text[..]);
        loop {
            let (line, next) = rest.split_at(rest.iter().position(|byte| *byte == b'\n').unwrap());
            rest = &next[1..];
            if line.is_empty() {
                break;
            }
            let (name, value) = std::str::from_utf8(line).unwrap().split_once(": ").unwrap();
            fields.push((name.to_owned(), value.to_owned()));
        }
        let mut file = rest.to_vec();
        let vector = Self { fields, file: Vec::new() };
        if vector.field("compressed") == Some("zlib") {
            file = Vec::new();
            ZlibDecoder::new(rest).read_to_end(&mut file).unwrap();
        }
        Self { file, ..vector }
    }

    fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    fn open(&self) -> Result<Zeroizing<Vec<u8>>, SealFault> {
        let found = self.fields.iter().filter(|(name, _)| name == "identity");
        let text: String = found.map(|(_, value)| format!("{value}\n")).collect();
        let identities =
            if text.is_empty() { identities() } else { AgeIdentities::parse(text.as_bytes()).unwrap() };
        open_sealed(&self.file, &identities, MAX)
    }
}

/// Returns the expectations that a fault fits.
fn expectations(fault: &SealFault) -> &'static [&'static str] {
    match fault {
        SealFault::Header { .. } | SealFault::Version | SealFault::Passphrase => &["header failure"],
        SealFault::Cut { part: "header" | "nonce" } => &["header failure"],
        // A file without the line BEGIN is neither armored nor sealed.
        SealFault::NotSealed => &["header failure", "armor failure"],
        SealFault::Armor { .. } | SealFault::Cut { part: "armor" } => &["armor failure"],
        SealFault::HeaderChanged => &["HMAC failure"],
        SealFault::OtherRecipient { .. } => &["no match"],
        SealFault::Chunk { .. } | SealFault::Trailing | SealFault::Cut { .. } => &["payload failure"],
        _ => &[],
    }
}

#[test]
fn the_vectors_of_the_specification_open_or_fail_as_they_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/age");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_vector = |path: &PathBuf| path.extension().is_none();
    let (mut opened, mut refused) = (0, 0);
    for path in paths.filter(is_vector) {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        // These need a passphrase or a post-quantum identity. The next test has them.
        if ["scrypt", "scrypt_no_match", "hybrid"].contains(&&*name) {
            continue;
        }
        let vector = TestVector::read(&path);
        let expected = vector.field("expect").unwrap();
        match vector.open() {
            Ok(content) => {
                assert_eq!(expected, "success", "{name}");
                let hash = digest::digest(&digest::SHA256, &content);
                let hex: String = hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
                assert_eq!(Some(&*hex), vector.field("payload"), "{name}");
                opened += 1;
            }
            Err(fault) => {
                assert!(expectations(&fault).contains(&expected), "{name}: {fault:?}, not {expected}");
                refused += 1;
            }
        }
    }
    assert_eq!((opened, refused), (19, 80));
}

#[test]
fn other_kinds_of_recipients_are_named() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/age");
    for name in ["scrypt", "scrypt_no_match", "scrypt_and_x25519"] {
        assert_eq!(TestVector::read(&folder.join(name)).open(), Err(SealFault::Passphrase), "{name}");
    }
    let hybrid = TestVector::read(&folder.join("hybrid"));
    let fault = open_sealed(&hybrid.file, &identities(), MAX).unwrap_err();
    assert_eq!(fault, SealFault::OtherRecipient { x25519: 0, others: vec!["mlkem768x25519".to_owned()] });
    let text = fault.to_string();
    assert!(
        text.contains("no X25519 recipient; recipients of type mlkem768x25519 are not supported"),
        "{text}"
    );
    let identity = hybrid.field("identity").unwrap();
    let fault = AgeIdentities::parse(identity.as_bytes()).unwrap_err();
    assert_eq!(fault, IdentityFault::Line { line: 1, fault: IdentityLineFault::PostQuantum });
    // A file may have any number of types, of any length.
    let long = "x".repeat(100);
    let stanzas: String = (0..9).map(|at| format!("-> {at}{long}\n\n")).collect();
    let file = format!("age-encryption.org/v1\n{stanzas}--- {}\n", "A".repeat(43));
    let SealFault::OtherRecipient { others, .. } =
        open_sealed(file.as_bytes(), &identities(), MAX).unwrap_err()
    else {
        panic!("{file}");
    };
    assert_eq!((others.len(), others[0].len()), (3, 32));
}

#[test]
fn what_is_sealed_opens_for_each_recipient_at_every_seam() {
    let other = TestVector::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/age/x25519"));
    let other = AgeIdentities::parse(other.field("identity").unwrap().as_bytes()).unwrap();
    let recipients = [other.recipients().next().unwrap(), recipient()];
    let chunk = 64 << 10;
    for len in [0, 1, 47, 48, 49, chunk - 1, chunk, chunk + 1, 2 * chunk - 1, 2 * chunk, 2 * chunk + 1] {
        let content: Vec<u8> = (0..len).map(|at| (at % 251) as u8).collect();
        for armor in [SealArmor::Binary, SealArmor::Armored] {
            let sealed = seal(&content, &recipients, armor).unwrap();
            assert!(is_sealed(&sealed) && sealed.len() <= max_sealed_len(len));
            for identities in [&identities(), &other] {
                assert_eq!(*open_sealed(&sealed, identities, len).unwrap(), content, "{len} {armor:?}");
            }
            if len > 0 {
                let fault = open_sealed(&sealed, &other, len - 1).unwrap_err();
                assert_eq!(fault, SealFault::TooLong { max: len - 1 });
            }
        }
    }
    let lone = seal(b"key", &recipients[..1], SealArmor::Binary).unwrap();
    let fault = open_sealed(&lone, &identities(), MAX).unwrap_err();
    assert_eq!(fault, SealFault::OtherRecipient { x25519: 1, others: Vec::new() });
}

#[test]
fn two_seals_of_one_content_differ() {
    assert_ne!(sealed(b"key"), sealed(b"key"));
}

#[test]
fn a_cut_file_says_where_it_was_cut() {
    let content = vec![7; 3 * (64 << 10)];
    let whole = sealed(&content);
    let header = whole.len() - max_payload_len(content.len());
    let cut = |len: usize| open_sealed(&whole[..len], &identities(), MAX).unwrap_err();
    assert_eq!(cut(0), SealFault::NotSealed);
    for len in [INTRO_LEN, 21, 22, 40, header - 1] {
        assert_eq!(cut(len), SealFault::Cut { part: "header" }, "{len}");
    }
    for len in [header, header + 15] {
        assert_eq!(cut(len), SealFault::Cut { part: "nonce" }, "{len}");
    }
    let (first, chunk) = (header + 16, (64 << 10) + 16);
    for len in [first, first + 1, first + 15] {
        assert_eq!(cut(len), SealFault::Cut { part: "first chunk" }, "{len}");
    }
    for len in [first + 16, first + chunk - 1] {
        assert_eq!(cut(len), SealFault::Chunk { number: 1, count: 1 }, "{len}");
    }
    for len in [first + chunk, first + 2 * chunk] {
        assert_eq!(cut(len), SealFault::Cut { part: "content" }, "{len}");
    }
    for len in [first + 2 * chunk + 1, first + 2 * chunk + 15] {
        assert_eq!(cut(len), SealFault::Cut { part: "last chunk" }, "{len}");
    }
    for len in [first + 2 * chunk + 16, first + 3 * chunk - 1] {
        assert_eq!(cut(len), SealFault::Chunk { number: 3, count: 3 }, "{len}");
    }
    let armored = seal(b"key", &[recipient()], SealArmor::Armored).unwrap();
    let end = armored.len() - 2;
    for len in [40, 100, end] {
        let fault = open_sealed(&armored[..len], &identities(), MAX).unwrap_err();
        assert!(
            matches!(fault, SealFault::Cut { part: "armor" } | SealFault::Armor { .. }),
            "{len}: {fault:?}"
        );
    }
}

const INTRO_LEN: usize = header::INTRO.len();

fn max_payload_len(content: usize) -> usize {
    stream::max_sealed_len(content)
}

#[test]
fn every_changed_bit_is_found() {
    for armor in [SealArmor::Binary, SealArmor::Armored] {
        let whole = seal(b"the key", &[recipient()], armor).unwrap();
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut changed = whole.clone();
                changed[at] ^= 1 << bit;
                let opened = open_sealed(&changed, &identities(), MAX);
                // Another form of the same content would be a change, too.
                assert!(opened.is_err(), "{armor:?}, byte {at}, bit {bit}");
            }
        }
    }
    let whole = sealed(b"the key");
    let last = whole.len() - 1;
    let changed: Vec<u8> = whole.iter().enumerate().map(|(at, byte)| byte ^ u8::from(at == last)).collect();
    let fault = open_sealed(&changed, &identities(), MAX).unwrap_err();
    assert_eq!(fault, SealFault::Chunk { number: 1, count: 1 });
    // A word in another recipient's stanza is covered by the code of the header alone.
    let grease =
        TestVector::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/age/x25519_grease"));
    let at = grease.file.windows(6).position(|window| window == b"grease").unwrap();
    let mut changed = TestVector { fields: grease.fields, file: grease.file };
    changed.open().unwrap();
    changed.file[at] = b'G';
    assert_eq!(changed.open(), Err(SealFault::HeaderChanged));
}

#[test]
fn data_behind_the_end_are_refused() {
    for len in [3, 64 << 10] {
        let mut longer = sealed(&vec![1; len]);
        longer.extend_from_slice(&[0; 100]);
        let fault = open_sealed(&longer, &identities(), MAX).unwrap_err();
        let expected = match len {
            // Behind a full chunk the end is known to be one.
            65536 => SealFault::Trailing,
            _ => SealFault::Chunk { number: 1, count: 1 },
        };
        assert_eq!(fault, expected, "{len}");
    }
    let armored = seal(b"key", &[recipient()], SealArmor::Armored).unwrap();
    open_sealed(&[&armored[..], b"\r\n \t\n"].concat(), &identities(), MAX).unwrap();
    let fault = open_sealed(&[&armored[..], b"x"].concat(), &identities(), MAX).unwrap_err();
    assert!(
        matches!(fault, SealFault::Armor { expected: "nothing behind END AGE ENCRYPTED FILE", .. }),
        "{fault:?}"
    );
}

#[test]
fn a_header_that_never_ends_is_refused() {
    let endless = [b"age-encryption.org/v1\n-> ".to_vec(), vec![b'x'; 1 << 20]].concat();
    let fault = open_sealed(&endless, &identities(), MAX).unwrap_err();
    assert!(matches!(fault, SealFault::Header { line: 2, .. }), "{fault:?}");
}

#[test]
fn nobody_and_everybody_are_no_recipients() {
    assert_eq!(seal(b"key", &[], SealArmor::Binary), Err(SealFault::NoRecipient));
    let many = vec![recipient(); 601];
    let fault = seal(b"key", &many, SealArmor::Binary).unwrap_err();
    assert_eq!(fault, SealFault::TooManyRecipients { max: 600, found: 601 });
    open_sealed(&seal(b"key", &many[..600], SealArmor::Binary).unwrap(), &identities(), MAX).unwrap();
    // The point of zeros agrees with everybody on a secret of zeros.
    let fault = seal(b"key", &[recipient(), AgeRecipient([0; 32])], SealArmor::Binary).unwrap_err();
    assert_eq!(fault, SealFault::WeakRecipient { number: 2 });
}

#[test]
fn an_identity_file_is_that_of_age_keygen() {
    let text = format!("# created: 2026-11-28T04:00:00Z\n# public key: {RECIPIENT}\n{IDENTITY}\n");
    let identities = AgeIdentities::parse(text.as_bytes()).unwrap();
    assert_eq!(identities.recipients().collect::<Vec<_>>(), [recipient()]);
    assert_eq!(format!("{identities:?}"), format!("AgeIdentities[{RECIPIENT}]"));
    let windows = text.replace('\n', "\r\n");
    assert_eq!(AgeIdentities::parse(windows.as_bytes()).unwrap().recipients().count(), 1);
    let many = format!("{IDENTITY}\n").repeat(32);
    assert_eq!(AgeIdentities::parse(many.as_bytes()).unwrap().recipients().count(), 32);
}

#[test]
fn each_fault_of_an_identity_file_is_named_and_no_line_is_shown() {
    let line = |line, fault| IdentityFault::Line { line, fault };
    let changed = IDENTITY.replace("GQ97", "GQ98");
    for (text, expected) in [
        (String::new(), IdentityFault::Empty),
        ("# a comment\n\n".to_owned(), IdentityFault::Empty),
        (format!("{IDENTITY}\n{RECIPIENT}\n"), line(2, IdentityLineFault::Recipient)),
        ("AGE-PLUGIN-YUBIKEY-1XYZ\n".to_owned(), line(1, IdentityLineFault::Plugin)),
        ("-----BEGIN OPENSSH PRIVATE KEY-----\n".to_owned(), line(1, IdentityLineFault::Pem)),
        (changed, line(1, IdentityLineFault::Damaged)),
        (IDENTITY.to_ascii_lowercase(), line(1, IdentityLineFault::Damaged)),
        (IDENTITY[..70].to_owned(), line(1, IdentityLineFault::Damaged)),
        ("open sesame".to_owned(), line(1, IdentityLineFault::NotIdentity)),
        ("\u{fffd}".to_owned(), line(1, IdentityLineFault::NotIdentity)),
        (format!("{IDENTITY}\n").repeat(33), IdentityFault::TooMany { max: 32 }),
        ("#".repeat(70_000), IdentityFault::TooLong { max: 65_536 }),
        ("age-encryption.org/v1\n".to_owned(), IdentityFault::Sealed),
    ] {
        let fault = AgeIdentities::parse(text.as_bytes()).unwrap_err();
        assert_eq!(fault, expected);
        let said = format!("{fault} {fault:?}");
        for secret in ["GQ97", "gq97", "sesame", "YUBIKEY"] {
            assert!(!said.contains(secret), "{said}");
        }
    }
}

#[test]
fn a_key_file_is_opened_by_its_content_and_checked_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let ours = identities();
    let path = |name: &str| folder.path().join(name);
    let read = |name: &str, identities: Option<&AgeIdentities>| read_key_file(&path(name), 9, identities);
    let fault = |name: &str, identities| match read(name, identities) {
        Err(KeyFileReadFault::Sealed(fault)) => fault,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("{name} was read"),
    };
    fs::write(path("a.pem.age"), sealed(b"the key")).unwrap();
    fs::write(path("a.txt"), seal(b"the key", &[recipient()], SealArmor::Armored).unwrap()).unwrap();
    fs::write(path("plain.age"), "the key").unwrap();
    fs::write(path("plain.pem"), "the longer key").unwrap();
    fs::write(path("long.age"), sealed(b"the longer key")).unwrap();
    for (name, form) in [("a.pem.age", SealArmor::Binary), ("a.txt", SealArmor::Armored)] {
        let content = read(name, Some(&ours)).unwrap();
        assert_eq!((&content.bytes[..], content.form), (&b"the key"[..], SealForm::Sealed(form)));
        assert_eq!(fault(name, None), SealFault::NoIdentity);
    }
    assert_eq!(fault("plain.age", Some(&ours)), SealFault::NotSealed);
    assert_eq!(fault("long.age", Some(&ours)), SealFault::TooLong { max: 9 });
    let plain = read("plain.pem", None).unwrap();
    assert_eq!((&plain.bytes[..], plain.form), (&b"the longer"[..], SealForm::Plain));
    assert!(matches!(read("absent.age", Some(&ours)), Err(KeyFileReadFault::Io(_))));
    // A file of any length: only so much is read as a sealed file of the allowed content may have.
    let huge = fs::File::create(path("huge.age")).unwrap();
    std::io::Write::write_all(&mut &huge, &sealed(b"key")).unwrap();
    huge.set_len(1 << 40).unwrap();
    assert_eq!(fault("huge.age", Some(&ours)), SealFault::TooLong { max: 9 });
}

#[test]
fn an_identity_file_that_others_may_read_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("identity.txt");
    let read = || AgeIdentities::read(&path, crate::SecretReader::ThisProcess);
    assert!(matches!(read(), Err(IdentityReadFault::Io(_))));
    fs::write(&path, IDENTITY).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let said = read().unwrap_err().to_string();
    assert!(said.contains("chmod 600"), "{said}");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(read().unwrap().recipients().count(), 1);
}
