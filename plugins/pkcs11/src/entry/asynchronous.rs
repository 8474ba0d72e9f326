//! Asynchronous functions of version 3.2. A call in an asynchronous session returns `CKR_PENDING`, and the program
//! keeps its buffer until `C_AsyncComplete` has filled it.

use std::ffi::CStr;

use cryptoki_sys::{CK_ASYNC_DATA, CK_BYTE, CK_OBJECT_HANDLE, CK_SESSION_HANDLE, CK_ULONG, CK_UTF8CHAR};
use oarlock_cryptoki::ReturnCode;

use super::functions;
use super::memory::{CallerMemory, number};
use super::session::session_handle;
use crate::library::{self, Library};
use crate::pending::PendingBuffer;

/// The functions that may be pending.
pub(super) const SIGN: &str = "C_Sign";
pub(super) const SIGN_FINAL: &str = "C_SignFinal";

/// Keeps the buffer of a call that is pending, and returns its result.
pub(super) fn keep_if_pending(
    memory: CallerMemory<'_>,
    library: &Library,
    session: CK_SESSION_HANDLE,
    function: &'static str,
    result: Result<(), ReturnCode>,
    (buffer, len): (*mut CK_BYTE, *const CK_ULONG),
) -> Result<(), ReturnCode> {
    if result == Err(ReturnCode::Pending) {
        let len = usize::try_from(memory.read(len)?).unwrap_or(0);
        library.pending.keep(number(session), function, PendingBuffer { address: buffer as usize, len });
    }
    result
}

functions! { memory:
    fn C_AsyncComplete(session: CK_SESSION_HANDLE, function: *mut CK_UTF8CHAR, result: *mut CK_ASYNC_DATA) {
        library::with(|library| {
            let function = function_name(memory, function)?;
            let mut data = memory.read(result)?;
            library.pending.reset_descriptor(number(session));
            let answer = match library.cryptoki.async_complete(session_handle(session), function) {
                Err(ReturnCode::Pending) => return Err(ReturnCode::Pending),
                answer => answer,
            };
            let buffer = library.pending.buffer(number(session), function);
            library.pending.complete(number(session), function);
            let (answer, buffer) = (answer?, buffer.ok_or(ReturnCode::GeneralError)?);
            if answer.bytes.len() > buffer.len {
                return Err(ReturnCode::BufferTooSmall);
            }
            let out = memory.buffer(buffer.address as *mut CK_BYTE, answer.bytes.len() as CK_ULONG)?;
            out.copy_from_slice(&answer.bytes);
            data.pValue = buffer.address as *mut CK_BYTE;
            data.ulValue = answer.bytes.len() as CK_ULONG;
            data.hObject = answer.object.map_or(0, |object| object.0 as CK_OBJECT_HANDLE);
            data.hAdditionalObject = 0;
            memory.write(result, data)
        })
    }

    /// A call goes on in its session only, so that it cannot be given to another process.
    fn C_AsyncGetID(session: CK_SESSION_HANDLE, function: *mut CK_UTF8CHAR, id: *mut CK_ULONG) {
        library::with(|library| {
            library.cryptoki.session_description(session_handle(session))?;
            Err(ReturnCode::StateUnsaveable)
        })
    }

    fn C_AsyncJoin(
        session: CK_SESSION_HANDLE,
        function: *mut CK_UTF8CHAR,
        id: CK_ULONG,
        data: *mut CK_BYTE,
        data_len: CK_ULONG,
    ) {
        library::with(|library| {
            library.cryptoki.session_description(session_handle(session))?;
            Err(ReturnCode::StateUnsaveable)
        })
    }
}

/// Returns the name of a function: text that ends with a zero byte.
fn function_name<'c>(memory: CallerMemory<'c>, name: *const CK_UTF8CHAR) -> Result<&'c str, ReturnCode> {
    /// Longer than every name.
    const MAX_LEN: usize = 64;
    let mut len = 0;
    loop {
        match memory.read(name.wrapping_add(len)).map_err(|_| ReturnCode::ArgumentsBad)? {
            0 => break,
            _ if len == MAX_LEN => return Err(ReturnCode::ArgumentsBad),
            _ => len += 1,
        }
    }
    let bytes = memory.bytes(name, len as CK_ULONG + 1)?;
    let text = CStr::from_bytes_with_nul(bytes).map_err(|_| ReturnCode::ArgumentsBad)?;
    text.to_str().map_err(|_| ReturnCode::ArgumentsBad)
}

#[cfg(test)]
mod tests {
    use std::ptr::null;

    use super::*;

    #[test]
    fn names_end_with_a_zero_byte() {
        // SAFETY: pointers to texts of this test, which end with zero bytes.
        let memory = unsafe { CallerMemory::trust() };
        assert_eq!(function_name(memory, c"C_Sign".as_ptr().cast()), Ok("C_Sign"));
        assert_eq!(function_name(memory, c"".as_ptr().cast()), Ok(""));
        assert_eq!(function_name(memory, null()), Err(ReturnCode::ArgumentsBad));
        let long = [b'a'; 70];
        assert_eq!(function_name(memory, long.as_ptr()), Err(ReturnCode::ArgumentsBad));
        assert_eq!(function_name(memory, c"\xff".as_ptr().cast()), Err(ReturnCode::ArgumentsBad));
    }
}
