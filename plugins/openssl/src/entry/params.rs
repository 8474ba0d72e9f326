//! Parameters as C passes them: read by name, written by name, or made for a callback.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::fmt;
use std::marker::PhantomData;

use oarlock_ffi::bytes;

use super::abi::{Param, UNMODIFIED, kind};

/// Parameters that C lends, null for none.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct Params<'a>(*const Param, PhantomData<&'a Param>);

/// A whole number as a parameter or as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word<'a> {
    Number(i64),
    Text(&'a str),
}

impl fmt::Display for Word<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl<'a> Params<'a> {
    /// The value under `name` as text.
    pub(crate) fn text(self, name: &CStr) -> Option<&'a str> {
        let param = self.find(name)?;
        if param.kind != kind::UTF8 {
            return None;
        }
        let data = param.data();
        // A size may count the zero byte at the end, or not.
        let end = data.iter().position(|byte| *byte == 0).unwrap_or(data.len());
        std::str::from_utf8(&data[..end]).ok()
    }

    /// The value under `name` as bytes.
    pub(crate) fn octets(self, name: &CStr) -> Option<&'a [u8]> {
        self.find(name).filter(|param| param.kind == kind::OCTETS).map(Param::data)
    }

    /// The value under `name` as an unsigned integer of any length, big-endian.
    pub(crate) fn integer(self, name: &CStr) -> Option<zeroize::Zeroizing<Vec<u8>>> {
        let param = self.find(name).filter(|param| param.kind == kind::UNSIGNED)?;
        let mut big_endian = zeroize::Zeroizing::new(param.data().to_vec());
        if cfg!(target_endian = "little") {
            big_endian.reverse();
        }
        Some(big_endian)
    }

    /// The value under `name` as a number.
    pub(crate) fn number(self, name: &CStr) -> Option<i64> {
        match self.word(name)? {
            Word::Number(number) => Some(number),
            Word::Text(_) => None,
        }
    }

    /// The value under `name`, which callers give as a number or as text.
    pub(crate) fn word(self, name: &CStr) -> Option<Word<'a>> {
        let param = self.find(name)?;
        match param.kind {
            kind::UTF8 => self.text(name).map(Word::Text),
            kind::INTEGER | kind::UNSIGNED => param.number().map(Word::Number),
            _ => None,
        }
    }

    pub(crate) fn has(self, name: &CStr) -> bool {
        self.find(name).is_some()
    }

    fn find(self, name: &CStr) -> Option<&'a Param> {
        // SAFETY: null, or an array that ends with a parameter without name and lives as long as `'a`: OSSL_PARAM(3).
        unsafe { find(self.0, name).as_ref() }
    }
}

/// Parameters that C wants filled in, null for none.
#[repr(transparent)]
pub(crate) struct Wanted<'a>(*mut Param, PhantomData<&'a mut Param>);

impl Wanted<'_> {
    /// Fills in a number where `name` is asked for. False where it has no room.
    pub(crate) fn number(&mut self, name: &CStr, value: i64) -> bool {
        let Some(param) = self.find(name) else { return true };
        match param.size {
            _ if param.data.is_null() => param.write(&value.to_ne_bytes()),
            8 => param.write(&value.to_ne_bytes()),
            4 => i32::try_from(value).is_ok_and(|value| param.write(&value.to_ne_bytes())),
            _ => false,
        }
    }

    /// Fills in text where `name` is asked for. False where it has no room.
    pub(crate) fn text(&mut self, name: &CStr, value: &'static CStr) -> bool {
        let Some(param) = self.find(name) else { return true };
        if param.kind == kind::UTF8_PTR {
            return param.write_pointer(value);
        }
        let written = param.write(value.to_bytes_with_nul()) || param.write(value.to_bytes());
        // The zero byte does not count. OSSL_PARAM(3).
        param.returned = value.count_bytes();
        written
    }

    /// Fills in bytes where `name` is asked for. False where they have no room.
    pub(crate) fn octets(&mut self, name: &CStr, value: &[u8]) -> bool {
        self.find(name).is_none_or(|param| param.write(value))
    }

    /// Fills in an unsigned integer where `name` is asked for. False where it has no room.
    pub(crate) fn integer(&mut self, name: &CStr, big_endian: &[u8]) -> bool {
        let Some(param) = self.find(name) else { return true };
        let width = if param.data.is_null() { big_endian.len() } else { param.size };
        if width < big_endian.len() {
            param.returned = big_endian.len();
            return false;
        }
        let mut native = zeroize::Zeroizing::new(vec![0; width - big_endian.len()]);
        native.extend_from_slice(big_endian);
        if cfg!(target_endian = "little") {
            native.reverse();
        }
        param.write(&native)
    }

    /// Whether `name` is asked for, and whether as text.
    pub(crate) fn wants_text(&mut self, name: &CStr) -> Option<bool> {
        self.find(name).map(|param| matches!(param.kind, kind::UTF8 | kind::UTF8_PTR))
    }

    fn find(&mut self, name: &CStr) -> Option<&mut Param> {
        // SAFETY: null, or an array that ends with a parameter without name, lent to this call alone: OSSL_PARAM(3).
        unsafe { find(self.0, name).cast_mut().as_mut() }
    }
}

/// The parameter of this name, or null.
///
/// # Safety
/// `at` is null or points at an array that ends with a parameter without name.
unsafe fn find(mut at: *const Param, name: &CStr) -> *const Param {
    if at.is_null() {
        return at;
    }
    loop {
        // SAFETY: not behind the array's end, which has no name and ends the loop.
        let key = unsafe { (*at).key };
        if key.is_null() {
            return std::ptr::null();
        }
        // SAFETY: names end with a zero byte.
        if unsafe { CStr::from_ptr(key) } == name {
            return at;
        }
        // SAFETY: `at` is not the end of the array.
        at = unsafe { at.add(1) };
    }
}

impl Param {
    /// The bytes of the value.
    fn data(&self) -> &[u8] {
        // SAFETY: a parameter's data has its size: OSSL_PARAM(3).
        unsafe { bytes(self.data.cast(), self.size) }
    }

    /// A whole number of any width, as OSSL_PARAM(3) allows: those made from text are as short as they can be.
    fn number(&self) -> Option<i64> {
        let mut little_endian = self.data().to_vec();
        if cfg!(target_endian = "big") {
            little_endian.reverse();
        }
        let (kept, above) = little_endian.split_at(little_endian.len().min(8));
        let is_negative =
            self.kind == kind::INTEGER && little_endian.last().is_some_and(|byte| byte & 0x80 != 0);
        let filler = if is_negative { 0xFF } else { 0 };
        if !matches!(self.kind, kind::INTEGER | kind::UNSIGNED) || above.iter().any(|byte| *byte != filler) {
            return None;
        }
        let mut wide = [filler; 8];
        wide[..kept.len()].copy_from_slice(kept);
        let number = i64::from_le_bytes(wide);
        ((number < 0) == is_negative).then_some(number)
    }

    /// Writes the value, or says how long it is where there is no place for it. False where the place is too small.
    fn write(&mut self, value: &[u8]) -> bool {
        self.returned = value.len();
        // SAFETY: a parameter's data has its size: OSSL_PARAM(3).
        self.data.is_null() || unsafe { oarlock_ffi::copy_out(value, self.data.cast(), self.size) }
    }

    fn write_pointer(&mut self, value: &'static CStr) -> bool {
        self.returned = value.count_bytes();
        let place = self.data.cast::<*const c_char>();
        if !place.is_null() {
            // SAFETY: the data of such a parameter is a place for a pointer: OSSL_PARAM(3).
            unsafe { place.write(value.as_ptr()) };
        }
        true
    }
}

/// Parameters made for a callback; values live here, and are zeroized.
#[derive(Default)]
pub(crate) struct Made {
    values: Vec<(&'static CStr, c_uint, zeroize::Zeroizing<Vec<u8>>)>,
}

/// `OSSL_CALLBACK`.
pub(super) type Callback = unsafe extern "C" fn(*const Param, *mut c_void) -> c_int;

impl Made {
    pub(crate) fn text(&mut self, name: &'static CStr, value: &str) -> &mut Self {
        // Readers take it for a C string, whose end its size does not count.
        self.push(name, kind::UTF8, [value.as_bytes(), &[0]].concat())
    }

    pub(crate) fn octets(&mut self, name: &'static CStr, value: &[u8]) -> &mut Self {
        self.push(name, kind::OCTETS, value.to_vec())
    }

    pub(crate) fn number(&mut self, name: &'static CStr, value: c_int) -> &mut Self {
        self.push(name, kind::INTEGER, value.to_ne_bytes().to_vec())
    }

    pub(crate) fn integer(&mut self, name: &'static CStr, big_endian: &[u8]) -> &mut Self {
        let mut native = big_endian.to_vec();
        if cfg!(target_endian = "little") {
            native.reverse();
        }
        self.push(name, kind::UNSIGNED, native)
    }

    fn push(&mut self, name: &'static CStr, kind: c_uint, value: Vec<u8>) -> &mut Self {
        self.values.push((name, kind, value.into()));
        self
    }

    /// Calls back with the parameters; false where there is no callback or it says no.
    pub(super) fn give(&mut self, callback: Option<Callback>, argument: *mut c_void) -> bool {
        let mut params: Vec<Param> = self
            .values
            .iter_mut()
            .map(|(name, kind, value)| Param {
                key: name.as_ptr(),
                kind: *kind,
                data: value.as_mut_ptr().cast(),
                size: value.len() - usize::from(*kind == kind::UTF8),
                returned: UNMODIFIED,
            })
            .collect();
        params.push(Param::END);
        // SAFETY: the array ends with a parameter without name, and lives as long as the call: OSSL_CALLBACK(3).
        callback.is_some_and(|callback| unsafe { callback(params.as_ptr(), argument) } == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(kind: c_uint, bytes: &[u8]) -> Option<i64> {
        let mut data = bytes.to_vec();
        if cfg!(target_endian = "big") {
            data.reverse();
        }
        let mut params = [
            Param { key: c"n".as_ptr(), kind, data: data.as_mut_ptr().cast(), size: data.len(), returned: 0 },
            Param::END,
        ];
        Params(params.as_mut_ptr(), PhantomData).number(c"n")
    }

    #[test]
    fn numbers_of_every_width_are_read() {
        assert_eq!(number(kind::UNSIGNED, &[8, 8]), Some(2056));
        assert_eq!(number(kind::UNSIGNED, &[0xFF]), Some(255));
        assert_eq!(number(kind::UNSIGNED, &[0xFF; 4]), Some(0xFFFF_FFFF));
        assert_eq!(number(kind::UNSIGNED, &[1, 0, 0, 0, 0, 0, 0, 0, 0, 0]), Some(1));
        assert_eq!(number(kind::INTEGER, &[0xFE]), Some(-2));
        assert_eq!(number(kind::INTEGER, &[0xFE, 0xFF, 0xFF, 0xFF]), Some(-2));
        assert_eq!(number(kind::INTEGER, &[0xFF; 12]), Some(-1));
        assert_eq!(number(kind::INTEGER, &[0x7F, 0, 0, 0, 0, 0, 0, 0]), Some(127));
        assert_eq!(number(kind::UNSIGNED, &[]), Some(0));
    }

    #[test]
    fn what_fits_no_number_is_none() {
        assert_eq!(number(kind::UNSIGNED, &[0xFF; 8]), None);
        assert_eq!(number(kind::UNSIGNED, &[0, 0, 0, 0, 0, 0, 0, 0, 1]), None);
        assert_eq!(number(kind::INTEGER, &[0, 0, 0, 0, 0, 0, 0, 0x80, 0]), None);
        assert_eq!(number(kind::UTF8, b"12"), None);
    }
}
