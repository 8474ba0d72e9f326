//! Random zones: this crate and the `domain` crate must read the same records.

use bytes::BufMut;
use domain::base::ToName;
use domain::base::rdata::ComposeRecordData;
use domain::zonefile::inplace::{Entry, Zonefile};
use oarlock_dnssec::ZoneRecords;
use oarlock_dnssec::zone::ZoneReader;

/// The owner, the TTL, the type and the data in canonical form.
type Line = (Vec<u8>, u32, u16, Vec<u8>);

fn ours(text: &[u8]) -> Vec<Line> {
    let mut records = ZoneRecords::new();
    let include = &mut |_: &str| Err(String::new());
    let mut reader = ZoneReader::new(None, include);
    reader.read(text, true, &mut records);
    assert_eq!(reader.faults(), [], "{}", String::from_utf8_lossy(text));
    let line = |index| {
        let record = records.get(index);
        (record.owner.as_bytes().to_vec(), record.ttl, record.rtype.0, record.data.to_vec())
    };
    (0..records.len()).map(line).collect()
}

fn theirs(text: &[u8]) -> Vec<Line> {
    let mut file = Zonefile::with_capacity(text.len());
    file.put_slice(text);
    let mut lines = Vec::new();
    while let Some(entry) =
        file.next_entry().unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(text)))
    {
        let Entry::Record(record) = entry else { continue };
        let mut data = Vec::new();
        record.data().compose_canonical_rdata(&mut data).unwrap();
        let owner = record.owner().to_canonical_name::<Vec<u8>>();
        let rtype = domain::base::RecordData::rtype(record.data()).to_int();
        lines.push((owner.as_slice().to_vec(), record.ttl().as_secs(), rtype, data));
    }
    lines
}

/// A maker of zones in all notations that both readers support.
struct Maker(fastrand::Rng);

impl Maker {
    fn one<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.0.usize(..of.len())]
    }

    fn name(&mut self) -> String {
        let label = [
            "a",
            "WWW",
            "x-1",
            "_tcp",
            "*",
            r"a\.b",
            r"\065",
            r"q\032r",
            "xn--bcher-kva",
            "n0123456789012345678901234567890",
        ];
        let labels: Vec<&str> = (0..self.0.usize(1..4)).map(|_| self.one(&label)).collect();
        match self.0.usize(..6) {
            0 => "@".to_owned(),
            1 => labels.join("."),
            2 => format!("{}.{}.", labels.join("."), "y".repeat(60)),
            _ => format!("{}.Example.", labels.join(".")),
        }
    }

    fn hex(&mut self, len: usize) -> String {
        (0..len).map(|_| format!("{:02x}", self.0.u8(..))).collect()
    }

    fn base64(&mut self) -> String {
        const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let len = 4 * self.0.usize(1..30);
        let mut text: String = (0..len).map(|_| char::from(DIGITS[self.0.usize(..64)])).collect();
        let end = self.one(&["", "Q==", "A8="]);
        if !end.is_empty() {
            text.push_str(&format!("{}{end}", if end.len() == 3 { "x" } else { "" }).replace('8', "E"));
            text.truncate(text.len() / 4 * 4);
        }
        text
    }

    fn text(&mut self) -> String {
        self.one(&["plain", "\"quoted words\"", "\"; ( ) \\\" \\092\"", "\"\"", "es\\;caped", "v=spf1"])
            .to_owned()
    }

    fn data(&mut self) -> String {
        // The other reader reads `@` as the origin in owners only.
        let (name, other) = (self.name().replace('@', "at"), self.name().replace('@', "at"));
        let (short, long, hex) = (self.0.u16(..), self.0.u32(..), self.hex(20));
        match self.0.usize(..19) {
            0 => format!("A 192.0.2.{}", self.0.u8(..)),
            1 => format!("AAAA 2001:db8::{short:x}"),
            2 => format!("NS {name}"),
            3 => format!("CNAME {name}"),
            4 => format!("SOA {name} {other} {long} 1 2 3 4"),
            5 => format!("MX {short} {name}"),
            6 => format!("TXT {} {}", self.text(), self.text()),
            7 => format!("DS {short} 8 2 {hex} {}", self.hex(12)),
            8 => format!("DNSKEY 256 3 13 {}", self.base64()),
            9 => {
                let times = format!("20{:02}0229123456 {}", 4 * self.0.u8(1..20), self.0.u32(..));
                format!("RRSIG NSEC 8 {} {long} {times} {short} {name} {}", self.0.u8(..), self.base64())
            }
            10 => format!("NSEC {name} A MX RRSIG NSEC TYPE{short}"),
            11 => format!(
                "NSEC3 1 1 {} {} 2T7B4G4VSA5SMI47K61MV5BV1A22BOJR NS TYPE{short}",
                self.0.u8(..),
                self.one(&["-", "aabb"])
            ),
            12 => format!("NSEC3PARAM 1 0 {} aa", self.0.u8(..)),
            13 => format!("SRV {short} 1 2 {name}"),
            14 => format!("TYPE{} \\# 20 {} {}", self.0.u16(40_000..), &hex[..10], &hex[10..]),
            15 => format!("PTR {name}"),
            16 => format!("CAA 0 issue \"{name}\"").replace('\\', ""),
            17 => format!("HINFO {} {}", self.text(), self.text()),
            _ => format!("DNAME {name}"),
        }
    }

    fn entry(&mut self, out: &mut String) {
        let owner = match self.0.usize(..3) {
            0 => String::new(),
            _ => self.name(),
        };
        let head = self.one(&["300 IN", "IN 300", "in", "300", "IN  \t 7200"]);
        let mut data = self.data();
        if self.0.bool() {
            let spaces: Vec<usize> = data
                .match_indices(' ')
                .map(|(space, _)| space)
                .filter(|space| !is_quoted(&data, *space))
                .collect();
            let space = spaces[self.0.usize(..spaces.len())];
            data = format!(
                "{} ( ; open (\n{} {}",
                &data[..space],
                &data[space + 1..],
                self.one(&[")", "\n )", "; x )\n)"])
            );
        }
        let end = self.one(&["\n", "\r\n", " ; end\n", "\n\n", "\n   ; \"\n"]);
        out.push_str(&format!("{owner} {head}\t{data}{end}"));
    }
}

/// Returns true within quotes, and after a backslash.
fn is_quoted(data: &str, index: usize) -> bool {
    data[..index].replace("\\\"", "").matches('"').count() % 2 == 1 || data[..index].ends_with('\\')
}

#[test]
fn both_readers_find_the_same_records() {
    let mut maker = Maker(fastrand::Rng::with_seed(1035));
    for _ in 0..1500 {
        let mut zone = String::from("$ORIGIN Example.\n$TTL 900\nexample. 3600 IN SOA a b 1 2 3 4 5\n");
        for _ in 0..maker.0.usize(1..30) {
            maker.entry(&mut zone);
        }
        let (ours, theirs) = (ours(zone.as_bytes()), theirs(zone.as_bytes()));
        assert_eq!(ours.len(), theirs.len(), "{zone}");
        for (our, their) in ours.iter().zip(&theirs) {
            assert_eq!(our, their);
        }
    }
}
