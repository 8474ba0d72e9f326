//! Asynchronous functions of version 3.2. A call in an asynchronous session returns `CKR_PENDING`, and the program
//! keeps its buffer until `C_AsyncComplete` has filled it.

use std::ffi::CStr;

use cryptoki_sys::{CK_ASYNC_DATA, CK_BYTE, CK_OBJECT_HANDLE, CK_SESSION_HANDLE, CK_ULONG, CK_UTF8CHAR};
use oarlock_cryptoki::{CallOutput, ReturnCode, SessionHandle, mechanism_flags};

use super::functions;
use super::memory::{CallerMemory, number};
use super::session::session_handle;
use crate::library::{self, Library};
use crate::pending::PendingBuffer;

/// A call of a function that may be pending.
#[derive(Clone, Copy)]
pub(super) struct CallInSession<'c> {
    pub(super) memory: CallerMemory<'c>,
    pub(super) library: &'c Library,
    pub(super) session: CK_SESSION_HANDLE,
    /// The name of the function.
    pub(super) function: &'static str,
}

/// The operations of functions, by the beginnings of their names.
const OPERATIONS: [(&str, u64); 7] = [
    ("C_DigestEncrypt", mechanism_flags::DIGEST | mechanism_flags::ENCRYPT),
    ("C_SignEncrypt", mechanism_flags::SIGN | mechanism_flags::ENCRYPT),
    ("C_Encrypt", mechanism_flags::ENCRYPT),
    ("C_Decrypt", mechanism_flags::DECRYPT),
    ("C_Digest", mechanism_flags::DIGEST),
    ("C_Sign", mechanism_flags::SIGN),
    ("C_Verify", mechanism_flags::VERIFY),
];

impl CallInSession<'_> {
    /// Computes an output as [`CallerMemory::output`] does. The buffer is kept while the call is pending.
    ///
    /// # Errors
    /// As [`CallerMemory::output`].
    pub(super) fn output(
        self,
        buffer: *mut CK_BYTE,
        len: *mut CK_ULONG,
        compute: impl FnOnce(SessionHandle, &mut CallOutput<'_>) -> Result<(), ReturnCode>,
    ) -> Result<(), ReturnCode> {
        let handle = session_handle(self.session);
        let result = self.memory.output(buffer, len, |out| compute(handle, out));
        if result == Err(ReturnCode::Pending) {
            let len = usize::try_from(self.memory.read(len)?).unwrap_or(0);
            self.keep(PendingBuffer { address: buffer as usize, len });
        }
        result
    }

    /// Computes something that has no output in the memory of the caller.
    ///
    /// # Errors
    /// That of `compute`.
    pub(super) fn plain<T>(
        self,
        compute: impl FnOnce(SessionHandle) -> Result<T, ReturnCode>,
    ) -> Result<T, ReturnCode> {
        let result = compute(session_handle(self.session));
        if result.as_ref().err() == Some(&ReturnCode::Pending) {
            self.keep(PendingBuffer { address: 0, len: 0 });
        }
        result
    }

    /// Runs a call whose arguments may be wrong. Such an error ends the operation, as every error of these functions
    /// does except a short output (PKCS#11 3.2, 5.8 to 5.15).
    ///
    /// # Errors
    /// That of `call`.
    pub(super) fn ending(self, call: impl FnOnce() -> Result<(), ReturnCode>) -> Result<(), ReturnCode> {
        let result = call();
        if result == Err(ReturnCode::ArgumentsBad)
            && let Some((_, flags)) = OPERATIONS.iter().find(|(name, _)| self.function.starts_with(name))
        {
            // It fails for a wrong session, which has no operation.
            let _ = self.library.cryptoki.session_cancel(session_handle(self.session), *flags);
        }
        result
    }

    fn keep(self, buffer: PendingBuffer) {
        self.library.pending.keep(number(self.session), self.function, buffer);
    }
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
            data.hAdditionalObject = answer.additional_object.map_or(0, |object| object.0 as CK_OBJECT_HANDLE);
            memory.write(result, data)
        })
    }

    /// A call continues in its session only, so that it cannot be given to another process.
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
