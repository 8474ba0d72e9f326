//! A record as a line of a zone file.

use crate::rdata;
use crate::records::ZoneRecord;

/// Appends a record as a line that every verifier reads: owner, TTL, class, type and data, all names absolute. A type
/// that some verifiers do not know stands as `TYPE` and a number, with data in generic form (RFC 3597 section 5).
/// Data that does not match its type stands in generic form too.
pub fn write_record(record: &ZoneRecord<'_>, out: &mut Vec<u8>) {
    rdata::name(record.owner, out);
    out.push(b' ');
    rdata::digits(record.ttl, out);
    out.extend_from_slice(b" IN ");
    if record.rtype.is_widely_named() {
        rdata::mnemonic(record.rtype, out);
        out.push(b' ');
        rdata::print(record.rtype, record.data, out);
    } else {
        rdata::number_of(record.rtype, out);
        out.push(b' ');
        rdata::print_generic(record.data, out);
    }
    out.push(b'\n');
}
