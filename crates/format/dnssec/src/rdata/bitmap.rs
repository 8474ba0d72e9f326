//! Sets of types as bits. RFC 4034 4.1.2, RFC 2535 5.2.

use smallvec::SmallVec;

use super::parse::TYPE;
use crate::data_error::DataError;
use crate::rtype::RecordType;
use crate::text::entries::EntryWords;
use crate::text::{EntryError, Read};

/// Reads types up to the entry's end into windows of bits.
pub(super) fn parse(words: &mut EntryWords<'_>, out: &mut Vec<u8>) -> Read<()> {
    // Nearly all types are below 256, so the first window needs no list and no sort.
    let (mut first, mut last) = ([0_u8; 32], 0);
    let mut others = SmallVec::<[u16; 8]>::new();
    while let Some(word) = words.next()? {
        let rtype = word.record_type().ok_or_else(|| EntryError::word(word, TYPE))?;
        match u8::try_from(rtype.0) {
            Ok(low) => {
                first[usize::from(low / 8)] |= 0x80 >> (low % 8);
                last = last.max(1 + usize::from(low / 8));
            }
            Err(_) => others.push(rtype.0),
        }
    }
    write_window(0, &first[..last], out);
    others.sort_unstable();
    for types in others.chunk_by(|one, two| one >> 8 == two >> 8) {
        let mut bits = [0; 32];
        for rtype in types {
            let low = rtype & 0xff;
            bits[usize::from(low / 8)] |= 0x80 >> (low % 8);
        }
        let last = 1 + usize::from(types[types.len() - 1] as u8 / 8);
        write_window((types[0] >> 8) as u8, &bits[..last], out);
    }
    Ok(())
}

fn write_window(window: u8, bits: &[u8], out: &mut Vec<u8>) {
    if !bits.is_empty() {
        out.extend_from_slice(&[window, bits.len() as u8]);
        out.extend_from_slice(bits);
    }
}

/// Checks that windows ascend and do not end in zero, and returns their length.
pub(super) fn check(all: &[u8]) -> Result<usize, DataError> {
    let mut rest = all;
    let mut before = None;
    while let [window, len, after @ ..] = rest {
        let bits = after.get(..usize::from(*len)).ok_or(DataError::Short)?;
        let is_whole = (1..=32).contains(len) && bits.last() != Some(&0);
        if !is_whole || before.is_some_and(|before| before >= *window) {
            return Err(DataError::Field("windows of types that are empty, too long or not in order"));
        }
        before = Some(*window);
        rest = &after[bits.len()..];
    }
    if rest.is_empty() { Ok(all.len()) } else { Err(DataError::Short) }
}

/// Calls `each` with the types of checked windows.
pub(super) fn types(all: &[u8], mut each: impl FnMut(RecordType)) {
    let mut rest = all;
    while let [window, len, after @ ..] = rest {
        let (bits, after) = after.split_at(usize::from(*len));
        bits_of(bits, |low| each(RecordType(u16::from(*window) << 8 | low)));
        rest = after;
    }
}

fn bits_of(bits: &[u8], mut each: impl FnMut(u16)) {
    for (index, byte) in bits.iter().enumerate() {
        let mut left = *byte;
        while left != 0 {
            let bit = left.leading_zeros();
            each(8 * index as u16 + bit as u16);
            left &= !(0x80 >> bit);
        }
    }
}

/// Reads types below 128 up to the entry's end.
pub(super) fn parse_old(words: &mut EntryWords<'_>, out: &mut Vec<u8>) -> Read<()> {
    let mut bits = [0_u8; 16];
    while let Some(word) = words.next()? {
        let low = word.record_type().map(|rtype| rtype.0).filter(|number| (1..128).contains(number));
        let low = low.ok_or_else(|| EntryError::word(word, "a type below 128"))?;
        bits[usize::from(low / 8)] |= 0x80 >> (low % 8);
    }
    let len = 16 - bits.iter().rev().take_while(|byte| **byte == 0).count();
    out.extend_from_slice(&bits[..len]);
    Ok(())
}

pub(super) fn check_old(bits: &[u8]) -> Result<usize, DataError> {
    // RFC 2535 5.2: if bit 0 is set, the bits have another format, which was never defined.
    let is_good = bits.len() <= 16 && bits.last() != Some(&0) && bits.first().is_none_or(|byte| *byte < 0x80);
    if is_good {
        Ok(bits.len())
    } else {
        Err(DataError::Field("types that are not below 128, or zeros behind them"))
    }
}

/// Calls `each` with the types of checked bits.
pub(super) fn old_types(bits: &[u8], mut each: impl FnMut(RecordType)) {
    bits_of(bits, |low| each(RecordType(low)));
}
