//! Zone files that both Oarlock and the `domain` crate accept: both find the same owners, types and data, equally
//! often.
#![no_main]

use bytes::BufMut;
use domain::base::rdata::{ComposeRecordData, RecordData};
use domain::base::{Name, ToName};
use domain::zonefile::inplace::{Entry, Zonefile};
use libfuzzer_sys::fuzz_target;
use oarlock_dnssec::ZoneRecords;
use oarlock_dnssec::zone::ZoneReader;

/// An owner, a type and data in canonical form.
type Line = (Vec<u8>, u16, Vec<u8>);

const START: &[u8] = b"$ORIGIN example.\n$TTL 1\n";

fuzz_target!(|input: &[u8]| {
    if !is_common(input) {
        return;
    }
    let text = [START, input, b"\n"].concat();
    // The other reader panics at some texts that this crate rejects.
    let Some(ours) = ours(&text) else { return };
    if let Some(theirs) = theirs(&text) {
        assert_eq!(ours, theirs);
    }
});

/// Rejects input that the two read differently: directives, `@` in data, blanks and strings across lines, control
/// characters, and a quote within a word.
fn is_common(text: &[u8]) -> bool {
    let is_plain =
        |byte: &u8| matches!(byte, b'\n' | b' '..=b'~') && !matches!(byte, b'$' | b'@' | b'"' | b'\\');
    text.iter().all(is_plain)
}

fn ours(text: &[u8]) -> Option<Vec<Line>> {
    let mut records = ZoneRecords::new();
    let mut include = |_: &str| Err(String::new());
    let mut reader = ZoneReader::new(None, &mut include);
    reader.read(text, true, &mut records);
    let line = |index| {
        let record = records.get(index);
        (record.owner.as_bytes().to_vec(), record.rtype.0, record.data.to_vec())
    };
    reader.faults().is_empty().then(|| (0..records.len()).map(line).collect())
}

fn theirs(text: &[u8]) -> Option<Vec<Line>> {
    let mut file = Zonefile::with_capacity(text.len());
    file.put_slice(text);
    let mut lines = Vec::new();
    while let Some(entry) = file.next_entry().ok()? {
        let Entry::Record(record) = entry else { continue };
        let mut data = Vec::new();
        record.data().compose_canonical_rdata(&mut data).ok()?;
        let owner: Name<Vec<u8>> = record.owner().to_canonical_name();
        lines.push((owner.as_slice().to_vec(), record.data().rtype().to_int(), data));
    }
    Some(lines)
}
