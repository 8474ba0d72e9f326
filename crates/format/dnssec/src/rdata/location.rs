//! Locations on Earth. RFC 1876.

use crate::data_error::DataError;
use crate::text::entries::EntryWords;
use crate::text::word::digits;
use crate::text::{EntryError, Read};

/// The value of latitude and longitude zero, in thousandths of a second of arc. RFC 1876 section 2.
const EQUATOR: u32 = 1 << 31;
const DEGREE: u32 = 3_600_000;
/// The altitude of value zero, 100 km below sea level, in centimetres.
const SEA_LEVEL: i64 = 10_000_000;
/// The default size, horizontal precision and vertical precision: 1 m, 10 km, 10 m.
const DEFAULTS: [u8; 3] = [0x12, 0x16, 0x13];

/// 90,000 km in centimetres: the largest digit with the largest power of ten.
const MAX_SIZE: u64 = 9_000_000_000;
const ALTITUDE: &str = "an altitude from -100000.00m to 42849672.95m";
const SIZE: &str = "a size or precision from 0.00m to 90000000.00m";

pub(super) fn parse(words: &mut EntryWords<'_>, out: &mut Vec<u8>) -> Read<()> {
    let latitude = angle(words, 90, b'N', b'S')?;
    let longitude = angle(words, 180, b'E', b'W')?;
    let word = words.require("an altitude")?;
    let altitude = centimetres(word.bytes()).and_then(|value| u32::try_from(value + SEA_LEVEL).ok());
    let altitude = altitude.ok_or_else(|| EntryError::word(word, ALTITUDE))?;
    // RFC 1876 section 3: the three sizes are optional, and each may be omitted only with those after it.
    let mut sizes = DEFAULTS;
    for size in &mut sizes {
        let Some(word) = words.next()? else { break };
        let value = centimetres(word.bytes()).and_then(power);
        *size = value.ok_or_else(|| EntryError::word(word, SIZE))?;
    }
    out.push(0);
    out.extend_from_slice(&sizes);
    for value in [latitude, longitude, altitude] {
        out.extend_from_slice(&value.to_be_bytes());
    }
    Ok(())
}

/// Reads degrees, optional minutes and seconds, and a direction.
fn angle(words: &mut EntryWords<'_>, max: u32, positive: u8, negative: u8) -> Read<u32> {
    const EXPECTED: &str = "degrees, minutes and seconds, and a direction (N, S, E or W)";
    let mut value = 0;
    // The last turn, with unit 0, accepts the direction only.
    for unit in [DEGREE, 60_000, 1000, 0] {
        let word = words.require(EXPECTED)?;
        if let ([letter], true) = (word.bytes(), unit < DEGREE)
            && (*letter == positive || *letter == negative)
        {
            // 90 degrees and one minute pass the checks of the parts, but not this one.
            let is_good = value <= max * DEGREE;
            let angle =
                if *letter == positive { EQUATOR.wrapping_add(value) } else { EQUATOR.wrapping_sub(value) };
            return if is_good { Ok(angle) } else { Err(EntryError::word(word, EXPECTED)) };
        }
        let part = match unit {
            DEGREE => digits(word.bytes()).filter(|part| *part <= max).map(|part| part * DEGREE),
            60_000 => digits(word.bytes()).filter(|part| *part < 60).map(|part| part * 60_000),
            1000 => decimal(word.bytes(), 3).filter(|part| *part < 60_000).map(|part| part as u32),
            _ => None,
        };
        value += part.ok_or_else(|| EntryError::word(word, EXPECTED))?;
    }
    Err(EntryError::Missing(EXPECTED).into())
}

/// Parses a number with up to `max_digits` digits after the dot, in units of the last decimal.
fn decimal(text: &[u8], max_digits: usize) -> Option<u64> {
    let dot = text.iter().position(|byte| *byte == b'.').unwrap_or(text.len());
    let (whole, fraction) = (digits(&text[..dot])?, text.get(dot + 1..).unwrap_or_default());
    if fraction.len() > max_digits {
        return None;
    }
    let unit = 10_u64.pow(max_digits as u32);
    let scale = 10_u64.pow((max_digits - fraction.len()) as u32);
    let fraction = if fraction.is_empty() { 0 } else { digits(fraction)? };
    Some(u64::from(whole) * unit + u64::from(fraction) * scale)
}

fn centimetres(text: &[u8]) -> Option<i64> {
    let text = text.strip_suffix(b"m").unwrap_or(text);
    let (sign, text) = text.strip_prefix(b"-").map_or((1, text), |text| (-1, text));
    Some(sign * decimal(text, 2)? as i64)
}

/// Encodes a digit and a power of ten in four bits each. Lower digits are cut off.
fn power(centimetres: i64) -> Option<u8> {
    let mut mantissa = u64::try_from(centimetres).ok().filter(|size| *size <= MAX_SIZE)?;
    let mut exponent = 0;
    while mantissa > 9 {
        mantissa /= 10;
        exponent += 1;
    }
    Some((mantissa as u8) << 4 | exponent)
}

pub(super) fn check(rest: &[u8]) -> Result<usize, DataError> {
    let location: &[u8; 16] = rest.first_chunk().ok_or(DataError::Short)?;
    let [version, sizes @ .., _, _, _, _, _, _, _, _, _, _, _, _] = location;
    // Only zero itself has the mantissa 0. RFC 1876 section 2 leaves other encodings of zero undefined.
    let are_powers = sizes.iter().all(|size| *size == 0 || (1..=9).contains(&(size >> 4)) && size & 15 <= 9);
    let [latitude, longitude, _] = angles(location);
    let is_good = latitude.abs_diff(EQUATOR) <= 90 * DEGREE && longitude.abs_diff(EQUATOR) <= 180 * DEGREE;
    if *version != 0 || !are_powers || !is_good {
        return Err(DataError::Field("a location of another version, or beyond its bounds"));
    }
    Ok(16)
}

fn angles(location: &[u8; 16]) -> [u32; 3] {
    [4, 8, 12]
        .map(|at| u32::from_be_bytes([location[at], location[at + 1], location[at + 2], location[at + 3]]))
}

pub(super) fn print(location: &[u8], out: &mut Vec<u8>) {
    let Some(location) = location.first_chunk::<16>() else { return };
    let [latitude, longitude, altitude] = angles(location);
    print_angle(latitude, b'N', b'S', out);
    print_angle(longitude, b'E', b'W', out);
    print_metres(i64::from(altitude) - SEA_LEVEL, out);
    for size in &location[1..4] {
        out.push(b' ');
        print_metres(i64::from(size >> 4) * 10_i64.pow(u32::from(size & 15)), out);
    }
}

fn print_angle(angle: u32, positive: u8, negative: u8, out: &mut Vec<u8>) {
    let value = angle.abs_diff(EQUATOR);
    let letter = char::from(if angle >= EQUATOR { positive } else { negative });
    let (degrees, minutes) = (value / DEGREE, value / 60_000 % 60);
    let (seconds, thousandths) = (value / 1000 % 60, value % 1000);
    let text = format!("{degrees} {minutes} {seconds}.{thousandths:03} {letter} ");
    out.extend_from_slice(text.as_bytes());
}

fn print_metres(centimetres: i64, out: &mut Vec<u8>) {
    let sign = if centimetres < 0 { "-" } else { "" };
    let value = centimetres.unsigned_abs();
    out.extend_from_slice(format!("{sign}{}.{:02}m", value / 100, value % 100).as_bytes());
}
