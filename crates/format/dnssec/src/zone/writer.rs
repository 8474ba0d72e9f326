//! A record as a line of a zone file.

use crate::name::DomainName;
use crate::rdata;
use crate::records::ZoneRecord;
use crate::rtype::RecordType;

/// Appends a record as a line that every verifier reads: owner, TTL, class, type and data, all names absolute. A type
/// that some verifiers do not know stands as `TYPE` and a number, with data in generic form (RFC 3597 section 5).
/// Data that does not match its type stands in generic form too.
pub fn write_record(record: &ZoneRecord<'_>, out: &mut Vec<u8>) {
    write_line(record.owner, record.ttl, record.rtype, record.data, out);
}

/// Appends a record that is given by its parts.
pub(crate) fn write_line(owner: DomainName<'_>, ttl: u32, rtype: RecordType, data: &[u8], out: &mut Vec<u8>) {
    rdata::name(owner, out);
    out.push(b' ');
    rdata::digits(ttl, out);
    out.extend_from_slice(b" IN ");
    if rtype.is_widely_named() {
        rdata::mnemonic(rtype, out);
        out.push(b' ');
        rdata::print(rtype, data, out);
    } else {
        rdata::number_of(rtype, out);
        out.push(b' ');
        rdata::print_generic(data, out);
    }
    out.push(b'\n');
}
