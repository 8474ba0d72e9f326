//! Zones, signed here or by other programs, and the answers of verifiers.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::program::{code, oarlock, stderr};

pub(crate) const ZONE: &str = r#"$ORIGIN example.com.
$TTL 3600
@ IN SOA ns1.example.com. hostmaster.example.com. 2024010100 7200 3600 1209600 900
@ IN NS ns1.example.com.
ns1 IN A 192.0.2.1
*.wild IN TXT "anything"
www IN A 192.0.2.2
deep.er.empty IN A 192.0.2.3
old IN DNAME new.example.com.
text IN TXT "a b" "c"
secure IN NS ns.secure.example.com.
secure IN DS 12345 13 2 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
ns.secure IN A 192.0.2.10
insecure IN NS ns.insecure.example.com.
ns.insecure IN AAAA 2001:db8::10
"#;

/// One record of every type that a zone may hold, as BIND 9.18 writes them, except the types of the apex and of the
/// NSEC and NSEC3 chains.
pub(crate) const EVERY_TYPE: &str = r#"md MD ns1
mf MF ns1
cname CNAME www
mb MB ns1
mg MG ns1
mr MR ns1
null NULL \# 2 0102
wks WKS 192.0.2.1 tcp smtp ftp
ptr PTR www
hinfo HINFO PC "a b"
minfo MINFO www ns1
mx MX 10 www
txt TXT "a" ""
rp RP www ns1
afsdb AFSDB 1 www
x25 X25 311061700956
isdn ISDN 150862028003217 004
rt RT 2 www
nsap NSAP 0x47.0005.80.005a00
nsap-ptr NSAP-PTR Foo.Example.
key KEY 256 3 5 AQPSKmynfzW4kyBv015MUG2DeIQ3
nokey KEY 49152 3 1
flags KEY HOST|SIG1 EMAIL RSASHA1 AQPSKmynfzW4kyBv015MUG2DeIQ3
px PX 10 www ns1
gpos GPOS -32.6882 116.8652 10.0
aaaa AAAA 2001:db8::1
loc LOC 42 21 54 N 71 06 18 W -24m 30m
nxt NXT www A
eid EID 012f
nimloc NIMLOC 32251a03
srv SRV 0 1 65535 www
atma ATMA +61.200000000
naptr NAPTR 100 50 "s" "http+I2L" "" www
expression NAPTR 100 50 "u" "E2U+sip" "!^(.*)$!sip:\\1@example.com!i" .
kx KX 1 www
cert CERT PKIX 1 RSASHA256 AQID
a6 A6 64 ::1 Foo
dname DNAME www.example.net.
sink SINK 1 2 3 AQID
apl APL 1:192.168.32.0/21 !1:192.168.38.0/28
sshfp SSHFP 2 1 2BB183AF5F22588179A53B0A98631FAD1A292118
nofingerprint SSHFP 7 0
ipseckey IPSECKEY 10 1 2 192.0.2.38 AQNR
dhcid DHCID AAIBY2/AuCcc
tlsa TLSA 3 1 1 d2ab
smimea SMIMEA 0 0 0 00
hip HIP 2 200100107B1A74DF365639CC39F1D578 AwEAAbdx Rvs.example.
ninfo NINFO "a" b
rkey RKEY 0 255 1 AQID
talink TALINK www .
cds CDS 0 0 0 00
cds CDNSKEY 0 3 0 AA==
openpgpkey OPENPGPKEY AQIDBA==
csync CSYNC 66 3 A NS AAAA
zonemd ZONEMD 1 1 240 000102030405060708090a0b
svcb SVCB 16 www alpn=h2,h3-19 mandatory=ipv4hint,alpn ipv4hint=192.0.2.1 dohpath=/q{?dns}
https HTTPS 1 .
ech HTTPS 1 . ech
dsync DSYNC CDS NOTIFY 5359 www
hhit HHIT AQID
brid BRID AQID
spf SPF a
uinfo UINFO \# 1 00
uid UID \# 4 00000001
gid GID \# 4 00000001
unspec UNSPEC \# 1 00
nid NID 10 0014:4fff:ff20:ee64
l32 L32 10 10.1.2.0
l64 L64 10 2001:0DB8:1140:1000
lp LP 10 www
eui48 EUI48 00-00-5e-00-53-2a
eui64 EUI64 00-00-5e-ef-10-00-00-2a
uri URI 10 1 "ftp://a"
caa CAA 128 issue "ca.example; x=y"
avc AVC a
doa DOA 1 2 3 "text/plain" AQID
amtrelay AMTRELAY 10 1 3 Relay
resinfo RESINFO qnamemin
wallet WALLET a
cla TYPE263 \# 2 0161
ipn TYPE264 \# 8 0000000000000001
ta TA 14796 RSASHA256 2 2BB183AF5F22588179A53B0A98631FAD1A2921182BB183AF5F22588179A53B0A
dlv DLV 14796 8 2 2BB183AF5F22588179A53B0A98631FAD1A2921182BB183AF5F22588179A53B0A
private TYPE65280 \# 4 c0a80001
"#;

/// A directory with a zone, in which programs run.
pub(crate) struct ZoneFolder(TempDir);

impl ZoneFolder {
    pub(crate) fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        folder.write("zone", ZONE);
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn text_path(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path(name), text).unwrap();
    }

    /// Runs another program, for at most twenty seconds. Prints SKIPPED and returns None if it is not installed.
    pub(crate) fn peer(&self, program: &str, arguments: &[&str]) -> Option<Output> {
        let run = Command::new("timeout").args(["20", program]).args(arguments).current_dir(&self.0).output();
        match run {
            Ok(output) if code(&output) == 124 => panic!("{program} {arguments:?} did not end within 20 s"),
            Ok(output) if code(&output) != 127 => Some(output),
            _ => {
                println!("SKIPPED: {program} is not installed");
                None
            }
        }
    }

    /// Runs another program that must succeed, and returns its stdout.
    pub(crate) fn peer_does(&self, program: &str, arguments: &[&str]) -> Option<String> {
        let output = self.peer(program, arguments)?;
        assert_eq!(code(&output), 0, "{program} {arguments:?}: {}", stderr(&output));
        Some(String::from_utf8(output.stdout).unwrap())
    }

    /// Signs the zone with this program and one key, and returns the path of the key.
    pub(crate) fn sign_here(&self, out: &str, arguments: &[&str]) -> String {
        let folder = self.0.path().to_str().unwrap();
        let made = oarlock(&["--json", "dnssec", "keygen", "example.com", "--out-dir", folder]);
        assert_eq!(code(&made), 0, "{}", stderr(&made));
        let made: Value = serde_json::from_slice(&made.stdout).unwrap();
        let key = made["private_file"].as_str().unwrap();
        let (zone, out) = (self.text_path("zone"), self.text_path(out));
        // The key is active from now on, and tests sign at other times too.
        let fixed = ["dnssec", "sign", &zone, "--out", &out, "--key", key, "--ignore-key-times"];
        let signed = oarlock(&[&fixed, arguments].concat());
        assert_eq!(code(&signed), 0, "{}", stderr(&signed));
        key.to_owned()
    }

    /// Makes a KSK and a ZSK with BIND. Returns None if its program is not installed or does not know the algorithm.
    pub(crate) fn bind_keys(&self, algorithm: &str) -> Option<[String; 2]> {
        let fixed = ["-q", "-a", algorithm, "-K", "."];
        let ksk = self.peer("dnssec-keygen", &[&fixed[..], &["-f", "KSK", "example.com"]].concat())?;
        if !ksk.status.success() {
            println!("SKIPPED: dnssec-keygen makes no keys of algorithm {algorithm}: {}", stderr(&ksk));
            return None;
        }
        let zsk = self.peer_does("dnssec-keygen", &[&fixed[..], &["example.com"]].concat())?;
        Some([String::from_utf8(ksk.stdout).unwrap(), zsk].map(|name| name.trim().to_owned()))
    }

    /// Makes a KSK and a ZSK with ldns, in BIND's format.
    pub(crate) fn ldns_keys(&self) -> Option<[String; 2]> {
        let fixed = ["-a", "ECDSAP256SHA256", "example.com"];
        let ksk = self.peer_does("ldns-keygen", &[&["-k"], &fixed[..]].concat())?;
        let zsk = self.peer_does("ldns-keygen", &fixed)?;
        Some([ksk, zsk].map(|name| name.trim().to_owned()))
    }

    /// Signs with BIND, which writes one record per line.
    pub(crate) fn sign_bind(&self, keys: &[String; 2], out: &str, denial: &[&str]) -> Option<()> {
        let fixed = ["-q", "-x", "-S", "-K", ".", "-O", "full", "-o", "example.com", "-f", out];
        let keyed = [&fixed[..], denial, &["-k", &keys[0], "zone", &keys[1]]].concat();
        self.peer_does("dnssec-signzone", &keyed).map(drop)
    }

    pub(crate) fn sign_ldns(&self, keys: &[String; 2], out: &str, arguments: &[&str]) -> Option<()> {
        let fixed = ["-o", "example.com", "-f", out];
        self.peer_does("ldns-signzone", &[&fixed[..], arguments, &["zone", &keys[0], &keys[1]]].concat())
            .map(drop)
    }

    /// Signs with Knot, which makes its own keys.
    pub(crate) fn sign_knot(&self, out: &str, algorithm: &str, denial: &str, digest: &str) -> Option<()> {
        let (zone, base) = (self.text_path("zone"), self.text_path(&format!("{out}.knot")));
        fs::create_dir_all(format!("{base}/out")).unwrap();
        let policy = format!("policy:\n  - id: own\n    algorithm: {algorithm}\n    {denial}\n");
        let conf = format!(
            "server:\n  rundir: {base}\ndatabase:\n  storage: {base}\n{policy}zone:\n  - domain: example.com.\n    \
             file: {zone}\n    dnssec-policy: own\n    dnssec-signing: on\n    zonemd-generate: {digest}\n"
        );
        fs::write(format!("{base}/conf"), conf).unwrap();
        let arguments = ["-c", &format!("{base}/conf"), "-o", &format!("{base}/out"), "example.com"];
        self.peer_does("kzonesign", &arguments)?;
        fs::rename(format!("{base}/out/zone"), self.path(out)).unwrap();
        Some(())
    }

    /// Runs `oarlock dnssec verify --json` on a file, and returns its exit code and its report.
    pub(crate) fn verify(&self, name: &str, arguments: &[&str]) -> (i32, Value) {
        let path = self.text_path(name);
        let output = oarlock(&[&["--json", "dnssec", "verify", &path], arguments].concat());
        let answer = serde_json::from_slice(&output.stdout);
        (code(&output), answer.unwrap_or_else(|error| panic!("{error}: {}", stderr(&output))))
    }

    /// Asserts that a file is good. The only allowed finding is the warning about NSEC3 iterations.
    pub(crate) fn assert_good(&self, name: &str) -> Value {
        let (code, answer) = self.verify(name, &[]);
        assert_eq!(
            (code, &answer["verdict"], &answer["failures"]),
            (0, &"good".into(), &0.into()),
            "{answer}"
        );
        for finding in answer["findings"].as_array().unwrap() {
            assert_eq!(finding["reason"], "nsec3-iterations", "{answer}");
        }
        answer
    }

    /// Asserts that the verifiers of others accept a file.
    pub(crate) fn assert_others_accept(&self, name: &str, with_ldns: bool) {
        let bind: &[&str] = &["-z", "-q", "-o", "example.com", name];
        let knot: &[&str] = &["-o", "example.com", "-d", "on", name];
        self.peer_does("dnssec-verify", bind);
        self.peer_does("kzonecheck", knot);
        if with_ldns {
            self.peer_does("ldns-verify-zone", &[name]);
        }
    }

    /// Asserts that the verifiers of others reject a file. ldns 1.8.3 never ends on some files, so it runs only if
    /// `ldns_ends`.
    pub(crate) fn assert_others_refuse(&self, name: &str, ldns_ends: bool) {
        let bind: &[&str] = &["-z", "-q", "-o", "example.com", name];
        let knot: &[&str] = &["-o", "example.com", "-d", "on", name];
        let ldns: &[&str] = &[name];
        let mut verifiers = vec![("dnssec-verify", bind), ("kzonecheck", knot)];
        if ldns_ends {
            verifiers.push(("ldns-verify-zone", ldns));
        }
        for (program, arguments) in verifiers {
            if let Some(said) = self.peer(program, arguments) {
                assert!(!said.status.success(), "{program}: {}", String::from_utf8_lossy(&said.stdout));
            }
        }
    }
}

/// A failure that `--json` reports.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ZoneFailure {
    pub(crate) reason: String,
    pub(crate) owner: String,
    pub(crate) rtype: String,
    pub(crate) line: Option<u32>,
}

impl ZoneFailure {
    pub(crate) fn without_line(reason: &str, label: &str, rtype: &str) -> Self {
        Self { reason: reason.into(), owner: name(label), rtype: rtype.into(), line: None }
    }
}

/// Returns the failures of a report, sorted.
pub(crate) fn failures(answer: &Value) -> Vec<ZoneFailure> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let one = |found: &Value| ZoneFailure {
        reason: text(&found["reason"]),
        owner: text(&found["owner"]),
        rtype: text(&found["type"]),
        line: found["line"].as_u64().map(|line| u32::try_from(line).unwrap()),
    };
    let findings = answer["findings"].as_array().unwrap();
    let mut found: Vec<ZoneFailure> =
        findings.iter().filter(|found| found["severity"] == "failure").map(one).collect();
    found.sort();
    found
}

/// Returns a name of the zone; an empty label means the apex.
fn name(label: &str) -> String {
    if label.is_empty() { "example.com.".into() } else { format!("{label}.example.com.") }
}

/// The lines of a signed zone, one record each. Lines count from 1.
#[derive(Clone, Debug)]
pub(crate) struct ZoneLines(Vec<String>);

impl ZoneLines {
    pub(crate) fn from_folder(folder: &ZoneFolder, name: &str) -> Self {
        let text = fs::read_to_string(folder.path(name)).unwrap();
        Self(text.lines().map(|line| line.trim_end().to_owned()).collect())
    }

    pub(crate) fn text(&self) -> String {
        self.0.join("\n") + "\n"
    }

    /// Returns the line of the first record of a set. Signatures have types such as `RRSIG A`.
    pub(crate) fn line(&self, label: &str, rtype: &str) -> u32 {
        let owner = name(label);
        self.find(rtype, &|found, words| found == owner && words.starts_with(&format!("{rtype} ")))
    }

    /// Returns the line of the NSEC or NSEC3 record that lists these types before `RRSIG`.
    pub(crate) fn denial(&self, types: &str) -> u32 {
        let types = format!(" {} rrsig", types.to_lowercase());
        self.find("such types", &|_, words| {
            words.starts_with("NSEC") && words.to_lowercase().trim_end_matches(" nsec").ends_with(&types)
        })
    }

    /// Returns the line of the NSEC3 record whose next name is that of another record.
    pub(crate) fn denial_before(&self, line: u32) -> u32 {
        let owner = self.words(line).0;
        let next = owner.split('.').next().unwrap();
        let leads_there =
            |words: &str| words.split(' ').nth(5).is_some_and(|word| word.eq_ignore_ascii_case(next));
        self.find("record before", &|_, words| words.starts_with("NSEC3 ") && leads_there(words))
    }

    pub(crate) fn signature_of_denial(&self, line: u32) -> u32 {
        let (owner, start) = (self.words(line).0, format!("RRSIG {} ", self.chain()));
        self.find(&start, &|found, words| found == owner && words.starts_with(&start))
    }

    pub(crate) fn chain(&self) -> &'static str {
        let is_hashed = self.has(&|_, words| words.starts_with("NSEC3 "));
        if is_hashed { "NSEC3" } else { "NSEC" }
    }

    pub(crate) fn has_digest(&self) -> bool {
        self.has(&|_, words| words.starts_with("ZONEMD "))
    }

    /// Returns the expected failure of a set, at the line of the set `at`.
    pub(crate) fn found(&self, reason: &str, label: &str, rtype: &str, at: &str) -> ZoneFailure {
        ZoneFailure { line: Some(self.line(label, at)), ..ZoneFailure::without_line(reason, label, rtype) }
    }

    /// Returns the expected failure of the owner of a line.
    pub(crate) fn found_at(&self, reason: &str, line: u32, rtype: &str) -> ZoneFailure {
        let owner = self.words(line).0;
        ZoneFailure { owner, line: Some(line), ..ZoneFailure::without_line(reason, "", rtype) }
    }

    /// Empties a line, so that the other lines keep their numbers.
    pub(crate) fn drop(&mut self, line: u32) {
        self.0[line as usize - 1].clear();
    }

    pub(crate) fn replace(&mut self, line: u32, from: &str, to: &str) {
        let line = &mut self.0[line as usize - 1];
        assert!(line.contains(from), "no {from} in {line}");
        *line = line.replacen(from, to, 1);
    }

    /// Changes one character, counted from the end without base64 padding.
    pub(crate) fn break_end(&mut self, line: u32, from_end: usize) {
        let line = &mut self.0[line as usize - 1];
        let at = line.trim_end_matches('=').len() - from_end;
        let other = if &line[at..=at] == "A" { "B" } else { "A" };
        line.replace_range(at..=at, other);
    }

    fn has(&self, is_it: &dyn Fn(&str, &str) -> bool) -> bool {
        (1..=self.0.len()).any(|line| {
            let (owner, words) = self.words(u32::try_from(line).unwrap());
            is_it(&owner, &words)
        })
    }

    fn find(&self, what: &str, is_it: &dyn Fn(&str, &str) -> bool) -> u32 {
        let mut lines = 1..=u32::try_from(self.0.len()).unwrap();
        let found = lines.find(|line| {
            let (owner, words) = self.words(*line);
            is_it(&owner, &words)
        });
        found.unwrap_or_else(|| panic!("no {what}"))
    }

    /// Returns the owner in small letters, and type and data with one space between words. The line is
    /// `OWNER [TTL] [IN] TYPE DATA`.
    fn words(&self, line: u32) -> (String, String) {
        let mut words = self.0[line as usize - 1].split_whitespace();
        let owner = words.next().unwrap_or_default().to_lowercase();
        let is_before_type = |word: &&str| *word == "IN" || word.bytes().all(|byte| byte.is_ascii_digit());
        (owner, words.skip_while(is_before_type).collect::<Vec<_>>().join(" "))
    }
}
