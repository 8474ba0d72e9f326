//! The data of records: parsed, printed, checked and brought into canonical form.
//!
//! | module | content |
//! |---|---|
//! | `fields` | the fields of each type's data |
//! | `parse` | text into wire format, field by field |
//! | [`canonical`] | data in wire format, checked, with names in lower case if the type requires that |
//! | `print` | wire format into text |
//! | `codec` | hex, base32hex, base64 and quoted strings |
//! | `bitmap`, `time`, `mnemonics` | types as bits, points in time, numbers with names |
//! | `lengths` | lengths that depend on a number in the data |
//! | `location`, `prefixes`, `hosts`, `service` | LOC; APL; IPSECKEY, AMTRELAY and HIP; SVCB and HTTPS |
//! | `dohpath`, `regexp` | path templates of SVCB; expressions of NAPTR |
//! | `historic` | WKS, X25, ATMA and A6 |

mod bitmap;
mod codec;
mod dohpath;
mod fields;
mod historic;
mod hosts;
mod lengths;
mod location;
mod mnemonics;
mod parse;
mod prefixes;
mod print;
mod regexp;
mod service;
mod time;
mod wire;

pub(crate) use self::codec::unescape_into;
pub(crate) use self::hosts::has_gateway_key;
pub(crate) use self::parse::parse;
pub use self::print::print;
pub(crate) use self::print::{digits, mnemonic, name, number_of, print_generic};
pub use self::time::parse_time;
pub use self::wire::canonical;
pub use crate::data_error::DataError;

/// Appends a point in time, in seconds since 1970, as human readers know it: `Mon Nov 30 20:44:25 2026`, in UTC.
pub(crate) fn write_date(seconds: u32, out: &mut Vec<u8>) {
    time::print_date(seconds, out);
}

/// Appends a point in time, in seconds since 1970, in the form of signatures: `YYYYMMDDHHmmSS` in UTC. RFC 4034 3.2.
pub fn write_time(seconds: u32, out: &mut Vec<u8>) {
    time::print(seconds, out);
}
