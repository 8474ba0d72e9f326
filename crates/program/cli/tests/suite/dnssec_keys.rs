//! `oarlock dnssec keygen` and `ds` as their users run them, compared with programs of BIND and NLnet Labs
//! if they are installed.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::program::{code, command, oarlock, stderr};
use crate::served::Served;
use serde_json::Value;
use tempfile::TempDir;

/// Examples of a DNSKEY, a digest algorithm, and the DS.
const RFC_EXAMPLES: [(&str, &str, &str); 6] = [
    // RFC 4034 5.4 and RFC 4509 2.3.
    (
        "dskey.example.com. 86400 IN DNSKEY 256 3 5 ( AQOeiiR0GOMYkDshWoSKz9XzfwJr1AYtsmx3TGkJaNXVbfi/
            2pHm822aJ5iI9BMzNXxeYCmZDRD99WYwYqUSdjMmmAphXdvxegXd/M5+X7OrzKBaMbCVdFLUUh6DhweJBjEVv5f2wwjM9Xzc
            nOf+EPbtG9DMBmADjFDc2w/rljwvFw== ) ;  key id = 60485",
        "sha1",
        "dskey.example.com. 86400 IN DS 60485 5 1 2BB183AF5F22588179A53B0A98631FAD1A292118",
    ),
    (
        "dskey.example.com. 86400 IN DNSKEY 256 3 5 AQOeiiR0GOMYkDshWoSKz9XzfwJr1AYtsmx3TGkJaNXVbfi/2pHm822aJ5iI9BMzNXxeYCmZDRD99WYwYqUSdjMmmAphXdvxegXd/M5+X7OrzKBaMbCVdFLUUh6DhweJBjEVv5f2wwjM9XzcnOf+EPbtG9DMBmADjFDc2w/rljwvFw==",
        "sha256",
        "dskey.example.com. 86400 IN DS 60485 5 2 D4B7D520E7BB5F0F67674A0CCEB1E3E0614B93C4F9E99B8383F6A1E4469DA50A",
    ),
    // RFC 6605 6.1 and 6.2.
    (
        "example.net. 3600 IN DNSKEY 257 3 13 GojIhhXUN/u4v54ZQqGSnyhWJwaubCvTmeexv7bR6edbkrSqQpF64cYbcB7wNcP+e+MAnLr+Wi9xMWyQLc8NAA==",
        "sha256",
        "example.net. 3600 IN DS 55648 13 2 b4c8c1fe2e7477127b27115656ad6256f424625bf5c1e2770ce6d6e37df61d17",
    ),
    (
        "example.net. 3600 IN DNSKEY 257 3 14 xKYaNhWdGOfJ+nPrL8/arkwf2EY3MDJ+SErKivBVSum1w/egsXvSADtNJhyem5RCOpgQ6K8X1DRSEkrbYQ+OB+v8/uX45NBwY8rp65F6Glur8I/mlVNgF6W/qTI37m40",
        "sha384",
        "example.net. 3600 IN DS 10771 14 4 72d7b62976ce06438e9c0bf319013cf801f09ecc84b8d7e9495f27e305c6a9b0563a9b5f4d288405c3008a946df983d6",
    ),
    // RFC 8080 6.1 and 6.2.
    (
        "example.com. 3600 IN DNSKEY 257 3 15 l02Woi0iS8Aa25FQkUd9RMzZHJpBoRQwAQEX1SxZJA4=",
        "sha256",
        "example.com. 3600 IN DS 3613 15 2 3aa5ab37efce57f737fc1627013fee07bdf241bd10f3b1964ab55c78e79a304b",
    ),
    (
        "example.com. 3600 IN DNSKEY 257 3 16 3kgROaDjrh0H2iuixWBrc8g2EpBBLCdGzHmn+G2MpTPhpj/OiBVHHSfPodx1FYYUcJKm1MDpJtIA",
        "sha256",
        "example.com. 3600 IN DS 9713 16 2 6ccf18d5bc5d7fc2fceb1d59d17321402f2aa8d368048db93dd811f5cb2b19c7",
    ),
];

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn stdout(output: &Output) -> String {
    assert_eq!(code(output), 0, "{}", stderr(output));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn json(output: &Output) -> Value {
    serde_json::from_str(&stdout(output)).unwrap()
}

/// Runs a program and returns its output. Prints SKIPPED and returns None if it is not installed.
fn peer(program: &str, arguments: &[&str]) -> Option<Output> {
    match Command::new(program).args(arguments).stdin(Stdio::null()).output() {
        Ok(output) => Some(output),
        Err(error) => {
            println!("SKIPPED: {program}: {error}");
            None
        }
    }
}

/// Returns the lines in one form, because white space, letter case and TTLs differ between programs.
fn plain(text: &str) -> Vec<String> {
    let line = |line: &str| {
        let words: Vec<String> = line.to_lowercase().split_whitespace().map(str::to_owned).collect();
        let at = words.iter().position(|word| word == "in").unwrap();
        let data = &words[at + 2..];
        format!("{} {} {} {}", words[0], words[at + 1], data[..3].join(" "), data[3..].concat())
    };
    let mut lines: Vec<String> =
        text.lines().filter(|line| !line.is_empty() && !line.starts_with(';')).map(line).collect();
    lines.sort();
    lines
}

fn keygen(folder: &TempDir, arguments: &[&str]) -> Value {
    let start = ["--json", "dnssec", "keygen", "--out-dir", text(folder.path())];
    json(&oarlock(&[&start, arguments].concat()))
}

#[test]
fn ds_prints_the_digests_of_the_rfcs() {
    for (dnskey, digest, ds) in RFC_EXAMPLES {
        let mut child = command(&["dnssec", "ds", "-", "--all", "--digest", digest])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(dnskey.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(stdout(&output).trim().to_lowercase(), ds.to_lowercase());
    }
}

#[test]
fn keygen_names_files_as_bind_does_and_rejects_wrong_usage() {
    let folder = TempDir::new().unwrap();
    let made = keygen(&folder, &["Example.COM"]);
    let tag = made["key_tag"].as_u64().unwrap();
    let private = folder.path().join(format!("Kexample.com.+013+{tag:05}.private"));
    assert_eq!((made["private_file"].as_str(), made["flags"].as_u64()), (private.to_str(), Some(257)));
    assert_eq!(fs::metadata(&private).unwrap().permissions().mode() & 0o777, 0o600);
    let public = fs::read_to_string(made["public_file"].as_str().unwrap()).unwrap();
    assert_eq!(public.lines().next_back().unwrap(), made["dnskey"].as_str().unwrap());
    assert!(public.contains("\n; Activate: 20"), "{public}");
    assert!(made["dnskey"].as_str().unwrap().starts_with("example.com. IN DNSKEY 257 3 13 "));
    let zsk = keygen(&folder, &["example.com", "--zsk", "--algorithm", "8", "--bits", "1024"]);
    assert_eq!((zsk["flags"].as_u64(), zsk["algorithm"].as_u64()), (Some(256), Some(8)));
    for wrong in [
        &["a..b"][..],
        &["example.com", "--algorithm", "ED448"],
        &["example.com", "--algorithm", "99"],
        &["example.com", "--algorithm", "words"],
        &["example.com", "--bits", "2048"],
        &["example.com", "--ksk", "--zsk"],
        &["example.com", "--passphrase-file", "/dev/null"],
        &["example.com", "--out-dir", "/dev/null"],
    ] {
        let refused = oarlock(&[&["dnssec", "keygen"], wrong].concat());
        assert_eq!(code(&refused), 2, "{wrong:?}: {}", stderr(&refused));
    }
}

#[test]
fn keygen_creates_a_missing_directory_that_only_its_owner_can_read() {
    let folder = TempDir::new().unwrap();
    let missing = folder.path().join("new/keys");
    let made = json(&oarlock(&["--json", "dnssec", "keygen", "example.com", "--out-dir", text(&missing)]));
    assert!(Path::new(made["private_file"].as_str().unwrap()).starts_with(&missing), "{made}");
    assert_eq!(fs::metadata(&missing).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn other_programs_compute_the_same_digests() {
    let folder = TempDir::new().unwrap();
    for algorithm in ["8", "10", "13", "14", "15"] {
        let made = keygen(&folder, &["example", "--algorithm", algorithm]);
        let public = made["public_file"].as_str().unwrap();
        for (digest, bind, ldns) in
            [("sha256", "SHA-256", "-2"), ("sha384", "SHA-384", "-4"), ("sha1", "SHA-1", "-1")]
        {
            let digest_here = stdout(&oarlock(&["dnssec", "ds", public, "--digest", digest]));
            if digest == "sha256" {
                assert_eq!(digest_here.trim(), made["ds"].as_str().unwrap());
            }
            if let Some(other) = peer("dnssec-dsfromkey", &["-a", bind, public]) {
                assert_eq!(plain(&digest_here), plain(&stdout(&other)), "{public}");
            }
            if let Some(other) = peer("ldns-key2ds", &["-n", "-f", ldns, public]) {
                assert_eq!(plain(&digest_here), plain(&stdout(&other)), "{public}");
            }
        }
    }
}

#[test]
fn bind_signs_with_new_keys() {
    let folder = TempDir::new().unwrap();
    for algorithm in ["8", "10", "13", "14", "15"] {
        let zone = folder.path().join(format!("zone{algorithm}"));
        let mut zone_text = "example. 3600 IN SOA a. b. 1 2 3 4 5\nexample. 3600 IN NS a.\n".to_owned();
        let mut arguments =
            vec!["-o", "example.", "-O", "full", "-P", "-d", text(folder.path()), text(&zone)];
        let keys =
            ["--ksk", "--zsk"].map(|role| keygen(&folder, &["example.", role, "--algorithm", algorithm]));
        for key in &keys {
            zone_text += key["dnskey"].as_str().unwrap();
            zone_text += "\n";
            arguments.push(key["public_file"].as_str().unwrap());
        }
        fs::write(&zone, "$TTL 3600\n".to_owned() + &zone_text).unwrap();
        let Some(signed) = peer("dnssec-signzone", &arguments) else { return };
        stdout(&signed);
        let verified =
            peer("dnssec-verify", &["-o", "example.", &format!("{}.signed", text(&zone))]).unwrap();
        assert_eq!(code(&verified), 0, "{}", stderr(&verified));
    }
}

#[test]
fn ds_reads_signing_keys_of_bind_pem_and_a_cryptoserver() {
    let folder = TempDir::new().unwrap();
    let dnskey = |more: &[&str]| {
        let output = oarlock(&[&["dnssec", "ds", "--dnskey", "--zone", "example."], more].concat());
        (code(&output), String::from_utf8(output.stdout.clone()).unwrap().trim().to_owned())
    };
    let bind = keygen(&folder, &["example.", "--zsk"]);
    let said = |made: &Value| made["dnskey"].as_str().unwrap().to_owned();
    for name in ["private_file", "public_file"] {
        assert_eq!(dnskey(&[bind[name].as_str().unwrap()]), (0, said(&bind)));
    }
    let secret = folder.path().join("passphrase");
    fs::write(&secret, "words\n").unwrap();
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
    let pem = keygen(
        &folder,
        &["example.", "--format", "pem", "--algorithm", "ED25519", "--passphrase-file", text(&secret)],
    );
    let path = pem["private_file"].as_str().unwrap();
    assert_eq!(dnskey(&[path]).0, 2);
    assert_eq!(dnskey(&[path, "--passphrase-file", text(&secret)]), (0, said(&pem)));
    assert_eq!(dnskey(&[path, "--passphrase-file", text(&secret), "--flags", "256"]).0, 2);
    assert_eq!(dnskey(&[path, "--passphrase-file", text(&secret), "--algorithm", "13"]).0, 2);
    // The public file beside the private one is that of another key.
    fs::copy(bind["public_file"].as_str().unwrap(), pem["public_file"].as_str().unwrap()).unwrap();
    assert_eq!(dnskey(&[path, "--passphrase-file", text(&secret)]).0, 2);

    let state = folder.path().join("state");
    let served = Served::start(&state);
    let listed = served.call(&["public-key", "p256"]);
    assert_eq!(code(&listed), 0, "{}", stderr(&listed));
    let key = folder.path().join("p256.pem");
    fs::write(&key, &listed.stdout).unwrap();
    let reference = oarlock(&["keys", "show", text(&state.join("keys/p256.pem")), "--reference"]);
    let path = folder.path().join("held.pem");
    fs::write(&path, &reference.stdout).unwrap();
    let (exit, line) = dnskey(&[text(&path), "--state", text(&state)]);
    assert_eq!(exit, 0);
    assert!(line.starts_with("example. IN DNSKEY 257 3 13 "), "{line}");
    // A public key alone signs nothing.
    assert_eq!(dnskey(&[text(&key)]).0, 2);
}

#[test]
fn ds_names_unreadable_lines_and_reads_the_others() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("keys");
    let (good, _, ds) = RFC_EXAMPLES[2];
    fs::write(
        &path,
        format!("; one\nexample. IN DNSKEY 257 3 13 !\n{good}\nexample. IN DNSKEY 385 3 15 AAAA\n"),
    )
    .unwrap();
    let output = oarlock(&["dnssec", "ds", text(&path)]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("line 2") && stderr(&output).contains("revoked"), "{}", stderr(&output));
    assert_eq!(String::from_utf8(output.stdout).unwrap().to_lowercase().trim(), ds.to_lowercase());
    fs::write(&path, "example. IN DNSKEY 385 3 15 AAAA\n").unwrap();
    assert_eq!(code(&oarlock(&["dnssec", "ds", text(&path)])), 1);
    fs::write(&path, good).unwrap();
    let both =
        stdout(&oarlock(&["dnssec", "ds", text(&path), "--cds", "--digest", "2", "--digest", "sha-384"]));
    assert!(both.lines().count() == 2 && both.lines().all(|line| line.contains(" IN CDS ")), "{both}");
    fs::write(&path, format!("{good}{}", "\n".repeat(1 << 20))).unwrap();
    match std::process::Command::new("gzip").args(["-k", text(&path)]).status() {
        Err(_) => println!("SKIPPED: no gzip on this machine"),
        Ok(_) => {
            let path = folder.path().join("keys.gz");
            assert_eq!(code(&oarlock(&["dnssec", "ds", text(&path)])), 0);
            let refused = oarlock(&["dnssec", "ds", text(&path), "--max-text", "1M"]);
            let said = stderr(&refused);
            assert!(code(&refused) == 2 && said.contains("--max-text allows more"), "{said}");
        }
    }
    fs::write(&path, good).unwrap();
    let unknown = oarlock(&["dnssec", "ds", text(&path), "--digest", "3"]);
    assert_eq!(code(&unknown), 2, "{}", stderr(&unknown));
}
