//! The functions of the interface "Vendor Oarlock": many operations in one call. `include/oarlock_pkcs11.h` describes
//! them for C.

use std::ffi::c_int;

use cryptoki_sys::{
    CK_BYTE, CK_MECHANISM, CK_OBJECT_HANDLE, CK_RV, CK_SESSION_HANDLE, CK_ULONG, CK_VERSION, CKR_OK,
};
use oarlock_cryptoki::{EqualOutputs, ManyAnswers, ManyInputs, ManyIvs, ManySpans, ReturnCode};

use super::functions;
use super::memory::{CallerMemory, number};
use super::object::object_handle;
use super::session::{in_session, session_handle};
use crate::library;

/// The table of the interface, `O_FUNCTION_LIST`.
#[repr(C)]
pub(super) struct ManyFunctions {
    version: CK_VERSION,
    sign: unsafe extern "C" fn(
        CK_SESSION_HANDLE,
        *mut CK_MECHANISM,
        CK_OBJECT_HANDLE,
        *const CallInputs,
        *const CallOutputs,
    ) -> CK_RV,
    verify: unsafe extern "C" fn(
        CK_SESSION_HANDLE,
        *mut CK_MECHANISM,
        CK_OBJECT_HANDLE,
        *const CallInputs,
        *const CallInputs,
        *mut CK_RV,
    ) -> CK_RV,
    mac: unsafe extern "C" fn(
        CK_SESSION_HANDLE,
        *mut CK_MECHANISM,
        CK_OBJECT_HANDLE,
        *const CallInputs,
        *const CallOutputs,
    ) -> CK_RV,
    encrypt: CipherFunction,
    decrypt: CipherFunction,
    descriptor: unsafe extern "C" fn(CK_SESSION_HANDLE, *mut c_int) -> CK_RV,
}

type CipherFunction = unsafe extern "C" fn(
    CK_SESSION_HANDLE,
    *mut CK_MECHANISM,
    CK_OBJECT_HANDLE,
    *const CallInputs,
    *const CK_BYTE,
    CK_ULONG,
    *const CallOutputs,
) -> CK_RV;

pub(super) static MANY_FUNCTIONS: ManyFunctions = ManyFunctions {
    version: CK_VERSION { major: 1, minor: 0 },
    sign: O_SignMany,
    verify: O_VerifyMany,
    mac: O_MacMany,
    encrypt: O_EncryptMany,
    decrypt: O_DecryptMany,
    descriptor: O_Descriptor,
};

/// The inputs of one call, `O_INPUTS`: pieces of one buffer.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct CallInputs {
    data: *const CK_BYTE,
    data_len: CK_ULONG,
    /// The number of pieces.
    count: CK_ULONG,
    /// The length of each piece, and the distance between the starts of neighbours. Unused if there are offsets.
    len: CK_ULONG,
    stride: CK_ULONG,
    /// `count + 1` offsets, or null. Piece `i` lies between the offsets `i` and `i + 1`.
    offsets: *const u64,
}

/// The outputs of one call, `O_OUTPUTS`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct CallOutputs {
    data: *mut CK_BYTE,
    data_len: CK_ULONG,
    /// The distance between the starts of neighbours, which is also the space for each output.
    stride: CK_ULONG,
    /// The lengths of the outputs.
    lens: *mut CK_ULONG,
    /// The result of each operation.
    results: *mut CK_RV,
}

/// The maximum number of operations in one call.
const MAX_COUNT: u64 = 1 << 24;

/// Defines functions with an input and an output for each operation.
macro_rules! many_functions {
    ($($name:ident: $method:ident $(by $ivs:ident and $ivs_len:ident)?),* $(,)?) => { functions! { memory: $(
        fn $name(
            session: CK_SESSION_HANDLE,
            mechanism: *mut CK_MECHANISM,
            key: CK_OBJECT_HANDLE,
            inputs: *const CallInputs,
            $($ivs: *const CK_BYTE, $ivs_len: CK_ULONG,)?
            outputs: *const CallOutputs,
        ) {
            library::with(|library| {
                let mechanism = in_session(library, session, memory.mechanism(mechanism))?;
                let (session, key) = (session_handle(session), object_handle(key));
                let inputs = CallPieces::read(memory, inputs)?;
                $(let $ivs = memory.bytes_or_null($ivs, $ivs_len)?.map_or(ManyIvs::Mechanism, ManyIvs::Each);)?
                let outputs = OutputSpans::read(memory, outputs)?;
                outputs.write(&library.cryptoki.$method(session, &mechanism, key, inputs.lend() $(, $ivs)?)?)
            })
        }
    )* } };
}

many_functions! {
    O_SignMany: sign_many,
    O_MacMany: sign_many,
    O_EncryptMany: encrypt_many by ivs and ivs_len,
    O_DecryptMany: decrypt_many by ivs and ivs_len,
}

functions! { memory:
    fn O_VerifyMany(
        session: CK_SESSION_HANDLE,
        mechanism: *mut CK_MECHANISM,
        key: CK_OBJECT_HANDLE,
        inputs: *const CallInputs,
        signatures: *const CallInputs,
        results: *mut CK_RV,
    ) {
        library::with(|library| {
            let mechanism = in_session(library, session, memory.mechanism(mechanism))?;
            let (session, key) = (session_handle(session), object_handle(key));
            let (inputs, signatures) = (CallPieces::read(memory, inputs)?, CallPieces::read(memory, signatures)?);
            let (inputs, signatures) = (inputs.lend(), signatures.lend());
            if inputs.len() != signatures.len() || results.is_null() {
                return Err(ReturnCode::ArgumentsBad);
            }
            let answers = library.cryptoki.verify_many(session, &mechanism, key, inputs, signatures)?;
            for (index, answer) in answers.iter().enumerate() {
                memory.write_element(results, index, ReturnCode::value_of(&answer) as CK_RV)?;
            }
            Ok(())
        })
    }

    fn O_Descriptor(session: CK_SESSION_HANDLE, descriptor: *mut c_int) {
        library::with(|library| {
            if descriptor.is_null() {
                return Err(ReturnCode::ArgumentsBad);
            }
            let handle = session_handle(session);
            library.cryptoki.session_description(handle)?;
            let opened = library.pending.descriptor(number(session));
            let (opened, waker) = opened.map_err(|_| ReturnCode::HostMemory)?;
            if waker.is_some() {
                library.cryptoki.set_waker(handle, waker)?;
            }
            memory.write(descriptor, opened)
        })
    }
}

/// The inputs of a call, with offsets that are copied: C does not promise their alignment.
struct CallPieces<'c> {
    data: &'c [u8],
    count: usize,
    len: usize,
    stride: usize,
    offsets: Option<Vec<u64>>,
}

impl<'c> CallPieces<'c> {
    fn read(memory: CallerMemory<'c>, inputs: *const CallInputs) -> Result<Self, ReturnCode> {
        let CallInputs { data, data_len, count, len, stride, offsets } = memory.read(inputs)?;
        if number(count) > MAX_COUNT {
            return Err(ReturnCode::ArgumentsBad);
        }
        let offsets =
            if offsets.is_null() { None } else { Some(memory.long_list(offsets, count.saturating_add(1))?) };
        let size = |value: CK_ULONG| usize::try_from(value).map_err(|_| ReturnCode::ArgumentsBad);
        Ok(Self {
            data: memory.bytes(data, data_len)?,
            count: size(count)?,
            len: size(len)?,
            stride: size(stride)?,
            offsets,
        })
    }

    fn lend(&self) -> ManyInputs<'_> {
        let spans = match &self.offsets {
            Some(offsets) => ManySpans::Offsets(offsets),
            None => ManySpans::Stride { count: self.count, len: self.len, stride: self.stride },
        };
        ManyInputs { data: self.data, spans }
    }
}

/// The spans of the outputs of a call.
struct OutputSpans<'c> {
    memory: CallerMemory<'c>,
    outputs: CallOutputs,
}

impl<'c> OutputSpans<'c> {
    fn read(memory: CallerMemory<'c>, outputs: *const CallOutputs) -> Result<Self, ReturnCode> {
        let outputs = memory.read(outputs)?;
        if outputs.data.is_null() || outputs.lens.is_null() || outputs.results.is_null() {
            return Err(ReturnCode::ArgumentsBad);
        }
        Ok(Self { memory, outputs })
    }

    /// Writes the answers. The inputs are not read any more, so that outputs may replace them.
    fn write(&self, answers: &ManyAnswers) -> Result<(), ReturnCode> {
        let CallOutputs { data, data_len, stride, lens, results } = self.outputs;
        let stride = usize::try_from(stride).map_err(|_| ReturnCode::ArgumentsBad)?;
        let data = self.memory.buffer(data, data_len)?;
        if let Some(equal) = answers.equal_outputs()
            && write_equal(data, stride, &equal)
        {
            self.memory.fill(lens, equal.count, equal.len as CK_ULONG)?;
            return self.memory.fill(results, equal.count, CKR_OK);
        }
        for (index, answer) in answers.iter().enumerate() {
            let len = answer.map_or(0, <[u8]>::len);
            let written = answer.and_then(|bytes| write_one(data, index, stride, bytes));
            self.memory.write_element(lens, index, len as CK_ULONG)?;
            self.memory.write_element(results, index, ReturnCode::value_of(&written) as CK_RV)?;
        }
        Ok(())
    }
}

/// Writes outputs of equal length together. Returns false, and writes nothing, if one of them has no buffer.
fn write_equal(data: &mut [u8], stride: usize, outputs: &EqualOutputs<'_>) -> bool {
    let EqualOutputs { bytes, count, len, stride: own_stride } = *outputs;
    let Some(last) = count.checked_sub(1) else { return true };
    let end = last.checked_mul(stride).and_then(|start| start.checked_add(len));
    if len > stride || end.is_none_or(|end| end > data.len()) {
        return false;
    }
    if stride == len && own_stride == len {
        return match (data.get_mut(..count * len), bytes.get(..count * len)) {
            (Some(to), Some(from)) => {
                to.copy_from_slice(from);
                true
            }
            _ => false,
        };
    }
    // `max(1)`: outputs without bytes have no distance.
    let chunks = data.chunks_mut(stride.max(1)).take(count);
    for (to, from) in chunks.zip(bytes.chunks(own_stride.max(1))) {
        if let (Some(to), Some(from)) = (to.get_mut(..len), from.get(..len)) {
            to.copy_from_slice(from);
        }
    }
    true
}

fn write_one(data: &mut [u8], index: usize, stride: usize, bytes: &[u8]) -> Result<(), ReturnCode> {
    let short = ReturnCode::BufferTooSmall;
    let start = index.checked_mul(stride).filter(|_| bytes.len() <= stride).ok_or(short)?;
    let end = start.checked_add(bytes.len()).ok_or(short)?;
    data.get_mut(start..end).ok_or(short)?.copy_from_slice(bytes);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_stays_in_its_own_place() {
        let mut data = [9; 10];
        assert_eq!(write_one(&mut data, 1, 4, b"abcd"), Ok(()));
        assert_eq!(&data, b"\x09\x09\x09\x09abcd\x09\x09");
        assert_eq!(write_one(&mut data, 0, 3, b"abcd"), Err(ReturnCode::BufferTooSmall));
        assert_eq!(write_one(&mut data, 2, 4, b"abcd"), Err(ReturnCode::BufferTooSmall));
        assert_eq!(write_one(&mut data, usize::MAX, 4, b"abcd"), Err(ReturnCode::BufferTooSmall));
        assert_eq!(write_one(&mut data, 2, 4, b"ab"), Ok(()));
    }

    #[test]
    fn outputs_of_equal_length_stay_in_their_places() {
        let outputs = EqualOutputs { bytes: b"ab.cd.ef.", count: 3, len: 2, stride: 3 };
        let mut data = [9; 8];
        assert!(write_equal(&mut data, 3, &outputs));
        assert_eq!(&data, b"ab\x09cd\x09ef", "nothing is written between them");
        let mut short = [9; 7];
        assert!(!write_equal(&mut short, 3, &outputs), "no space for the last one");
        assert!(!write_equal(&mut data, 1, &outputs), "they would overlap");
        assert!(!write_equal(&mut data, usize::MAX, &outputs));
        assert_eq!(short, [9; 7]);
        let side_by_side = EqualOutputs { bytes: b"abcdef", count: 3, len: 2, stride: 2 };
        assert!(write_equal(&mut data, 2, &side_by_side));
        assert_eq!(&data, b"abcdefef");
        let none = EqualOutputs { bytes: b"", count: 0, len: 2, stride: 2 };
        assert!(write_equal(&mut [], 0, &none));
        let empty = EqualOutputs { bytes: b"", count: 4, len: 0, stride: 0 };
        assert!(write_equal(&mut [], 0, &empty));
    }

    #[test]
    fn inputs_come_by_stride_or_by_offsets() {
        let (data, offsets) = (*b"aabbb", [0_u64, 2, 5]);
        // SAFETY: pointers to the data of this test.
        let memory = unsafe { CallerMemory::trust() };
        let plain = CallInputs {
            data: data.as_ptr(),
            data_len: 5,
            count: 2,
            len: 2,
            stride: 3,
            offsets: std::ptr::null(),
        };
        let pieces = CallPieces::read(memory, &plain).unwrap();
        assert!(matches!(pieces.lend().spans, ManySpans::Stride { count: 2, len: 2, stride: 3 }));
        let pieces = CallPieces::read(memory, &CallInputs { offsets: offsets.as_ptr(), ..plain }).unwrap();
        assert!(matches!(pieces.lend().spans, ManySpans::Offsets([0, 2, 5])));
        let many = CallInputs { count: CK_ULONG::MAX, ..plain };
        assert_eq!(CallPieces::read(memory, &many).err(), Some(ReturnCode::ArgumentsBad));
        assert_eq!(CallPieces::read(memory, std::ptr::null()).err(), Some(ReturnCode::ArgumentsBad));
    }
}
