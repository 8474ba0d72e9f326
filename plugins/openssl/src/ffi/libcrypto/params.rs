//! Parameters as C passes them: read by name, written by name, or built for a callback.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::fmt;
use std::marker::PhantomData;

use oarlock_ffi::bytes;

use super::abi::{OsslParam, UNMODIFIED, kind};

/// Reads an array of parameters that C lends; null is an empty array.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct ParamReader<'a>(*const OsslParam, PhantomData<&'a OsslParam>);

/// The value of a parameter that may be a number or text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParamWord<'a> {
    Number(i64),
    Text(&'a str),
}

impl fmt::Display for ParamWord<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl<'a> ParamReader<'a> {
    /// Reads an array that C lends.
    ///
    /// # Safety
    /// `params` is null or points at an array that ends with a parameter without name, and that lives as long as `'a`.
    pub(crate) unsafe fn new(params: *const OsslParam) -> Self {
        Self(params, PhantomData)
    }

    /// Returns the parameters with their names. One pass is faster than to look for many names.
    pub(crate) fn iter(self) -> impl Iterator<Item = (&'a CStr, &'a OsslParam)> {
        let mut at = self.0;
        std::iter::from_fn(move || {
            // SAFETY: not behind the array's end, which has no name; the array lives as long as `'a`.
            let param = unsafe { at.as_ref() }.filter(|param| !param.key.is_null())?;
            // SAFETY: `at` is not the end of the array.
            at = unsafe { at.add(1) };
            // SAFETY: names end with a zero byte.
            Some((unsafe { CStr::from_ptr(param.key) }, param))
        })
    }

    /// Returns the value of `name` as text.
    pub(crate) fn text(self, name: &CStr) -> Option<&'a str> {
        self.find(name)?.text()
    }

    /// Returns the value of `name` as bytes.
    pub(crate) fn octets(self, name: &CStr) -> Option<&'a [u8]> {
        self.find(name)?.octets()
    }

    /// Returns the value of `name` as a big-endian unsigned integer of any length.
    pub(crate) fn integer(self, name: &CStr) -> Option<zeroize::Zeroizing<Vec<u8>>> {
        let param = self.find(name).filter(|param| param.kind == kind::UNSIGNED)?;
        let mut big_endian = zeroize::Zeroizing::new(param.data().to_vec());
        if cfg!(target_endian = "little") {
            big_endian.reverse();
        }
        Some(big_endian)
    }

    /// Returns the value of `name` as a number.
    pub(crate) fn number(self, name: &CStr) -> Option<i64> {
        match self.word(name)? {
            ParamWord::Number(number) => Some(number),
            ParamWord::Text(_) => None,
        }
    }

    /// Returns the value of `name`, which callers pass as a number or as text.
    pub(crate) fn word(self, name: &CStr) -> Option<ParamWord<'a>> {
        self.find(name)?.word()
    }

    pub(crate) fn has(self, name: &CStr) -> bool {
        self.find(name).is_some()
    }

    /// True if there is a parameter under another name than these.
    pub(crate) fn has_other_than(self, names: &[&CStr]) -> bool {
        // SAFETY: as for `find`.
        unsafe { !find_by(self.0, |_, name| !names.contains(&name)).is_null() }
    }

    /// Returns the array for a call of C.
    pub(crate) fn as_ptr(self) -> *const OsslParam {
        self.0
    }

    fn find(self, name: &CStr) -> Option<&'a OsslParam> {
        // SAFETY: null, or an array that ends with a parameter without name and lives as long as `'a`: OSSL_PARAM(3).
        unsafe { find_by(self.0, |_, found| found == name).as_ref() }
    }
}

/// Fills in an array of parameters that C asks for; null is an empty array.
#[repr(transparent)]
pub(crate) struct ParamWriter<'a>(*mut OsslParam, PhantomData<&'a mut OsslParam>);

impl ParamWriter<'_> {
    /// Writes a number if `name` is asked for. False if its buffer is too small.
    pub(crate) fn number(&mut self, name: &CStr, value: i64) -> bool {
        let Some(param) = self.find(name) else { return true };
        // OSSL_PARAM(3) allows any width. OpenSSL's own calls ask for four or eight bytes.
        match param.size {
            _ if param.data.is_null() => param.write(&value.to_ne_bytes()),
            8 => param.write(&value.to_ne_bytes()),
            4 => i32::try_from(value).is_ok_and(|value| param.write(&value.to_ne_bytes())),
            _ => false,
        }
    }

    /// Writes text if `name` is asked for. False if its buffer is too small.
    pub(crate) fn text(&mut self, name: &CStr, value: &'static CStr) -> bool {
        let Some(param) = self.find(name) else { return true };
        if param.kind == kind::UTF8_PTR {
            return param.write_pointer(value);
        }
        // A buffer may lack space for the zero byte alone: OSSL_PARAM(3).
        let written = param.write(value.to_bytes_with_nul()) || param.write(value.to_bytes());
        // The zero byte does not count. OSSL_PARAM(3).
        param.returned = value.count_bytes();
        written
    }

    /// Writes bytes if `name` is asked for. False if its buffer is too small.
    pub(crate) fn octets(&mut self, name: &CStr, value: &[u8]) -> bool {
        self.find(name).is_none_or(|param| param.write(value))
    }

    /// Writes an unsigned integer if `name` is asked for. False if its buffer is too small.
    pub(crate) fn integer(&mut self, name: &CStr, big_endian: &[u8]) -> bool {
        let Some(param) = self.find(name) else { return true };
        let width = if param.data.is_null() { big_endian.len() } else { param.size };
        if width < big_endian.len() {
            param.returned = big_endian.len();
            return false;
        }
        // An integer fills its buffer, with zeros above its own bytes. The number may be private, so it is wiped.
        let mut native = zeroize::Zeroizing::new(vec![0; width - big_endian.len()]);
        native.extend_from_slice(big_endian);
        if cfg!(target_endian = "little") {
            native.reverse();
        }
        param.write(&native)
    }

    /// Returns None if `name` is not asked for, and true if it is asked for as text.
    pub(crate) fn wants_text(&mut self, name: &CStr) -> Option<bool> {
        self.find(name).map(|param| matches!(param.kind, kind::UTF8 | kind::UTF8_PTR))
    }

    /// True if `name` is asked for.
    pub(crate) fn wants(&mut self, name: &CStr) -> bool {
        self.find(name).is_some()
    }

    fn find(&mut self, name: &CStr) -> Option<&mut OsslParam> {
        // SAFETY: null, or an array that ends with a parameter without name, lent to this call alone: OSSL_PARAM(3).
        unsafe { find_by(self.0, |_, found| found == name).cast_mut().as_mut() }
    }

    /// True if one of these parameters is asked for and nothing has answered it.
    pub(crate) fn lacks_any_of(&self, names: &[&CStr]) -> bool {
        // SAFETY: as for `find`.
        let found =
            unsafe { find_by(self.0, |param, name| param.returned == UNMODIFIED && names.contains(&name)) };
        !found.is_null()
    }

    /// Returns the array for a call of C.
    pub(crate) fn as_mut_ptr(&mut self) -> *mut OsslParam {
        self.0
    }
}

/// Returns the first parameter that is wanted, by itself and its name, or null.
///
/// # Safety
/// `at` is null or points at an array that ends with a parameter without name.
unsafe fn find_by(
    mut at: *const OsslParam,
    is_wanted: impl Fn(&OsslParam, &CStr) -> bool,
) -> *const OsslParam {
    // SAFETY: not behind the array's end, which has no name and ends the loop.
    while let Some(param) = unsafe { at.as_ref() }.filter(|param| !param.key.is_null()) {
        // SAFETY: names end with a zero byte.
        if is_wanted(param, unsafe { CStr::from_ptr(param.key) }) {
            return at;
        }
        // SAFETY: `at` is not the end of the array.
        at = unsafe { at.add(1) };
    }
    std::ptr::null()
}

impl OsslParam {
    /// Returns the value as text.
    pub(crate) fn text(&self) -> Option<&str> {
        let data = (self.kind == kind::UTF8).then(|| self.data())?;
        // A size may count the zero byte at the end, or not.
        let end = data.iter().position(|byte| *byte == 0).unwrap_or(data.len());
        std::str::from_utf8(&data[..end]).ok()
    }

    /// Returns the value as bytes.
    pub(crate) fn octets(&self) -> Option<&[u8]> {
        (self.kind == kind::OCTETS).then(|| self.data())
    }

    /// Returns the value, which callers pass as a number or as text.
    pub(crate) fn word(&self) -> Option<ParamWord<'_>> {
        match self.kind {
            kind::UTF8 => self.text().map(ParamWord::Text),
            kind::INTEGER | kind::UNSIGNED => self.number().map(ParamWord::Number),
            _ => None,
        }
    }

    /// Returns the bytes of the value.
    fn data(&self) -> &[u8] {
        // SAFETY: a parameter's data has its size: OSSL_PARAM(3).
        unsafe { bytes(self.data.cast(), self.size) }
    }

    /// Reads an integer of any width, as OSSL_PARAM(3) allows. OpenSSL makes integers from text as short as possible.
    fn number(&self) -> Option<i64> {
        // Only sizes, versions and modes are read here. Private numbers go through `integer`, which wipes its copy.
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

    /// Writes the value, or only its length if there is no buffer. False if the buffer is too small.
    fn write(&mut self, value: &[u8]) -> bool {
        self.returned = value.len();
        // SAFETY: a parameter's data has its size: OSSL_PARAM(3).
        self.data.is_null() || unsafe { oarlock_ffi::copy_out(value, self.data.cast(), self.size) }
    }

    fn write_pointer(&mut self, value: &'static CStr) -> bool {
        self.returned = value.count_bytes();
        let target = self.data.cast::<*const c_char>();
        if !target.is_null() {
            // SAFETY: the data of such a parameter is a buffer for a pointer: OSSL_PARAM(3).
            unsafe { target.write(value.as_ptr()) };
        }
        true
    }
}

/// Parameters for a callback. The list owns the values and zeroizes them.
#[derive(Default)]
pub(crate) struct ParamList {
    values: Vec<(&'static CStr, c_uint, zeroize::Zeroizing<Vec<u8>>)>,
}

/// `OSSL_CALLBACK`.
pub(crate) type Callback = unsafe extern "C" fn(*const OsslParam, *mut c_void) -> c_int;

impl ParamList {
    pub(crate) fn text(&mut self, name: &'static CStr, value: &str) -> &mut Self {
        // Readers expect a C string, whose size does not count the zero byte at its end.
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

    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Passes the parameters to a callback. False if there is no callback or it fails.
    pub(crate) fn pass_to(&mut self, callback: Option<Callback>, argument: *mut c_void) -> bool {
        // The callback copies what it needs, and the values are wiped when this list is dropped.
        // SAFETY: the array ends with a parameter without name, and lives as long as the call.
        callback
            .is_some_and(|callback| self.with(|params| unsafe { callback(params.as_ptr(), argument) } == 1))
    }

    /// Lends the parameters as an array of C.
    pub(crate) fn with<T>(&mut self, read: impl FnOnce(ParamReader<'_>) -> T) -> T {
        let mut params: Vec<OsslParam> = self
            .values
            .iter_mut()
            .map(|(name, kind, value)| OsslParam {
                key: name.as_ptr(),
                kind: *kind,
                data: value.as_mut_ptr().cast(),
                size: value.len() - usize::from(*kind == kind::UTF8),
                returned: UNMODIFIED,
            })
            .collect();
        params.push(OsslParam::END);
        read(ParamReader(params.as_ptr(), PhantomData))
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
            OsslParam {
                key: c"n".as_ptr(),
                kind,
                data: data.as_mut_ptr().cast(),
                size: data.len(),
                returned: 0,
            },
            OsslParam::END,
        ];
        ParamReader(params.as_mut_ptr(), PhantomData).number(c"n")
    }

    #[test]
    fn reads_numbers_of_every_width() {
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
    fn rejects_values_that_do_not_fit_a_number() {
        assert_eq!(number(kind::UNSIGNED, &[0xFF; 8]), None);
        assert_eq!(number(kind::UNSIGNED, &[0, 0, 0, 0, 0, 0, 0, 0, 1]), None);
        assert_eq!(number(kind::INTEGER, &[0, 0, 0, 0, 0, 0, 0, 0x80, 0]), None);
        assert_eq!(number(kind::UTF8, b"12"), None);
    }
}
