//! A signer of small zones, text in and lines out, with code of its own. Its output is compared with zones that
//! others signed.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use oarlock::Curve;
use oarlock::keys::generate;
use oarlock::{Input, Job, Key, NonceRule};
use oarlock_dnssec::zone::write_record;
use oarlock_dnssec::{
    Dnskey, DnssecAlgorithm, DomainName, DomainNameBuf, RecordSets, RecordType, ZoneRecords, dnskey_rdata,
    hash_names, write_base32hex, zone_digest,
};

use super::{NOW, Zone, engines, read};

/// The method that denies the existence of names.
#[derive(Clone, Copy)]
pub enum Denial<'a> {
    Nsec,
    Nsec3 { iterations: u16, salt: &'a str, opts_out: bool },
}

/// NSEC3 without salt and additional iterations.
pub const NSEC3: Denial<'_> = Denial::Nsec3 { iterations: 0, salt: "-", opts_out: false };
pub const OPT_OUT: Denial<'_> = Denial::Nsec3 { iterations: 0, salt: "-", opts_out: true };

enum Private {
    Accelerated(Key),
    Ed448(Box<crrl::ed448::PrivateKey>),
}

/// A key that signs everything.
pub struct SigningKey {
    private: Private,
    pub algorithm: DnssecAlgorithm,
    pub rdata: Vec<u8>,
}

impl SigningKey {
    pub fn new(algorithm: DnssecAlgorithm, flags: u16) -> Self {
        let key = match algorithm {
            DnssecAlgorithm::ECDSAP256SHA256 => generate::ec(Curve::P256),
            DnssecAlgorithm::ECDSAP384SHA384 => generate::ec(Curve::P384),
            DnssecAlgorithm::ED25519 => generate::ed25519(),
            DnssecAlgorithm::ED448 => return Self::ed448(flags),
            _ => generate::rsa(2048),
        };
        let key = key.unwrap();
        let rdata = dnskey_rdata(flags, algorithm, &key).unwrap();
        Self { private: Private::Accelerated(key), algorithm, rdata }
    }

    fn ed448(flags: u16) -> Self {
        let private = crrl::ed448::PrivateKey::from_seed(&[7; 57]);
        let [high, low] = flags.to_be_bytes();
        let rdata = [&[high, low, 3, 16][..], &private.public_key.encode()].concat();
        Self { private: Private::Ed448(Box::new(private)), algorithm: DnssecAlgorithm::ED448, rdata }
    }

    pub fn tag(&self) -> u16 {
        Dnskey::parse(&self.rdata).unwrap().key_tag()
    }

    pub fn sign(&self, message: &[u8]) -> Vec<u8> {
        match &self.private {
            Private::Ed448(key) => key.sign_raw(message).to_vec(),
            Private::Accelerated(key) => {
                let scheme = self.algorithm.sign_scheme(NonceRule::Deterministic).unwrap();
                let answers =
                    engines()[0].run_all(&[Job::with_scheme(scheme, key, Input::Message(message), &[])]);
                answers.get(0).unwrap().to_vec()
            }
        }
    }

    /// Returns the DNSKEY record.
    pub fn line(&self, owner: &str) -> String {
        format!("{owner} 3600 IN DNSKEY \\# {} {}", self.rdata.len(), hex(&self.rdata))
    }
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The sets by the labels of their owners from the right, which is canonical order, and by type.
type Rows = BTreeMap<(Vec<Vec<u8>>, RecordType), Row>;

#[derive(Clone)]
struct Row {
    owner: DomainNameBuf,
    ttl: u32,
    data: BTreeSet<Vec<u8>>,
}

fn order(name: DomainName<'_>) -> Vec<Vec<u8>> {
    let mut labels: Vec<Vec<u8>> = name.labels().map(<[u8]>::to_vec).collect();
    labels.reverse();
    labels
}

fn rows(records: &ZoneRecords) -> Rows {
    let mut rows = Rows::new();
    for record in records.iter() {
        let new = || Row { owner: record.owner.to_buf(), ttl: record.ttl, data: BTreeSet::new() };
        let row = rows.entry((order(record.owner), record.rtype)).or_insert_with(new);
        row.data.insert(record.data.to_vec());
    }
    rows
}

/// Returns the zone with keys, chain and signatures.
pub fn sign(text: &str, keys: &[SigningKey], denial: Denial<'_>) -> Zone {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.extend(keys.iter().map(|key| key.line("example.")));
    if let Denial::Nsec3 { iterations, salt, .. } = denial {
        lines.push(format!("example. 0 IN NSEC3PARAM 1 0 {iterations} {salt}"));
    }
    lines = written(&lines);
    let chain = chain(&parse(&lines), denial);
    lines.extend(chain);
    let signed = parse(&lines);
    lines.extend(signatures(&rows(&signed), keys, |_| true));
    Zone(written(&lines))
}

/// Returns the same with a ZONEMD record, which is signed last.
pub fn sign_with_digest(text: &str, keys: &[SigningKey], denial: Denial<'_>) -> Zone {
    let unsigned = format!("{text}example. 3600 IN ZONEMD 7 1 1 {}\n", "00".repeat(48));
    let zone = sign(&unsigned, keys, denial).without("example. 3600 IN RRSIG ZONEMD");
    let records = parse(&zone.0);
    let sets = RecordSets::new(&records);
    let apex =
        DomainNameBuf::parse(b"example.", DomainName::ROOT, oarlock_dnssec::LetterCase::Lower).unwrap();
    let digest = zone_digest(&engines()[0], &sets, apex.name(), oarlock::DigestAlg::Sha384).unwrap();
    let zone =
        zone.with("example. 3600 IN ZONEMD", |_| format!("example. 3600 IN ZONEMD 7 1 1 {}", hex(&digest)));
    resigned(&zone, keys, RecordType::ZONEMD)
}

/// Returns the zone with new signatures of an apex set.
pub fn resigned(zone: &Zone, keys: &[SigningKey], rtype: RecordType) -> Zone {
    let start = format!("example. 3600 IN RRSIG {rtype} ");
    let mut lines: Vec<String> = zone.0.iter().filter(|line| !line.starts_with(&start)).cloned().collect();
    lines.extend(signatures(&rows(&parse(&lines)), keys, |(name, covered)| {
        name.len() == 1 && *covered == rtype
    }));
    Zone(written(&lines))
}

fn parse(lines: &[String]) -> ZoneRecords {
    let (records, faults) = read(&Zone(lines.to_vec()).text());
    assert_eq!(faults, [""; 0]);
    records
}

/// Returns all lines in canonical order, in the crate's own text form.
fn written(lines: &[String]) -> Vec<String> {
    let records = parse(lines);
    let mut keyed: Vec<_> =
        records.iter().map(|record| (order(record.owner), record.rtype, record.data, record)).collect();
    keyed.sort_by(|one, two| (&one.0, one.1, one.2).cmp(&(&two.0, two.1, two.2)));
    let print = |record| {
        let mut line = Vec::new();
        write_record(&record, &mut line);
        String::from_utf8(line).unwrap().trim_end().to_owned()
    };
    keyed.into_iter().map(|(.., record)| print(record)).collect()
}

/// Returns true if a delegation or DNAME stands above the name.
fn is_below_cut(rows: &Rows, name: &[Vec<u8>]) -> bool {
    (1..name.len()).any(|labels| {
        let above = name[..labels].to_vec();
        rows.contains_key(&(above.clone(), RecordType::DNAME))
            || (labels > 1 && rows.contains_key(&(above, RecordType::NS)))
    })
}

fn is_cut(rows: &Rows, name: &[Vec<u8>]) -> bool {
    name.len() > 1 && rows.contains_key(&(name.to_vec(), RecordType::NS))
}

/// Returns the zone's own names with their types.
fn own_names(rows: &Rows) -> BTreeMap<Vec<Vec<u8>>, (DomainNameBuf, Vec<RecordType>)> {
    let mut names = BTreeMap::new();
    for ((name, rtype), row) in rows {
        let listed = !is_cut(rows, name) || [RecordType::NS, RecordType::DS].contains(rtype);
        if name.first().is_some_and(|label| label == b"example") && !is_below_cut(rows, name) {
            let entry = names.entry(name.clone()).or_insert_with(|| (row.owner.clone(), Vec::new()));
            entry.1.extend(Some(*rtype).filter(|_| listed));
        }
    }
    names
}

fn chain(records: &ZoneRecords, denial: Denial<'_>) -> Vec<String> {
    let rows = rows(records);
    match denial {
        Denial::Nsec => nsec(&rows),
        Denial::Nsec3 { iterations, salt, opts_out } => nsec3(&rows, iterations, salt, opts_out),
    }
}

fn words(types: &[RecordType]) -> String {
    types.iter().map(|rtype| format!(" {rtype}")).collect()
}

fn nsec(rows: &Rows) -> Vec<String> {
    let names: Vec<(DomainNameBuf, Vec<RecordType>)> = own_names(rows).into_values().collect();
    let next = names.iter().cycle().skip(1);
    let link = |(name, types): &(DomainNameBuf, Vec<RecordType>), next: &DomainNameBuf| {
        format!("{name} 300 IN NSEC {next}{} RRSIG NSEC", words(types))
    };
    names.iter().zip(next).map(|(name, (next, _))| link(name, next)).collect()
}

fn nsec3(rows: &Rows, iterations: u16, salt: &str, opts_out: bool) -> Vec<String> {
    let mut names = own_names(rows);
    let is_insecure =
        |name: &Vec<Vec<u8>>, types: &[RecordType]| is_cut(rows, name) && !types.contains(&RecordType::DS);
    names.retain(|name, (_, types)| !(opts_out && is_insecure(name, types)));
    for (name, (owner, _)) in names.clone() {
        for labels in 1..name.len() {
            let empty = || (owner.name().last_labels(labels).to_buf(), Vec::new());
            names.entry(name[..labels].to_vec()).or_insert_with(empty);
        }
    }
    let bytes: Vec<u8> =
        (0..salt.len() / 2).map(|at| u8::from_str_radix(&salt[2 * at..2 * at + 2], 16).unwrap()).collect();
    let hashes =
        hash_names(&engines()[0], names.values().map(|(owner, _)| owner.name()), &bytes, iterations).unwrap();
    let mut links: Vec<(String, String)> = hashes
        .iter()
        .zip(&names)
        .map(|(hash, (name, (_, types)))| {
            let mut text = Vec::new();
            write_base32hex(hash, &mut text);
            let is_signed = !types.is_empty() && !is_insecure(name, types);
            (String::from_utf8(text).unwrap(), words(types) + if is_signed { " RRSIG" } else { "" })
        })
        .collect();
    links.sort();
    let flags = u8::from(opts_out);
    let next = links.iter().cycle().skip(1);
    let line = |((hash, types), (next, _)): (&(String, String), &(String, String))| {
        format!("{hash}.example. 300 IN NSEC3 1 {flags} {iterations} {salt} {next}{types}")
    };
    links.iter().zip(next).map(line).collect()
}

fn signatures(
    rows: &Rows,
    keys: &[SigningKey],
    is_wanted: impl Fn(&(Vec<Vec<u8>>, RecordType)) -> bool,
) -> Vec<String> {
    let mut lines = Vec::new();
    for (set @ (name, rtype), row) in rows.iter().filter(|(set, _)| is_wanted(set)) {
        let is_inside = name.first().is_some_and(|label| label == b"example");
        // Hashed names may stand below a DNAME of the apex.
        let is_own = is_inside && (*rtype == RecordType::NSEC3 || !is_below_cut(rows, name));
        let is_signed = is_own && (!is_cut(rows, name) || [RecordType::DS, RecordType::NSEC].contains(rtype));
        if is_signed && set.1 != RecordType::RRSIG {
            lines.extend(keys.iter().map(|key| signature(row, *rtype, key, "example.")));
        }
    }
    lines
}

/// Makes a signature. RFC 4034 3.1.8.1.
fn signature(row: &Row, rtype: RecordType, key: &SigningKey, signer: &str) -> String {
    let (owner, ttl, tag) = (row.owner.name(), row.ttl, key.tag());
    let labels = owner.labels().filter(|label| *label != b"*").count();
    let (inception, expiration) = (NOW - 1000, NOW + 1000);
    let mut message = rtype.0.to_be_bytes().to_vec();
    message.extend([key.algorithm.number(), labels as u8]);
    message.extend([ttl, expiration, inception].map(u32::to_be_bytes).concat());
    message.extend(tag.to_be_bytes());
    message.extend(
        DomainNameBuf::parse(signer.as_bytes(), DomainName::ROOT, oarlock_dnssec::LetterCase::Lower)
            .unwrap()
            .name()
            .as_bytes(),
    );
    for data in &row.data {
        message.extend(owner.as_bytes());
        message.extend(rtype.0.to_be_bytes());
        message.extend([0, 1]);
        message.extend(ttl.to_be_bytes());
        message.extend((data.len() as u16).to_be_bytes());
        message.extend(data);
    }
    let signature = base64::engine::general_purpose::STANDARD.encode(key.sign(&message));
    let algorithm = key.algorithm.0;
    format!(
        "{owner} {ttl} IN RRSIG {rtype} {algorithm} {labels} {ttl} {expiration} {inception} {tag} {signer} {signature}"
    )
}
