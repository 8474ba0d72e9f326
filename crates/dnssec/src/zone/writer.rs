//! A record as a line of a zone file.

use crate::rdata;
use crate::records::Record;

/// Appends a record as a line: owner, TTL, class, type and data, all names absolute. Data of an unknown type, and what is no data of its
/// type, stand in generic form (RFC 3597 section 5).
pub fn write_record(record: &Record<'_>, out: &mut Vec<u8>) {
    rdata::name(record.owner, out);
    out.push(b' ');
    rdata::digits(record.ttl, out);
    out.extend_from_slice(b" IN ");
    rdata::mnemonic(record.rtype, out);
    out.push(b' ');
    rdata::print(record.rtype, record.data, out);
    out.push(b'\n');
}
