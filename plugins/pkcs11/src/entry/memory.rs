//! The memory of the caller: slices, structures, outputs and templates.

use std::marker::PhantomData;
use std::ops::Deref;

use cryptoki_sys::{CK_ATTRIBUTE, CK_ULONG};
use oarlock_cryptoki::{AttributeQuery, AttributeType, CallOutput, ReturnCode, TemplateEntry};
use zeroize::Zeroizing;

/// The memory that the caller lends for one call.
///
/// Its methods check what can be checked: null pointers, lengths that no memory has, and overlaps. The maker of one
/// promises the rest.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallerMemory<'c>(PhantomData<&'c mut [u8]>);

/// `CK_UNAVAILABLE_INFORMATION`.
pub(super) const UNAVAILABLE: CK_ULONG = CK_ULONG::MAX;

/// An input of a call. One that the output overlaps is a copy.
#[derive(Debug)]
pub(super) enum CallInput<'c> {
    Lent(&'c [u8]),
    Copied(Zeroizing<Vec<u8>>),
}

/// The maximum number of entries of a list. A larger number is a length that was never set.
const MAX_ENTRIES: usize = 1 << 20;

/// The maximum length of memory: that of all addresses of a process. Nothing of a greater length is read or copied.
const MAX_LEN: usize = if usize::BITS > 47 { 1 << 47 } else { isize::MAX as usize };

/// The maximum length of an attribute's value. No key, certificate or text comes near it, and a length that was never
/// set would lead far out of the caller's memory.
const MAX_VALUE_LEN: CK_ULONG = 1 << 24;

impl<'c> CallerMemory<'c> {
    /// Makes the memory of one call.
    ///
    /// # Safety
    /// Every pointer that is passed to a method during `'c` comes from the caller of a PKCS#11 function. If it is not
    /// null, the length beside it says how many bytes or elements may be read there, or written if the function writes
    /// there. Nobody else writes there during `'c`.
    pub(super) unsafe fn trust() -> Self {
        Self(PhantomData)
    }

    /// Returns bytes. A null pointer is allowed without a length.
    ///
    /// # Errors
    /// [`ReturnCode::ArgumentsBad`] for a null pointer with a length, and for a length that no memory has.
    pub(super) fn bytes(self, data: *const u8, len: CK_ULONG) -> Result<&'c [u8], ReturnCode> {
        Ok(self.bytes_or_null(data, len)?.unwrap_or_default())
    }

    /// Returns bytes, or `None` for a null pointer.
    ///
    /// # Errors
    /// As [`bytes`](Self::bytes).
    pub(super) fn bytes_or_null(
        self,
        data: *const u8,
        len: CK_ULONG,
    ) -> Result<Option<&'c [u8]>, ReturnCode> {
        if data.is_null() {
            return if len == 0 { Ok(None) } else { Err(ReturnCode::ArgumentsBad) };
        }
        let len = memory_len(len, 1)?;
        check_end(data as usize, len)?;
        // SAFETY: not null, not longer than memory can be, and readable during 'c, as the maker promises.
        Ok(Some(unsafe { std::slice::from_raw_parts(data, len) }))
    }

    /// Returns a list of elements, copied: C does not promise their alignment.
    ///
    /// # Errors
    /// As [`bytes`](Self::bytes).
    pub(super) fn list<T: Copy>(self, data: *const T, count: CK_ULONG) -> Result<Vec<T>, ReturnCode> {
        if data.is_null() {
            return if count == 0 { Ok(Vec::new()) } else { Err(ReturnCode::ArgumentsBad) };
        }
        self.long_list(data, entries(count)? as CK_ULONG)
    }

    /// Returns a list of elements without a limit of their number, which the caller has checked.
    ///
    /// # Errors
    /// [`ReturnCode::ArgumentsBad`] for a null pointer, and for a length that no memory has.
    pub(super) fn long_list<T: Copy>(self, data: *const T, count: CK_ULONG) -> Result<Vec<T>, ReturnCode> {
        let len = memory_len(count, size_of::<T>())?;
        check_end(data as usize, len)?;
        if data.is_null() {
            return Err(ReturnCode::ArgumentsBad);
        }
        let elements = (0..len / size_of::<T>()).map(|index| {
            // SAFETY: inside of the list, which is not null and readable, as the maker promises.
            unsafe { data.wrapping_add(index).read_unaligned() }
        });
        Ok(elements.collect())
    }

    /// Returns a structure.
    ///
    /// # Errors
    /// [`ReturnCode::ArgumentsBad`] for a null pointer.
    pub(super) fn read<T: Copy>(self, data: *const T) -> Result<T, ReturnCode> {
        if data.is_null() {
            return Err(ReturnCode::ArgumentsBad);
        }
        // SAFETY: not null, and readable, as the maker promises. The type is one of C, without forbidden values.
        Ok(unsafe { data.read_unaligned() })
    }

    /// Writes a structure.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub(super) fn write<T: Copy>(self, data: *mut T, value: T) -> Result<(), ReturnCode> {
        if data.is_null() {
            return Err(ReturnCode::ArgumentsBad);
        }
        // SAFETY: not null, and writable, as the maker promises.
        unsafe { data.write_unaligned(value) };
        Ok(())
    }

    /// Writes one element of a list whose length the caller has given.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub(super) fn write_element<T: Copy>(
        self,
        list: *mut T,
        index: usize,
        value: T,
    ) -> Result<(), ReturnCode> {
        if list.is_null() {
            return Err(ReturnCode::ArgumentsBad);
        }
        self.write(list.wrapping_add(index), value)
    }

    /// Writes the same value to all elements of a list.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub(super) fn fill<T: Copy>(self, list: *mut T, count: usize, value: T) -> Result<(), ReturnCode> {
        (0..count).try_for_each(|index| self.write_element(list, index, value))
    }

    /// Writes a list in the convention of the standard: a null pointer asks for the number of elements.
    ///
    /// # Errors
    /// [`ReturnCode::ArgumentsBad`] without a place for the number, [`ReturnCode::BufferTooSmall`].
    pub(super) fn write_list<T: Copy>(
        self,
        elements: &[T],
        list: *mut T,
        count: *mut CK_ULONG,
    ) -> Result<(), ReturnCode> {
        let space = self.read(count)?;
        self.write(count, elements.len() as CK_ULONG)?;
        if list.is_null() {
            return Ok(());
        }
        if space < elements.len() as CK_ULONG {
            return Err(ReturnCode::BufferTooSmall);
        }
        elements.iter().enumerate().try_for_each(|(index, element)| self.write_element(list, index, *element))
    }

    /// Returns a buffer to be written.
    ///
    /// # Errors
    /// As [`bytes`](Self::bytes).
    pub(super) fn buffer(self, data: *mut u8, len: CK_ULONG) -> Result<&'c mut [u8], ReturnCode> {
        if data.is_null() {
            return if len == 0 { Ok(&mut []) } else { Err(ReturnCode::ArgumentsBad) };
        }
        let len = memory_len(len, 1)?;
        check_end(data as usize, len)?;
        // SAFETY: not null, not longer than memory can be, and writable during 'c, as the maker promises. Callers of
        // this method read inputs that overlap it through `apart`, which copies them.
        Ok(unsafe { std::slice::from_raw_parts_mut(data, len) })
    }

    /// Computes an output and writes its length, in the convention of the standard: a null pointer asks for the length.
    ///
    /// # Errors
    /// [`ReturnCode::ArgumentsBad`] without a place for the length, and the error of `compute`.
    pub(super) fn output(
        self,
        data: *mut u8,
        len: *mut CK_ULONG,
        compute: impl FnOnce(&mut CallOutput<'_>) -> Result<(), ReturnCode>,
    ) -> Result<(), ReturnCode> {
        let space = self.read(len)?;
        let mut output = if data.is_null() {
            CallOutput::length_only()
        } else {
            CallOutput::new(self.buffer(data, space)?)
        };
        let result = compute(&mut output);
        let needed = output.len();
        match result {
            Ok(()) | Err(ReturnCode::BufferTooSmall) => self.write(len, needed as CK_ULONG)?,
            Err(_) => {}
        }
        result
    }

    /// Returns an input that an output may overlap: programs encrypt in place.
    ///
    /// # Errors
    /// As [`bytes`](Self::bytes).
    pub(super) fn apart(
        self,
        (data, len): (*const u8, CK_ULONG),
        output: *const u8,
        output_len: *const CK_ULONG,
    ) -> Result<CallInput<'c>, ReturnCode> {
        let input = self.bytes(data, len)?;
        let space = if output.is_null() { 0 } else { memory_len(self.read(output_len)?, 1)? };
        if overlaps(input.as_ptr() as usize, input.len(), output as usize, space) {
            return Ok(CallInput::Copied(Zeroizing::new(input.to_vec())));
        }
        Ok(CallInput::Lent(input))
    }

    /// Returns a template. A value that is null with a length is `None` in its entry.
    ///
    /// # Errors
    /// [`ReturnCode::ArgumentsBad`] for a null pointer with a count; [`ReturnCode::AttributeValueInvalid`] for a value
    /// longer than [`MAX_VALUE_LEN`], and for a template as a value that is not an array of attributes.
    pub(super) fn template(
        self,
        template: *const CK_ATTRIBUTE,
        count: CK_ULONG,
    ) -> Result<CallTemplate<'c>, ReturnCode> {
        let mut entries = Vec::new();
        for attribute in self.list(template, count)? {
            let entry = self.template_entry(attribute)?;
            let is_nested = TEMPLATES.contains(&entry.kind) && entry.value.is_some();
            let nested = if is_nested { Some(self.nested_template(attribute)?) } else { None };
            entries.push(CallTemplateEntry { entry, nested });
        }
        Ok(CallTemplate(entries))
    }

    fn template_entry(self, attribute: CK_ATTRIBUTE) -> Result<TemplateEntry<'c>, ReturnCode> {
        let kind = AttributeType(number(attribute.type_));
        let value = match (attribute.pValue.is_null(), attribute.ulValueLen) {
            (true, 0) => &[][..],
            (true, _) => return Ok(TemplateEntry::null(kind)),
            (false, len) if len > MAX_VALUE_LEN => return Err(ReturnCode::AttributeValueInvalid),
            (false, len) => {
                let value = self.bytes(attribute.pValue.cast_const().cast(), len);
                value.map_err(|_| ReturnCode::AttributeValueInvalid)?
            }
        };
        Ok(TemplateEntry::new(kind, value))
    }

    /// Returns the entries of a value that is a template.
    fn nested_template(self, attribute: CK_ATTRIBUTE) -> Result<Vec<TemplateEntry<'c>>, ReturnCode> {
        let entry_len = size_of::<CK_ATTRIBUTE>() as CK_ULONG;
        if !attribute.ulValueLen.is_multiple_of(entry_len) {
            return Err(ReturnCode::AttributeValueInvalid);
        }
        let entries = self.list::<CK_ATTRIBUTE>(attribute.pValue.cast(), attribute.ulValueLen / entry_len);
        let entries = entries.map_err(|_| ReturnCode::AttributeValueInvalid)?;
        entries.into_iter().map(|entry| self.template_entry(entry)).collect()
    }

    /// Answers queries of attributes: `query` fills the buffers, and the lengths are written to the template. `nested`
    /// returns the entries of a value that is a template.
    ///
    /// # Errors
    /// [`ReturnCode::ArgumentsBad`] for a null pointer with a count, for lengths that no memory has, and for buffers
    /// that overlap; and the error of `query`.
    pub(super) fn query(
        self,
        template: *mut CK_ATTRIBUTE,
        count: CK_ULONG,
        query: impl FnOnce(&mut [AttributeQuery<'_>]) -> Result<(), ReturnCode>,
        nested: impl Fn(AttributeType) -> Result<Vec<(AttributeType, Vec<u8>)>, ReturnCode>,
    ) -> Result<(), ReturnCode> {
        let attributes = self.list(template.cast_const(), count)?;
        check_buffers(&attributes)?;
        let mut queries = Vec::with_capacity(attributes.len());
        for attribute in &attributes {
            let kind = AttributeType(number(attribute.type_));
            queries.push(if attribute.pValue.is_null() || TEMPLATES.contains(&kind) {
                AttributeQuery::length_only(kind)
            } else {
                AttributeQuery::new(kind, self.buffer(attribute.pValue.cast(), attribute.ulValueLen)?)
            });
        }
        let mut result = query(&mut queries);
        for (index, (mut attribute, query)) in attributes.into_iter().zip(&queries).enumerate() {
            let mut len = query.len.map_or(UNAVAILABLE, |len| len as CK_ULONG);
            if TEMPLATES.contains(&query.kind) && !attribute.pValue.is_null() && query.len.is_some() {
                let written = self.write_nested(attribute, &nested(query.kind)?);
                if written.is_err() {
                    len = UNAVAILABLE;
                }
                result = result.and(written);
            }
            attribute.ulValueLen = len;
            self.write_element(template, index, attribute)?;
        }
        result
    }

    /// Writes the entries of a value that is a template: the type and the length of each, and its value if the caller
    /// gave a buffer for it.
    fn write_nested(
        self,
        attribute: CK_ATTRIBUTE,
        entries: &[(AttributeType, Vec<u8>)],
    ) -> Result<(), ReturnCode> {
        let list: *mut CK_ATTRIBUTE = attribute.pValue.cast();
        if attribute.ulValueLen / (size_of::<CK_ATTRIBUTE>() as CK_ULONG) < entries.len() as CK_ULONG {
            return Err(ReturnCode::BufferTooSmall);
        }
        let mut result = Ok(());
        for (index, (kind, value)) in entries.iter().enumerate() {
            let mut entry = self.read(list.wrapping_add(index))?;
            entry.type_ = kind.0 as CK_ULONG;
            if entry.pValue.is_null() {
                entry.ulValueLen = value.len() as CK_ULONG;
            } else if entry.ulValueLen < value.len() as CK_ULONG {
                entry.ulValueLen = UNAVAILABLE;
                result = Err(ReturnCode::BufferTooSmall);
            } else {
                self.buffer(entry.pValue.cast(), value.len() as CK_ULONG)?.copy_from_slice(value);
                entry.ulValueLen = value.len() as CK_ULONG;
            }
            self.write_element(list, index, entry)?;
        }
        result
    }
}

/// A template of a call, with the templates that are values in it.
pub(super) struct CallTemplate<'c>(Vec<CallTemplateEntry<'c>>);

struct CallTemplateEntry<'c> {
    entry: TemplateEntry<'c>,
    /// The value, if it is a template.
    nested: Option<Vec<TemplateEntry<'c>>>,
}

/// The attributes whose value is a template.
const TEMPLATES: [AttributeType; 5] = [
    AttributeType::WRAP_TEMPLATE,
    AttributeType::UNWRAP_TEMPLATE,
    AttributeType::DERIVE_TEMPLATE,
    AttributeType::ENCAPSULATE_TEMPLATE,
    AttributeType::DECAPSULATE_TEMPLATE,
];

impl CallTemplate<'_> {
    /// Returns the entries.
    pub(super) fn entries(&self) -> Vec<TemplateEntry<'_>> {
        let entries = self.0.iter().map(|entry| match &entry.nested {
            Some(nested) => TemplateEntry::nested(entry.entry.kind, nested),
            None => entry.entry,
        });
        entries.collect()
    }
}

impl Deref for CallInput<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Lent(bytes) => bytes,
            Self::Copied(bytes) => bytes,
        }
    }
}

/// Returns a number of C as 64 bits.
#[allow(clippy::unnecessary_cast, reason = "CK_ULONG is narrower on some systems")]
pub(super) fn number(value: CK_ULONG) -> u64 {
    value as u64
}

/// Returns a number of elements.
fn entries(count: CK_ULONG) -> Result<usize, ReturnCode> {
    usize::try_from(count).ok().filter(|count| *count <= MAX_ENTRIES).ok_or(ReturnCode::ArgumentsBad)
}

/// Returns a length in bytes that memory can have.
fn memory_len(count: CK_ULONG, size: usize) -> Result<usize, ReturnCode> {
    let len = usize::try_from(count).ok().and_then(|count| count.checked_mul(size));
    len.filter(|len| *len <= MAX_LEN).ok_or(ReturnCode::ArgumentsBad)
}

/// Rejects memory that would go around the end of the address space.
fn check_end(address: usize, len: usize) -> Result<(), ReturnCode> {
    address.checked_add(len).map(|_| ()).ok_or(ReturnCode::ArgumentsBad)
}

fn overlaps(first: usize, first_len: usize, second: usize, second_len: usize) -> bool {
    first_len > 0
        && second_len > 0
        && first < second.saturating_add(second_len)
        && second < first.saturating_add(first_len)
}

/// Rejects buffers that overlap, of which no two could be written.
fn check_buffers(attributes: &[CK_ATTRIBUTE]) -> Result<(), ReturnCode> {
    let mut spans = Vec::with_capacity(attributes.len());
    for attribute in attributes.iter().filter(|attribute| !attribute.pValue.is_null()) {
        let len = memory_len(attribute.ulValueLen, 1)?;
        if len > 0 {
            spans.push((attribute.pValue as usize, len));
        }
    }
    spans.sort_unstable();
    let is_apart = |pair: &[(usize, usize)]| match pair {
        [(first, len), (second, second_len)] => !overlaps(*first, *len, *second, *second_len),
        _ => true,
    };
    if spans.windows(2).all(is_apart) { Ok(()) } else { Err(ReturnCode::ArgumentsBad) }
}

/// Fills a text of the standard: cut at the end of a character, and padded with blanks.
pub(super) fn padded<const N: usize>(text: &str) -> [u8; N] {
    let mut out = [b' '; N];
    let mut end = text.len().min(N);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let bytes = text.as_bytes().get(..end).unwrap_or_default();
    out.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    out
}

#[cfg(test)]
mod tests {
    use std::ptr::{null, null_mut};

    use super::*;

    fn memory<'c>() -> CallerMemory<'c> {
        // SAFETY: the tests pass pointers to what they own, null pointers, and lengths that are rejected unread.
        unsafe { CallerMemory::trust() }
    }

    #[test]
    fn null_pointers_have_no_length() {
        assert_eq!(memory().bytes(null(), 0), Ok(&[][..]));
        assert_eq!(memory().bytes_or_null(null(), 0), Ok(None));
        assert_eq!(memory().bytes(null(), 1), Err(ReturnCode::ArgumentsBad));
        assert_eq!(memory().buffer(null_mut(), 1).unwrap_err(), ReturnCode::ArgumentsBad);
        assert_eq!(memory().list::<u64>(null(), 1), Err(ReturnCode::ArgumentsBad));
        assert_eq!(memory().read::<u64>(null()), Err(ReturnCode::ArgumentsBad));
        assert_eq!(memory().write(null_mut(), 1_u64), Err(ReturnCode::ArgumentsBad));
    }

    #[test]
    fn lengths_that_no_memory_has_are_rejected_unread() {
        let byte = 7_u8;
        for len in [CK_ULONG::MAX, CK_ULONG::MAX / 2 + 1, CK_ULONG::MAX / 2, CK_ULONG::MAX - 1] {
            assert_eq!(memory().bytes(&byte, len), Err(ReturnCode::ArgumentsBad));
            assert_eq!(memory().list(&byte, len), Err(ReturnCode::ArgumentsBad));
            assert_eq!(
                memory().list(std::ptr::from_ref(&byte).cast::<u64>(), len),
                Err(ReturnCode::ArgumentsBad)
            );
        }
    }

    #[test]
    fn structures_need_no_alignment() {
        let bytes = [0, 1, 0, 0, 0, 0, 0, 0, 0, 9];
        let read = memory().read(bytes[1..].as_ptr().cast::<u64>());
        assert_eq!(read.map(u64::to_ne_bytes), Ok([1, 0, 0, 0, 0, 0, 0, 0]));
    }

    #[test]
    fn an_output_reports_its_length_and_leaves_it_after_other_errors() {
        let mut buffer = [0; 4];
        let mut len: CK_ULONG = 4;
        let compute = |result| move |_: &mut CallOutput<'_>| result;
        let failed = memory().output(buffer.as_mut_ptr(), &mut len, compute(Err(ReturnCode::DataInvalid)));
        assert_eq!((failed, len), (Err(ReturnCode::DataInvalid), 4));
        let done = memory().output(buffer.as_mut_ptr(), &mut len, compute(Ok(())));
        assert_eq!((done, len), (Ok(()), 0));
        let without_len = memory().output(buffer.as_mut_ptr(), null_mut(), compute(Ok(())));
        assert_eq!(without_len, Err(ReturnCode::ArgumentsBad));
    }

    #[test]
    fn a_list_is_counted_first_and_written_then() {
        let mut count: CK_ULONG = 0;
        assert_eq!(memory().write_list(&[1_u8, 2, 3], null_mut(), &mut count), Ok(()));
        assert_eq!(count, 3);
        let (mut list, mut short): ([u8; 3], CK_ULONG) = ([9; 3], 2);
        let written = memory().write_list(&[1, 2, 3], list.as_mut_ptr(), &mut short);
        assert_eq!((written, short, list), (Err(ReturnCode::BufferTooSmall), 3, [9; 3]));
        assert_eq!(memory().write_list(&[1, 2, 3], list.as_mut_ptr(), &mut count), Ok(()));
        assert_eq!(list, [1, 2, 3]);
    }

    #[test]
    fn an_input_under_its_output_is_copied() {
        let mut buffer = [1, 2, 3, 4];
        let (len, data): (CK_ULONG, *mut u8) = (4, buffer.as_mut_ptr());
        assert!(matches!(memory().apart((data, 4), data.wrapping_add(3), &len), Ok(CallInput::Copied(_))));
        assert!(matches!(memory().apart((data, 4), data.wrapping_add(4), &len), Ok(CallInput::Lent(_))));
        assert!(matches!(memory().apart((data, 4), null(), null()), Ok(CallInput::Lent(_))));
    }

    #[test]
    fn a_template_keeps_null_values_apart_from_empty_ones() {
        let attribute = |value: *const u8, len| CK_ATTRIBUTE {
            type_: 3,
            pValue: value.cast_mut().cast(),
            ulValueLen: len,
        };
        let value = *b"ab";
        let list = [attribute(null(), 0), attribute(null(), 5), attribute(value.as_ptr(), 2)];
        let template = memory().template(list.as_ptr(), 3).unwrap();
        let values: Vec<_> = template.entries().iter().map(|entry| entry.value).collect();
        assert_eq!(values, [Some(&[][..]), None, Some(&b"ab"[..])]);
        for len in [CK_ULONG::MAX, 0xffff_ffff, MAX_VALUE_LEN + 1] {
            let wrong = [attribute(value.as_ptr(), len)];
            let parsed = memory().template(wrong.as_ptr(), 1);
            assert_eq!(parsed.err(), Some(ReturnCode::AttributeValueInvalid));
        }
    }

    #[test]
    fn queries_of_one_buffer_twice_are_rejected() {
        let buffer = [0_u8; 8];
        let attribute = |from: usize, len| CK_ATTRIBUTE {
            type_: 3,
            pValue: buffer.as_ptr().wrapping_add(from).cast_mut().cast(),
            ulValueLen: len,
        };
        let mut overlapping = [attribute(0, 5), attribute(4, 4)];
        let asked = memory().query(overlapping.as_mut_ptr(), 2, |_| Ok(()), |_| Ok(Vec::new()));
        assert_eq!(asked, Err(ReturnCode::ArgumentsBad));
        let mut apart = [attribute(4, 4), attribute(0, 4)];
        let asked = memory().query(
            apart.as_mut_ptr(),
            2,
            |queries| {
                queries[0].len = Some(3);
                Err(ReturnCode::AttributeTypeInvalid)
            },
            |_| Ok(Vec::new()),
        );
        assert_eq!(asked, Err(ReturnCode::AttributeTypeInvalid));
        assert_eq!(apart.map(|attribute| attribute.ulValueLen), [3, UNAVAILABLE]);
    }

    #[test]
    fn texts_are_padded_and_cut_at_characters() {
        assert_eq!(&padded::<6>("abc"), b"abc   ");
        assert_eq!(&padded::<3>("abcdef"), b"abc");
        assert_eq!(&padded::<3>("ab\u{e9}"), b"ab ");
    }
}
