//! Wire format into text.

use std::io::Write;
use std::net::{Ipv4Addr, Ipv6Addr};

use super::fields::{DataField, fields};
use super::wire::take;
use super::{bitmap, codec, historic, hosts, lengths, location, prefixes, service, time};
use crate::base32hex::write_base32hex;
use crate::data_error::DataError;
use crate::name::DomainName;
use crate::rtype::RecordType;

/// Appends data in one line, as in a zone file. Data of unknown types, and data that does not match its type, is
/// printed in generic form (RFC 3597 section 5).
pub fn print(rtype: RecordType, data: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    let is_whole = lengths::check(rtype, data).is_ok();
    // ldns and Knot DNS reject the text of a KEY without a public key, and of an SSHFP without a fingerprint. BIND and
    // ldns reject that of an IPSECKEY without a public key.
    let has_text = match rtype {
        RecordType::AMTRELAY => is_whole && hosts::has_relay_text(data),
        RecordType::IPSECKEY => is_whole && hosts::has_gateway_key(data),
        RecordType::KEY => is_whole && data.len() > 4,
        RecordType::SSHFP => is_whole && data.len() > 2,
        _ => is_whole,
    };
    let fields = fields(rtype).filter(|_| has_text);
    if !matches!(fields.map(|fields| print_fields(fields, data, out)), Some(Ok(()))) {
        out.truncate(start);
        print_generic(data, out);
    }
}

fn print_fields(fields: &[DataField], data: &[u8], out: &mut Vec<u8>) -> Result<(), DataError> {
    let start = out.len();
    let mut rest = data;
    for field in fields {
        let part = take(*field, &mut rest)?;
        if *field == DataField::Atm && !historic::has_text(part) {
            return Err(DataError::Field("an address in a format without text"));
        }
        let before = out.len();
        if before > start {
            out.push(b' ');
        }
        let field_at = out.len();
        print_field(*field, part, out);
        // An absent optional field has no text, so the blank before it is removed.
        if out.len() == field_at {
            out.truncate(before);
        }
    }
    if rest.is_empty() { Ok(()) } else { Err(DataError::Long(rest.len())) }
}

fn print_field(field: DataField, part: &[u8], out: &mut Vec<u8>) {
    match field {
        DataField::Byte | DataField::Short | DataField::Long | DataField::Period => digits(number(part), out),
        DataField::Algorithm | DataField::Digest | DataField::CertKind | DataField::Notify => {
            digits(number(part), out);
        }
        DataField::KeyFlags | DataField::KeyProtocol => digits(number(part), out),
        DataField::Time => time::print(number(part), out),
        DataField::Covered => type_name(RecordType(number(part) as u16), out),
        DataField::Ip4 => ip4(part, out),
        DataField::Ip6 => ip6(part, out),
        DataField::Name | DataField::NameKept => name(DomainName::trusted(part), out),
        DataField::Base64 | DataField::OptionalBase64 => codec::write_base64(part, out),
        DataField::Hex | DataField::OptionalHex => codec::write_hex(part, out),
        DataField::Types | DataField::SomeTypes => {
            print_types(out, |out, each| bitmap::types(part, |rtype| each(rtype, out)));
        }
        DataField::OldTypes => {
            print_types(out, |out, each| bitmap::old_types(part, |rtype| each(rtype, out)));
        }
        DataField::Salt if part.len() == 1 => out.push(b'-'),
        DataField::Salt => codec::write_hex(&part[1..], out),
        DataField::Hash => write_base32hex(&part[1..], out),
        _ => print_rare(field, part, out),
    }
}

/// Prints a field that few zones have.
fn print_rare(field: DataField, part: &[u8], out: &mut Vec<u8>) {
    match field {
        DataField::Text | DataField::OptionalText | DataField::Texts | DataField::Regexp => {
            print_texts(part, out);
        }
        DataField::Node => print_node(part, out),
        DataField::Tag => out.extend_from_slice(&part[1..]),
        DataField::Quoted | DataField::Uri => codec::write_quoted(part, out),
        DataField::Base64OrHyphen if part.is_empty() => out.push(b'-'),
        DataField::Base64OrHyphen => codec::write_base64(part, out),
        DataField::Psdn => print_texts(part, out),
        DataField::Services => historic::print_services(part, out),
        DataField::Atm => historic::print_atm(part, out),
        DataField::AddressSuffix => historic::print_suffix(part, out),
        DataField::Eui48 | DataField::Eui64 => print_between(part.as_chunks::<1>().0, b'-', out),
        DataField::Locator => print_between(part.as_chunks::<2>().0, b':', out),
        DataField::Nsap => {
            out.extend_from_slice(b"0x");
            codec::write_hex(part, out);
        }
        DataField::Prefixes => prefixes::print(part, out),
        DataField::Location => location::print(part, out),
        DataField::Gateway => hosts::print_gateway(part, out),
        DataField::Relay => hosts::print_relay(part, out),
        DataField::HostIdentity => hosts::print_identity(part, out),
        DataField::Parameters => service::print(part, out),
        // unreachable because `print_field` has all others
        _ => {}
    }
}

/// Appends data in the generic form, which fits every type. RFC 3597 section 5.
pub(crate) fn print_generic(data: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"\\# ");
    digits(data.len() as u32, out);
    if !data.is_empty() {
        out.push(b' ');
        codec::write_hex(data, out);
    }
}

fn print_texts(part: &[u8], out: &mut Vec<u8>) {
    let mut rest = part;
    while let [len, after @ ..] = rest {
        if rest.len() < part.len() {
            out.push(b' ');
        }
        let (text, after) = after.split_at(usize::from(*len));
        codec::write_quoted(text, out);
        rest = after;
    }
}

fn print_node(part: &[u8], out: &mut Vec<u8>) {
    let number = part.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
    out.extend_from_slice(number.to_string().as_bytes());
}

fn print_between<const N: usize>(parts: &[[u8; N]], between: u8, out: &mut Vec<u8>) {
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            out.push(between);
        }
        codec::write_hex(part, out);
    }
}

/// Writes types with blanks between them.
fn print_types(out: &mut Vec<u8>, all: impl FnOnce(&mut Vec<u8>, &mut dyn FnMut(RecordType, &mut Vec<u8>))) {
    let mut is_first = true;
    all(out, &mut |rtype, out| {
        if !std::mem::take(&mut is_first) {
            out.push(b' ');
        }
        type_name(rtype, out);
    });
}

/// Reads a number of up to four bytes.
fn number(part: &[u8]) -> u32 {
    part.iter().fold(0, |value, byte| value << 8 | u32::from(*byte))
}

/// Appends a type's mnemonic, or `TYPE` and its number.
pub(crate) fn mnemonic(rtype: RecordType, out: &mut Vec<u8>) {
    match rtype.mnemonic() {
        Some(mnemonic) => out.extend_from_slice(mnemonic.as_bytes()),
        None => number_of(rtype, out),
    }
}

/// Appends a type in the form that every reader of zone files knows: the mnemonic only if all of them know it.
fn type_name(rtype: RecordType, out: &mut Vec<u8>) {
    if rtype.is_widely_named() { mnemonic(rtype, out) } else { number_of(rtype, out) }
}

/// Appends `TYPE` and the type's number.
pub(crate) fn number_of(rtype: RecordType, out: &mut Vec<u8>) {
    out.extend_from_slice(b"TYPE");
    digits(rtype.0.into(), out);
}

/// Appends a number.
pub(crate) fn digits(value: u32, out: &mut Vec<u8>) {
    let mut text = [0; 10];
    let (mut at, mut rest) = (text.len(), value);
    loop {
        at -= 1;
        text[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&text[at..]);
}

/// Appends an address of four bytes.
pub(super) fn ip4(part: &[u8], out: &mut Vec<u8>) {
    let octets = *part.first_chunk::<4>().unwrap_or(&[0; 4]);
    // unreachable because writing to memory does not fail
    let _ = write!(out, "{}", Ipv4Addr::from(octets));
}

/// Appends an address of sixteen bytes.
pub(super) fn ip6(part: &[u8], out: &mut Vec<u8>) {
    let octets = *part.first_chunk::<16>().unwrap_or(&[0; 16]);
    // unreachable because writing to memory does not fail
    let _ = write!(out, "{}", Ipv6Addr::from(octets));
}

/// Appends an absolute name.
pub(crate) fn name(name: DomainName<'_>, out: &mut Vec<u8>) {
    if name.is_root() {
        return out.push(b'.');
    }
    for label in name.labels() {
        if label.iter().all(|byte| PLAIN[usize::from(*byte)]) {
            out.extend_from_slice(label);
        } else {
            label.iter().for_each(|byte| escaped(*byte, out));
        }
        out.push(b'.');
    }
}

fn escaped(byte: u8, out: &mut Vec<u8>) {
    match byte {
        _ if PLAIN[usize::from(byte)] => out.push(byte),
        0x21..=0x7e => out.extend_from_slice(&[b'\\', byte]),
        _ => out.extend_from_slice(&[b'\\', b'0' + byte / 100, b'0' + byte / 10 % 10, b'0' + byte % 10]),
    }
}

/// True for the bytes of a name that need no escape.
const PLAIN: [bool; 256] = plain();

const fn plain() -> [bool; 256] {
    let mut plain = [false; 256];
    let mut byte = 0x21;
    while byte < 0x7f {
        plain[byte as usize] = !matches!(byte, b'.' | b'\\' | b'"' | b';' | b'(' | b')' | b'@' | b'$');
        byte += 1;
    }
    plain
}
