//! `oarlock dkim` as its users run it.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::hsm::Tokens;
use crate::program::{code, command, oarlock, stderr};
use serde_json::Value;
use tempfile::TempDir;

const MAIL: &str = "From: a@example.com\nTo: b@example.net\nSubject: hello\n\nHow  are you? \n\n";

/// A directory with two keys and a file of their records.
struct MailFolder {
    dir: TempDir,
}

impl MailFolder {
    fn new() -> Self {
        let folder = Self { dir: TempDir::new().unwrap() };
        let mut records = String::new();
        for (selector, kind) in [("s1", "rsa"), ("ed", "ed25519")] {
            let made = oarlock(&[
                "--json",
                "dkim",
                "keygen",
                "example.com",
                selector,
                "--type",
                kind,
                "--out",
                &folder.path(selector),
            ]);
            assert_eq!(code(&made), 0, "{}", stderr(&made));
            let made: Value = serde_json::from_slice(&made.stdout).unwrap();
            assert_eq!(made["name"], format!("{selector}._domainkey.example.com"));
            records += made["zone_line"].as_str().unwrap();
            records += "\n";
        }
        fs::write(folder.path("records"), records).unwrap();
        folder
    }

    fn path(&self, name: &str) -> String {
        self.dir.path().join(name).to_str().unwrap().to_owned()
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = PathBuf::from(self.path(name));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        self.path(name)
    }

    fn sign(&self, more: &[&str]) -> std::process::Output {
        let keys = [format!("s1={}", self.path("s1")), format!("ed={}", self.path("ed"))];
        let start = ["dkim", "sign", "--domain", "example.com", "--key", &keys[0], "--key", &keys[1]];
        oarlock(&[&start, more].concat())
    }

    fn verify(&self, more: &[&str]) -> std::process::Output {
        oarlock(&[&["--json", "dkim", "verify", "--keys-file", &self.path("records")], more].concat())
    }
}

fn lines(output: &std::process::Output) -> Vec<Value> {
    let mut document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let summary = serde_json::json!({ "summary": document["summary"].take() });
    let Value::Array(mut lines) = document["results"].take() else { return vec![summary] };
    lines.push(summary);
    lines
}

fn results(output: &std::process::Output) -> Vec<String> {
    lines(output).iter().filter_map(|line| Some(line.get("result")?.as_str()?.to_owned())).collect()
}

#[test]
fn one_message_goes_through_a_pipe_and_comes_back_signed_twice() {
    let folder = MailFolder::new();
    for mail in [MAIL.to_owned(), MAIL.replace('\n', "\r\n")] {
        let signed = folder.sign(&[&folder.write("mail", &mail)]);
        assert_eq!(code(&signed), 0, "{}", stderr(&signed));
        let text = String::from_utf8(signed.stdout).unwrap();
        assert!(text.ends_with(&mail) && text.starts_with("DKIM-Signature: v=1; a=rsa-sha256;"));
        assert_eq!(text.contains("\r\n"), mail.contains("\r\n"));
        let found = folder.verify(&[&folder.write("signed", &text)]);
        assert_eq!((code(&found), results(&found)), (0, vec!["pass".to_owned(); 2]), "{}", stderr(&found));
        let summary = &lines(&found)[2]["summary"];
        assert_eq!(
            (&summary["messages"], &summary["pass"], &summary["signatures"]),
            (&1.into(), &1.into(), &2.into())
        );
    }
    let mut child = command(&["dkim", "verify", "--keys-file", &folder.path("records"), "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(MAIL.as_bytes()).unwrap();
    let found = child.wait_with_output().unwrap();
    assert_eq!(code(&found), 1);
    assert!(String::from_utf8_lossy(&found.stdout).starts_with("none"), "{}", stderr(&found));
    assert!(stderr(&found).contains("1 of 1 message without a signature that passes"), "{}", stderr(&found));
}

#[test]
fn folders_are_signed_in_place_elsewhere_and_as_an_mbox() {
    let folder = MailFolder::new();
    for number in 0..300 {
        folder.write(
            &format!("mails/{number:03}"),
            &MAIL.replace("hello", &format!("{number} {}", "x".repeat(number * 7))),
        );
    }
    let signed = folder.sign(&["--into", &folder.path("out"), &folder.path("mails")]);
    assert_eq!(code(&signed), 0, "{}", stderr(&signed));
    assert!(stderr(&signed).contains("300 messages: 600 signatures"), "{}", stderr(&signed));
    let found = folder.verify(&[&folder.path("out")]);
    assert_eq!((code(&found), results(&found)), (0, vec!["pass".to_owned(); 600]));
    // The order is that of the names, whichever thread finished first.
    let sources: Vec<String> =
        lines(&found).iter().filter_map(|line| Some(line.get("source")?.as_str()?.to_owned())).collect();
    assert!(sources.is_sorted() && sources.len() == 600);

    let again = folder.sign(&["--into", &folder.path("out"), &folder.path("mails/000")]);
    assert!(code(&again) == 1 && stderr(&again).contains("out/000 exists already"), "{}", stderr(&again));
    let signed = folder.sign(&["--in-place", &folder.path("mails")]);
    assert_eq!(code(&signed), 0, "{}", stderr(&signed));
    assert_eq!(results(&folder.verify(&[&folder.path("mails")])).len(), 600);

    let mbox = ["a", "b", "c"].map(|from| format!("From {from} Thu Jan  1 00:00:00 2026\n"));
    let mbox = format!("{}{MAIL}{}{MAIL}{}no header\n\n", mbox[0], mbox[1], mbox[2]);
    let signed = folder.sign(&[&folder.write("mbox", &mbox)]);
    assert_eq!(code(&signed), 1);
    assert!(
        stderr(&signed)
            .contains("mbox:3: the message is malformed: header field 1: `no header` has no colon"),
        "{}",
        stderr(&signed)
    );
    let text = String::from_utf8(signed.stdout).unwrap();
    assert_eq!(text.lines().filter(|line| line.starts_with("From ")).count(), 3);
    let found = folder.verify(&[&folder.write("signed", &text)]);
    assert_eq!(results(&found), ["pass", "pass", "pass", "pass", "permerror"]);
}

#[test]
fn reports_test_mode_even_if_the_body_was_changed() {
    let folder = MailFolder::new();
    let records = fs::read_to_string(folder.path("records")).unwrap();
    folder.write("records", &records.replace("v=DKIM1; k=", "v=DKIM1; t=y; k="));
    let signed = folder.sign(&[&folder.write("mail", MAIL)]);
    let changed = String::from_utf8(signed.stdout).unwrap().replace("How  are", "Where  are");
    let found = folder.verify(&[&folder.write("changed", &changed)]);
    assert_eq!((code(&found), results(&found)), (1, vec!["fail".to_owned(); 2]));
    for (line, bits) in lines(&found).iter().zip([2048, 256]) {
        assert_eq!((&line["testing"], &line["key_bits"]), (&true.into(), &bits.into()), "{line}");
    }
}

#[test]
fn signing_again_replaces_the_old_signature() {
    let folder = MailFolder::new();
    let mail = folder.write("mails/one", MAIL);
    folder.write("mails/two", &MAIL.replace('\n', "\r\n"));
    let fields =
        |path: &str| fs::read_to_string(folder.path(path)).unwrap().matches("DKIM-Signature:").count();
    for _ in 0..2 {
        let signed = folder.sign(&["--in-place", &folder.path("mails")]);
        assert_eq!(code(&signed), 0, "{}", stderr(&signed));
        assert_eq!((fields("mails/one"), fields("mails/two")), (2, 2));
    }
    let signed = folder.sign(&["--in-place", &folder.path("mails")]);
    assert!(
        stderr(&signed).contains("4 signatures (4 replaced), 0 messages not signed"),
        "{}",
        stderr(&signed)
    );
    let found = folder.verify(&[&folder.path("mails")]);
    assert_eq!((code(&found), results(&found)), (0, vec!["pass".to_owned(); 4]));
    // Signatures of another selector or domain stay, and so do other fields.
    let key = format!("s2={}", folder.path("s1"));
    let again = oarlock(&["dkim", "sign", "--domain", "example.com", "--key", &key, "--in-place", &mail]);
    assert_eq!((code(&again), fields("mails/one")), (0, 3), "{}", stderr(&again));
    let again = oarlock(&["dkim", "sign", "--domain", "example.org", "--key", &key, "--in-place", &mail]);
    assert_eq!((code(&again), fields("mails/one")), (0, 4), "{}", stderr(&again));
    let odd = folder.write("odd", &format!("DKIM-Signature: d=example.com\nDKIM-Signature: none\n{MAIL}"));
    let again = oarlock(&["dkim", "sign", "--domain", "example.com", "--key", &key, "--in-place", &odd]);
    assert_eq!((code(&again), fields("odd")), (0, 3), "{}", stderr(&again));
}

#[test]
fn dns_prints_the_record_of_an_existing_key() {
    let folder = MailFolder::new();
    let records = fs::read_to_string(folder.path("records")).unwrap();
    for (selector, kind, bits) in [("s1", "rsa", 2048), ("ed", "ed25519", 256)] {
        let public = oarlock(&["keys", "show", &folder.path(selector), "--pem"]);
        assert_eq!(code(&public), 0, "{}", stderr(&public));
        let public = folder.write(&format!("{selector}.pub"), &String::from_utf8(public.stdout).unwrap());
        for file in [folder.path(selector), public] {
            let named = ["dkim", "dns", &file, "--domain", "example.com", "--selector", selector];
            let printed = oarlock(&named);
            assert_eq!(code(&printed), 0, "{}", stderr(&printed));
            // This line was printed when the key was made.
            let line = String::from_utf8(printed.stdout).unwrap();
            assert!(records.contains(&line), "{line}");
            let shown = oarlock(&[&["--json"], &named[..], &["--test-mode"]].concat());
            let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
            assert_eq!((&shown["key_type"], &shown["key_bits"]), (&kind.into(), &bits.into()));
            assert_eq!(shown["name"], format!("{selector}._domainkey.example.com"));
            let strings: Vec<&str> =
                shown["strings"].as_array().unwrap().iter().map(|string| string.as_str().unwrap()).collect();
            assert!(strings.iter().all(|string| string.len() <= 255));
            assert_eq!(shown["record"], strings.concat());
            assert!(strings[0].contains("; t=y; "), "{strings:?}");
            // The record alone is one line, for the web forms of DNS providers.
            let alone = oarlock(&["dkim", "dns", &file]);
            let alone = String::from_utf8(alone.stdout).unwrap();
            assert!(alone.starts_with("v=DKIM1; k=") && alone.lines().count() == 1, "{alone}");
        }
    }
    let p256 = folder.path("p256");
    assert_eq!(code(&oarlock(&["keys", "generate", "p256", "--out", &p256])), 0);
    let refused = oarlock(&["dkim", "dns", &p256]);
    assert_eq!(code(&refused), 2);
    assert!(
        stderr(&refused).contains("expected an RSA key of 1024 to 4096 bits or an Ed25519 key, found p256")
    );
    let half = oarlock(&["dkim", "dns", &p256, "--domain", "example.com"]);
    assert!(code(&half) == 2 && stderr(&half).contains("--selector"), "{}", stderr(&half));
}

#[test]
fn a_key_in_a_device_signs_and_its_record_is_known() {
    let Some(tokens) = Tokens::with(&["mail"]) else { return };
    tokens.import("rsa2048", "s1", &["mail"]);
    let folder = MailFolder::new();
    let (mail, key) = (folder.write("mail", MAIL), tokens.uri("mail", "s1"));
    let record = tokens.run(&["dkim", "dns", &key, "--domain", "example.com", "--selector", "s1"]);
    assert_eq!(code(&record), 0, "{}", stderr(&record));
    fs::write(folder.path("records"), record.stdout).unwrap();
    let named = format!("s1={key}");
    let sign = |key: &str| {
        let start = ["dkim", "sign", "--domain", "example.com", "--key", key, "--into"];
        tokens.run(&[&start[..], &[&folder.path("signed"), &mail]].concat())
    };
    let signed = sign(&named);
    assert_eq!(code(&signed), 0, "{}", stderr(&signed));
    let verified = folder.verify(&[&folder.path("signed")]);
    assert_eq!(code(&verified), 0, "{}", stderr(&verified));
    let refused = sign("s1=pkcs11:object=s1?pin-value=4711");
    assert_eq!(code(&refused), 2);
    assert!(!stderr(&refused).contains("4711"), "{}", stderr(&refused));
}

#[test]
fn check_compares_a_record_with_its_key() {
    let folder = MailFolder::new();
    let check = |selector: &str, more: &[&str]| {
        oarlock(
            &[&["dkim", "check", "example.com", selector, "--keys-file", &folder.path("records")], more]
                .concat(),
        )
    };
    let same = check("s1", &["--key", &folder.path("s1")]);
    assert_eq!(code(&same), 0, "{}", stderr(&same));
    let text = String::from_utf8(same.stdout).unwrap();
    assert_eq!(
        text,
        "s1._domainkey.example.com: a key of type rsa with 2048 bits, the same as in the file\n"
    );
    let other = check("s1", &["--key", &folder.path("ed")]);
    assert_eq!(code(&other), 1);
    assert!(stderr(&other).contains("the record and the file have different keys"), "{}", stderr(&other));
    let missing = check("none", &[]);
    assert_eq!(code(&missing), 1);
    assert!(
        stderr(&missing).contains("none._domainkey.example.com: there is no record of this name"),
        "{}",
        stderr(&missing)
    );
    assert_eq!(code(&oarlock(&["dkim", "check", "a b", "s", "--keys-file", &folder.path("records")])), 2);
}

#[test]
fn reports_what_cannot_be_done() {
    let folder = MailFolder::new();
    let mail = folder.write("mail", MAIL);
    let said = |arguments: &[&str], expected: i32, text: &str| {
        let output = oarlock(arguments);
        assert_eq!(code(&output), expected, "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(text), "{arguments:?}: {}", stderr(&output));
    };
    let key = format!("s1={}", folder.path("s1"));
    let nothing = folder.path("nothing");
    said(&["dkim", "sign", "--domain", "example.com", "--key", "s1", &mail], 2, "expected SELECTOR=FILE");
    said(
        &["dkim", "sign", "--domain", "exa mple", "--key", &key, &mail],
        2,
        "`exa mple` is not a domain name",
    );
    said(&["dkim", "sign", "--domain", "a.example", "--key", &format!("s={mail}"), &mail], 2, "mail");
    said(&["dkim", "sign", "--domain", "a.example", "--key", &format!("s={nothing}"), &mail], 2, "nothing");
    said(
        &[
            "dkim",
            "sign",
            "--domain",
            "a.example",
            "--key",
            &key,
            "--headers",
            "To",
            "--oversign",
            "To",
            &mail,
        ],
        2,
        "From must be signed",
    );
    said(&["dkim", "sign", "--domain", "a.example", "--key", &key, &nothing], 2, "nothing could be read");
    said(&["dkim", "verify", "--keys-file", &nothing, &mail], 2, "nothing");
    said(&["dkim", "verify", "--dns", "nonsense", &mail], 2, "expected an address");
    let records = folder.write("bad", "s1._domainkey.example.com IN TXT ( \"v=DKIM1\n");
    said(&["dkim", "verify", "--keys-file", &records, &mail], 2, "bad");
    said(&["dkim", "keygen", "example.com", "s1", "--out", &folder.path("s1")], 2, "s1");
    said(&["dkim", "keygen", "example.com", "s1", "--bits", "512"], 2, "512");
    // A name server that never answers.
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap().to_string();
    let signed = folder.sign(&[&mail]);
    let signed = folder.write("signed", &String::from_utf8(signed.stdout).unwrap());
    said(&["dkim", "verify", "--dns", &address, "--dns-timeout", "1", &signed], 3, "could not be looked up");
}

/// Runs another program with this standard input. Prints SKIPPED and returns None if it is not installed.
fn peer(program: &str, arguments: &[&str], input: &[u8]) -> Option<std::process::Output> {
    let child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        eprintln!("SKIPPED: {program} is not installed");
        return None;
    };
    // The program may end before it has read everything.
    let _ = child.stdin.take().unwrap().write_all(input);
    Some(child.wait_with_output().unwrap())
}

#[test]
fn mail_dkim_verifies_our_signatures_and_signs_for_us() {
    let folder = MailFolder::new();
    let record = fs::read_to_string(folder.path("records")).unwrap();
    let text: String = record.split("ed._domainkey").next().unwrap().split('"').skip(1).step_by(2).collect();
    folder.write("record", &text);
    let mail = MAIL.replace('\n', "\r\n");
    let key = format!("s1={}", folder.path("s1"));
    for form in ["relaxed/relaxed", "simple/simple", "relaxed/simple", "simple/relaxed"] {
        let signed = oarlock(&[
            "dkim",
            "sign",
            "--domain",
            "example.com",
            "--key",
            &key,
            "--canonicalization",
            form,
            &folder.write("mail", &mail),
        ]);
        let script = "use Mail::DKIM::Verifier; use Mail::DKIM::PublicKey; local $/; open F, '<', $ARGV[0]; $r = <F>;
            no warnings 'redefine'; *Mail::DKIM::Signature::get_public_key = sub { Mail::DKIM::PublicKey->parse($r) };
            *Mail::DKIM::Signature::fetch_public_key = sub {}; $v = Mail::DKIM::Verifier->new;
            $v->PRINT(<STDIN>); $v->CLOSE; print $v->result_detail;";
        let Some(found) =
            peer("perl", &["-MMail::DKIM", "-e", script, &folder.path("record")], &signed.stdout)
        else {
            return;
        };
        if stderr(&found).contains("Can't locate Mail/DKIM") {
            eprintln!("SKIPPED: libmail-dkim-perl is not installed");
            return;
        }
        assert_eq!(String::from_utf8_lossy(&found.stdout), "pass", "{form} {}", stderr(&found));

        let script = "use Mail::DKIM::Signer; $s = Mail::DKIM::Signer->new(Algorithm => 'rsa-sha256', Method => $ARGV[1],
            Domain => 'example.com', Selector => 's1', KeyFile => $ARGV[0]); local $/; $m = <STDIN>; $s->PRINT($m);
            $s->CLOSE; print $s->signature->as_string, \"\\r\\n\", $m;";
        let signed =
            peer("perl", &["-MMail::DKIM", "-e", script, &folder.path("s1"), form], mail.as_bytes()).unwrap();
        let path = folder.write("theirs", std::str::from_utf8(&signed.stdout).unwrap());
        let found = folder.verify(&[&path]);
        assert_eq!(
            results(&found),
            ["pass"],
            "{form} {} {}",
            stderr(&signed),
            String::from_utf8_lossy(&signed.stdout)
        );
    }
}

#[test]
fn dkimpy_verifies_our_signatures_and_signs_for_us() {
    let folder = MailFolder::new();
    let records = fs::read_to_string(folder.path("records")).unwrap();
    let record = |part: &str| -> String { part.split('"').skip(1).step_by(2).collect() };
    let (rsa, ed) = records.split_once("ed._domainkey").unwrap();
    folder.write("s1.txt", &record(rsa));
    folder.write("ed.txt", &record(ed));
    let mail = MAIL.replace('\n', "\r\n");
    let script = "
import sys, dkim
place = sys.argv[1]
def txt(name, timeout=5):
    return open(place + '/' + name.decode().split('.')[0] + '.txt', 'rb').read()
message = sys.stdin.buffer.read()
checks = [dkim.DKIM(message).verify(idx=i, dnsfunc=txt) for i in range(2)]
assert checks == [True, True], checks
message = message[message.rindex(b'\\r\\nFrom: ') + 2:]
for form in [b'simple', b'relaxed']:
    field = dkim.sign(message, b's1', b'example.com', open(place + '/s1', 'rb').read(), canonicalize=(form, form))
    sys.stdout.buffer.write(b'From x Thu\\r\\n' + field + message)
";
    for form in ["relaxed/relaxed", "simple/simple"] {
        let signed = folder.sign(&["--canonicalization", form, &folder.write("mail", &mail)]);
        let Some(found) =
            peer("/usr/bin/python3", &["-c", script, folder.dir.path().to_str().unwrap()], &signed.stdout)
        else {
            return;
        };
        if stderr(&found).contains("No module named") {
            eprintln!("SKIPPED: python3-dkim or python3-nacl is not installed");
            return;
        }
        assert_eq!(code(&found), 0, "{form} {}", stderr(&found));
        let theirs = folder.write("theirs", std::str::from_utf8(&found.stdout).unwrap());
        let found = folder.verify(&[&theirs]);
        assert_eq!(results(&found), ["pass", "pass"], "{}", fs::read_to_string(theirs).unwrap());
    }
}

#[test]
fn opendkim_verifies_our_signatures() {
    let folder = MailFolder::new();
    let records = fs::read_to_string(folder.path("records")).unwrap();
    let text: String = records.split("ed._domainkey").next().unwrap().split('"').skip(1).step_by(2).collect();
    let keys = folder.write("testkeys", &format!("s1._domainkey.example.com {text}\n"));
    let settings = folder.write("opendkim.conf", &format!("Mode v\nTestPublicKeys {keys}\n"));
    let mail = folder.write("mail", &MAIL.replace('\n', "\r\n"));
    let key = format!("s1={}", folder.path("s1"));
    let signed = oarlock(&["dkim", "sign", "--domain", "example.com", "--key", &key, &mail]);
    let text = String::from_utf8(signed.stdout).unwrap();
    for (mail, is_good) in [(text.clone(), true), (text.replace("How  are", "Who  are"), false)] {
        let path = folder.write("signed", &mail);
        let Some(found) = peer("/usr/sbin/opendkim", &["-x", &settings, "-v", "-v", "-t", &path], b"") else {
            return;
        };
        let said = format!("{}{}", String::from_utf8_lossy(&found.stdout), stderr(&found));
        assert_eq!(
            said.contains("verification (s=s1, d=example.com, 2048-bit key) succeeded"),
            is_good,
            "{said}"
        );
    }
}

#[test]
fn rejects_a_signing_key_that_others_can_read() {
    let folder = MailFolder::new();
    let mail = folder.write("mail.eml", "From: a@example.com\nSubject: s\n\nbody\n");
    assert_eq!(code(&folder.sign(&[&mail])), 0);
    fs::set_permissions(folder.path("s1"), fs::Permissions::from_mode(0o644)).unwrap();
    let refused = folder.sign(&[&mail]);
    assert_eq!(code(&refused), 2);
    assert!(
        stderr(&refused).contains("others may read this private file (mode 0644)"),
        "{}",
        stderr(&refused)
    );
}

#[test]
fn accepts_times_in_every_form() {
    let folder = MailFolder::new();
    let mail = folder.write("mail", MAIL);
    let signed_at = |time: &str| {
        let signed = folder.sign(&["--expire", "86400", "--time", time, &mail]);
        assert_eq!(code(&signed), 0, "{}", stderr(&signed));
        String::from_utf8(signed.stdout).unwrap()
    };
    let signed = signed_at("20260101000000");
    assert!(signed.contains("t=1767225600") && signed_at("1767225600").contains("t=1767225600"), "{signed}");
    let signed = folder.write("signed", &signed);
    for (time, expected) in
        [("1767225600", "pass"), ("20260101120000", "pass"), ("20260102120000", "neutral")]
    {
        assert_eq!(results(&folder.verify(&["--time", time, &signed])), [expected; 2], "{time}");
    }
    let now = folder.write("now", &signed_at("-1h"));
    for (time, expected) in [("+1h", "pass"), ("+60d", "neutral"), ("-2h", "neutral")] {
        assert_eq!(results(&folder.verify(&["--now", time, &now])), [expected; 2], "{time}");
    }
    let refused = folder.verify(&["--time", "tomorrow", &signed]);
    assert!(code(&refused) == 2 && stderr(&refused).contains("+30d"), "{}", stderr(&refused));
}

#[test]
fn limits_the_lookups_for_one_message() {
    let folder = MailFolder::new();
    let signed = folder.sign(&[&folder.write("mail", MAIL)]);
    let signed = folder.write("signed", &String::from_utf8(signed.stdout).unwrap());
    assert_eq!(results(&folder.verify(&["--max-lookups", "2", &signed])), ["pass", "pass"]);
    assert_eq!(results(&folder.verify(&["--max-lookups", "1", &signed])), ["pass", "policy"]);
}
