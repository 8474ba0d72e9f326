//! Data in wire format: split into fields, checked, made canonical.

use super::fields::{Field, fields};
use super::{bitmap, historic, hosts, lengths, location, prefixes, regexp, service};
use crate::name::{Name, NameError};
use crate::rtype::Type;

/// Why bytes are no data of their type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DataError {
    /// They end within a field.
    #[error("data that end too soon")]
    Short,
    /// There are more than the type has.
    #[error("{0} bytes more than the type has")]
    Long(usize),
    /// A name that is none.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A digest, fingerprint or the like of another length than its kind has.
    #[error("the length of {what} is {found}: {expected} are allowed")]
    Length {
        /// The field.
        what: &'static str,
        /// The length that its kind has.
        expected: &'static str,
        /// The length that is there.
        found: usize,
    },
    /// A field that is not as it must be.
    #[error("{0}")]
    Field(&'static str),
}

/// Appends data of a type in canonical form: checked, and names in small letters where the type wants that (RFC 4034 6.2, RFC 6840
/// 5.1). Data of types that are not known are taken as they are.
///
/// # Errors
/// What makes them no data of the type. Some bytes may have been appended.
pub fn canonical(rtype: Type, data: &[u8], out: &mut Vec<u8>) -> Result<(), DataError> {
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
            // Lengths are at most 63, and so no letters.
            Field::Name => out[start..].make_ascii_lowercase(),
            Field::AddressSuffix => historic::prefix_name(&mut out[start..]).make_ascii_lowercase(),
            _ => {}
        }
    }
    if !rest.is_empty() {
        return Err(DataError::Long(rest.len()));
    }
    lengths::check(rtype, data)
}

/// Takes a field off the front.
pub(super) fn take<'d>(field: Field, rest: &mut &'d [u8]) -> Result<&'d [u8], DataError> {
    let len = field_len(field, rest)?;
    let (part, after) = rest.split_at_checked(len).ok_or(DataError::Short)?;
    *rest = after;
    Ok(part)
}

fn field_len(field: Field, rest: &[u8]) -> Result<usize, DataError> {
    let after_length = || rest.first().map(|len| 1 + usize::from(*len)).ok_or(DataError::Short);
    Ok(match field {
        Field::Byte | Field::Algorithm | Field::Digest | Field::Notify | Field::KeyProtocol => 1,
        Field::Short | Field::Covered | Field::CertKind | Field::KeyFlags => 2,
        Field::Long | Field::Period | Field::Time | Field::Ip4 => 4,
        Field::Eui48 => 6,
        Field::Eui64 | Field::Locator | Field::Node => 8,
        Field::Ip6 => 16,
        Field::Name | Field::NameKept => Name::at_front(rest)?.0.as_bytes().len(),
        Field::Text | Field::Salt => after_length()?,
        Field::OptionalText if rest.is_empty() => 0,
        Field::OptionalText => after_length()?,
        Field::Texts => texts(rest)?,
        Field::Regexp => expression(rest)?,
        Field::Tag => tag(rest)?,
        Field::Hash if rest.first() == Some(&0) => return Err(DataError::Field("a hash of no bytes")),
        Field::Hash => after_length()?,
        Field::Base64 | Field::Hex if rest.is_empty() => return Err(DataError::Short),
        Field::Nsap | Field::SomeTypes if rest.is_empty() => return Err(DataError::Short),
        Field::Base64
        | Field::Hex
        | Field::Quoted
        | Field::Uri
        | Field::OptionalBase64
        | Field::OptionalHex
        | Field::Base64OrHyphen
        | Field::Nsap => rest.len(),
        Field::Types | Field::SomeTypes => bitmap::check(rest)?,
        Field::Psdn => historic::check_psdn(rest)?,
        Field::Services => historic::check_services(rest)?,
        Field::Atm => historic::check_atm(rest)?,
        Field::AddressSuffix => historic::check_suffix(rest)?,
        Field::OldTypes => bitmap::check_old(rest)?,
        Field::Prefixes => prefixes::check(rest)?,
        Field::Location => location::check(rest)?,
        Field::Gateway => hosts::gateway_len(rest)?,
        Field::Relay => hosts::relay_len(rest)?,
        Field::HostIdentity => hosts::check_identity(rest)?,
        Field::Parameters => service::check(rest)?,
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
            "a substitution expression that no server takes: expected none, or one such as !^.*$!x!",
        )),
    }
}

/// RFC 8659 4.1.
fn tag(rest: &[u8]) -> Result<usize, DataError> {
    let len = 1 + usize::from(*rest.first().ok_or(DataError::Short)?);
    let tag = rest.get(1..len).ok_or(DataError::Short)?;
    match !tag.is_empty() && tag.iter().all(u8::is_ascii_alphanumeric) {
        true => Ok(len),
        false => Err(DataError::Field("a tag that is not of letters and digits")),
    }
}
