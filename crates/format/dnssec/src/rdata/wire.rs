//! Data in wire format: split into fields, checked, and brought into canonical form.

use super::fields::{DataField, fields};
use super::{bitmap, historic, hosts, lengths, location, prefixes, regexp, service};
use crate::data_error::DataError;
use crate::name::DomainName;
use crate::rtype::RecordType;

/// Checks the data of a type and appends its canonical form, with names in lower case if the type requires that (RFC
/// 4034 6.2, RFC 6840 5.1). Data of unknown types is copied.
///
/// # Errors
/// The data does not match its type. Some bytes may have been appended.
pub fn canonical(rtype: RecordType, data: &[u8], out: &mut Vec<u8>) -> Result<(), DataError> {
    let Some(fields) = fields(rtype) else {
        out.extend_from_slice(data);
        return Ok(());
    };
    let mut rest = data;
    for field in fields {
        let part = take(*field, &mut rest)?;
        let start = out.len();
        out.extend_from_slice(part);
        match field {
            // Length bytes are at most 63, so none of them is a letter.
            DataField::Name => out[start..].make_ascii_lowercase(),
            DataField::AddressSuffix => historic::prefix_name(&mut out[start..]).make_ascii_lowercase(),
            _ => {}
        }
    }
    if !rest.is_empty() {
        return Err(DataError::Long(rest.len()));
    }
    lengths::check(rtype, data)
}

/// Splits off a field.
pub(super) fn take<'d>(field: DataField, rest: &mut &'d [u8]) -> Result<&'d [u8], DataError> {
    let len = field_len(field, rest)?;
    let (part, after) = rest.split_at_checked(len).ok_or(DataError::Short)?;
    *rest = after;
    Ok(part)
}

fn field_len(field: DataField, rest: &[u8]) -> Result<usize, DataError> {
    let after_length = || rest.first().map(|len| 1 + usize::from(*len)).ok_or(DataError::Short);
    Ok(match field {
        DataField::Byte
        | DataField::Algorithm
        | DataField::Digest
        | DataField::Notify
        | DataField::KeyProtocol => 1,
        DataField::Short | DataField::Covered | DataField::CertKind | DataField::KeyFlags => 2,
        DataField::Long | DataField::Period | DataField::Time | DataField::Ip4 => 4,
        DataField::Eui48 => 6,
        DataField::Eui64 | DataField::Locator | DataField::Node => 8,
        DataField::Ip6 => 16,
        DataField::Name | DataField::NameKept => DomainName::at_front(rest)?.0.as_bytes().len(),
        DataField::Text | DataField::Salt => after_length()?,
        DataField::OptionalText if rest.is_empty() => 0,
        DataField::OptionalText => after_length()?,
        DataField::Texts => texts(rest)?,
        DataField::Regexp => expression(rest)?,
        DataField::Tag => tag(rest)?,
        DataField::Hash if rest.first() == Some(&0) => return Err(DataError::Field("a hash of no bytes")),
        DataField::Hash => after_length()?,
        DataField::Base64 | DataField::Hex if rest.is_empty() => return Err(DataError::Short),
        DataField::Nsap | DataField::SomeTypes if rest.is_empty() => return Err(DataError::Short),
        DataField::Base64
        | DataField::Hex
        | DataField::Quoted
        | DataField::Uri
        | DataField::OptionalBase64
        | DataField::OptionalHex
        | DataField::Base64OrHyphen
        | DataField::Nsap => rest.len(),
        DataField::Types | DataField::SomeTypes => bitmap::check(rest)?,
        DataField::Psdn => historic::check_psdn(rest)?,
        DataField::Services => historic::check_services(rest)?,
        DataField::Atm => historic::check_atm(rest)?,
        DataField::AddressSuffix => historic::check_suffix(rest)?,
        DataField::OldTypes => bitmap::check_old(rest)?,
        DataField::Prefixes => prefixes::check(rest)?,
        DataField::Location => location::check(rest)?,
        DataField::Gateway => hosts::gateway_len(rest)?,
        DataField::Relay => hosts::relay_len(rest)?,
        DataField::HostIdentity => hosts::check_identity(rest)?,
        DataField::Parameters => service::check(rest)?,
    })
}

fn texts(all: &[u8]) -> Result<usize, DataError> {
    let mut rest = all;
    loop {
        let len = usize::from(*rest.first().ok_or(DataError::Short)?);
        rest = rest.get(1 + len..).ok_or(DataError::Short)?;
        if rest.is_empty() {
            return Ok(all.len());
        }
    }
}

fn expression(rest: &[u8]) -> Result<usize, DataError> {
    let len = 1 + usize::from(*rest.first().ok_or(DataError::Short)?);
    match regexp::is_substitution(rest.get(1..len).ok_or(DataError::Short)?) {
        true => Ok(len),
        false => Err(DataError::Field(
            "a substitution expression that servers reject: expected none, or one such as !^.*$!x!",
        )),
    }
}

/// Measures a tag. RFC 8659 4.1.
fn tag(rest: &[u8]) -> Result<usize, DataError> {
    let len = 1 + usize::from(*rest.first().ok_or(DataError::Short)?);
    let tag = rest.get(1..len).ok_or(DataError::Short)?;
    match !tag.is_empty() && tag.iter().all(u8::is_ascii_alphanumeric) {
        true => Ok(len),
        false => Err(DataError::Field("a tag that is not of letters and digits")),
    }
}
