//! Functions for many messages under one key, of version 3.0.

use std::ffi::c_void;

use cryptoki_sys::{
    CK_BYTE, CK_FLAGS, CK_MECHANISM, CK_OBJECT_HANDLE, CK_SESSION_HANDLE, CK_ULONG, CKF_END_OF_MESSAGE,
};
use oarlock_cryptoki::{CallOutput, Cryptoki, MessageParameters, ReturnCode, SessionHandle, mechanism_flags};

use super::functions;
use super::memory::CallerMemory;
use super::object::object_handle;
use super::session::session_handle;
use super::signature::{begin, begin_with};
use crate::library;

functions! { memory:
    fn C_MessageEncryptInit(session: CK_SESSION_HANDLE, mechanism: *mut CK_MECHANISM, key: CK_OBJECT_HANDLE) {
        let read = CallerMemory::message_mechanism;
        begin_with(memory, session, (mechanism, read), mechanism_flags::MESSAGE_ENCRYPT, |library, mechanism| {
            library.cryptoki.message_encrypt_init(session_handle(session), mechanism, object_handle(key))
        })
    }

    fn C_EncryptMessage(
        session: CK_SESSION_HANDLE,
        parameter: *mut c_void,
        parameter_len: CK_ULONG,
        aad: *mut CK_BYTE,
        aad_len: CK_ULONG,
        data: *mut CK_BYTE,
        data_len: CK_ULONG,
        out: *mut CK_BYTE,
        out_len: *mut CK_ULONG,
    ) {
        let message = MessageCall { memory, session, parameter, parameter_len, is_encryption: true };
        message.whole((aad, aad_len), (data, data_len), (out, out_len), Cryptoki::encrypt_message)
    }

    fn C_EncryptMessageBegin(
        session: CK_SESSION_HANDLE,
        parameter: *mut c_void,
        parameter_len: CK_ULONG,
        aad: *mut CK_BYTE,
        aad_len: CK_ULONG,
    ) {
        let message = MessageCall { memory, session, parameter, parameter_len, is_encryption: true };
        message.begin((aad, aad_len), Cryptoki::encrypt_message_begin)
    }

    fn C_EncryptMessageNext(
        session: CK_SESSION_HANDLE,
        parameter: *mut c_void,
        parameter_len: CK_ULONG,
        data: *mut CK_BYTE,
        data_len: CK_ULONG,
        out: *mut CK_BYTE,
        out_len: *mut CK_ULONG,
        flags: CK_FLAGS,
    ) {
        let message = MessageCall { memory, session, parameter, parameter_len, is_encryption: true };
        message.next((data, data_len), (out, out_len), flags, Cryptoki::encrypt_message_next)
    }

    fn C_MessageEncryptFinal(session: CK_SESSION_HANDLE) {
        library::with(|library| library.cryptoki.message_encrypt_final(session_handle(session)))
    }

    fn C_MessageDecryptInit(session: CK_SESSION_HANDLE, mechanism: *mut CK_MECHANISM, key: CK_OBJECT_HANDLE) {
        let read = CallerMemory::message_mechanism;
        begin_with(memory, session, (mechanism, read), mechanism_flags::MESSAGE_DECRYPT, |library, mechanism| {
            library.cryptoki.message_decrypt_init(session_handle(session), mechanism, object_handle(key))
        })
    }

    fn C_DecryptMessage(
        session: CK_SESSION_HANDLE,
        parameter: *mut c_void,
        parameter_len: CK_ULONG,
        aad: *mut CK_BYTE,
        aad_len: CK_ULONG,
        data: *mut CK_BYTE,
        data_len: CK_ULONG,
        out: *mut CK_BYTE,
        out_len: *mut CK_ULONG,
    ) {
        let message = MessageCall { memory, session, parameter, parameter_len, is_encryption: false };
        message.whole((aad, aad_len), (data, data_len), (out, out_len), Cryptoki::decrypt_message)
    }

    fn C_DecryptMessageBegin(
        session: CK_SESSION_HANDLE,
        parameter: *mut c_void,
        parameter_len: CK_ULONG,
        aad: *mut CK_BYTE,
        aad_len: CK_ULONG,
    ) {
        let message = MessageCall { memory, session, parameter, parameter_len, is_encryption: false };
        message.begin((aad, aad_len), Cryptoki::decrypt_message_begin)
    }

    fn C_DecryptMessageNext(
        session: CK_SESSION_HANDLE,
        parameter: *mut c_void,
        parameter_len: CK_ULONG,
        data: *mut CK_BYTE,
        data_len: CK_ULONG,
        out: *mut CK_BYTE,
        out_len: *mut CK_ULONG,
        flags: CK_FLAGS,
    ) {
        let message = MessageCall { memory, session, parameter, parameter_len, is_encryption: false };
        message.next((data, data_len), (out, out_len), flags, Cryptoki::decrypt_message_next)
    }

    fn C_MessageDecryptFinal(session: CK_SESSION_HANDLE) {
        library::with(|library| library.cryptoki.message_decrypt_final(session_handle(session)))
    }
}

functions! { init;
    C_MessageSignInit: message_sign_init by MESSAGE_SIGN,
    C_MessageVerifyInit: message_verify_init by MESSAGE_VERIFY,
}

functions! { memory:
    fn C_SignMessage(
        session: CK_SESSION_HANDLE,
        parameter: *mut c_void,
        parameter_len: CK_ULONG,
        data: *mut CK_BYTE,
        data_len: CK_ULONG,
        signature: *mut CK_BYTE,
        signature_len: *mut CK_ULONG,
    ) {
        library::with(|library| {
            check_no_parameter(memory, parameter, parameter_len)?;
            let data = memory.apart((data, data_len), signature, signature_len)?;
            let sign = |out: &mut CallOutput<'_>| library.cryptoki.sign_message(session_handle(session), &data, out);
            memory.output(signature, signature_len, sign)
        })
    }

    fn C_SignMessageBegin(session: CK_SESSION_HANDLE, parameter: *mut c_void, parameter_len: CK_ULONG) {
        library::with(|library| {
            check_no_parameter(memory, parameter, parameter_len)?;
            library.cryptoki.sign_message_begin(session_handle(session))
        })
    }

    /// The last piece has a place for the length of the signature.
    fn C_SignMessageNext(
        session: CK_SESSION_HANDLE,
        parameter: *mut c_void,
        parameter_len: CK_ULONG,
        data: *mut CK_BYTE,
        data_len: CK_ULONG,
        signature: *mut CK_BYTE,
        signature_len: *mut CK_ULONG,
    ) {
        library::with(|library| {
            check_no_parameter(memory, parameter, parameter_len)?;
            let handle = session_handle(session);
            if signature_len.is_null() {
                let data = memory.bytes(data, data_len)?;
                return library.cryptoki.sign_message_next(handle, data, None);
            }
            let data = memory.apart((data, data_len), signature, signature_len)?;
            let sign = |out: &mut CallOutput<'_>| library.cryptoki.sign_message_next(handle, &data, Some(out));
            memory.output(signature, signature_len, sign)
        })
    }

    fn C_MessageSignFinal(session: CK_SESSION_HANDLE) {
        library::with(|library| library.cryptoki.message_sign_final(session_handle(session)))
    }

    fn C_VerifyMessage(
        session: CK_SESSION_HANDLE,
        parameter: *mut c_void,
        parameter_len: CK_ULONG,
        data: *mut CK_BYTE,
        data_len: CK_ULONG,
        signature: *mut CK_BYTE,
        signature_len: CK_ULONG,
    ) {
        library::with(|library| {
            check_no_parameter(memory, parameter, parameter_len)?;
            let data = memory.bytes(data, data_len)?;
            let signature = memory.bytes(signature, signature_len)?;
            library.cryptoki.verify_message(session_handle(session), data, signature)
        })
    }

    fn C_VerifyMessageBegin(session: CK_SESSION_HANDLE, parameter: *mut c_void, parameter_len: CK_ULONG) {
        library::with(|library| {
            check_no_parameter(memory, parameter, parameter_len)?;
            library.cryptoki.verify_message_begin(session_handle(session))
        })
    }

    /// The last piece comes with the signature.
    fn C_VerifyMessageNext(
        session: CK_SESSION_HANDLE,
        parameter: *mut c_void,
        parameter_len: CK_ULONG,
        data: *mut CK_BYTE,
        data_len: CK_ULONG,
        signature: *mut CK_BYTE,
        signature_len: CK_ULONG,
    ) {
        library::with(|library| {
            check_no_parameter(memory, parameter, parameter_len)?;
            let data = memory.bytes(data, data_len)?;
            let signature = memory.bytes_or_null(signature, signature_len)?;
            library.cryptoki.verify_message_next(session_handle(session), data, signature)
        })
    }

    fn C_MessageVerifyFinal(session: CK_SESSION_HANDLE) {
        library::with(|library| library.cryptoki.message_verify_final(session_handle(session)))
    }
}

/// No signature mechanism has parameters for each message.
fn check_no_parameter(
    memory: CallerMemory<'_>,
    parameter: *const c_void,
    len: CK_ULONG,
) -> Result<(), ReturnCode> {
    let bytes = memory.bytes(parameter.cast(), len)?;
    if bytes.is_empty() { Ok(()) } else { Err(ReturnCode::MechanismParamInvalid) }
}

/// A call for one message of a cipher.
#[derive(Clone, Copy)]
struct MessageCall<'c> {
    memory: CallerMemory<'c>,
    session: CK_SESSION_HANDLE,
    parameter: *const c_void,
    parameter_len: CK_ULONG,
    is_encryption: bool,
}

/// A buffer of the caller, and the place of its length.
type Buffer = (*mut CK_BYTE, *mut CK_ULONG);

impl MessageCall<'_> {
    fn whole(
        self,
        (aad, aad_len): (*mut CK_BYTE, CK_ULONG),
        (data, data_len): (*mut CK_BYTE, CK_ULONG),
        (out, out_len): Buffer,
        compute: impl FnOnce(
            &Cryptoki,
            SessionHandle,
            &mut MessageParameters<'_>,
            &[u8],
            &[u8],
            &mut CallOutput<'_>,
        ) -> Result<(), ReturnCode>,
    ) -> Result<(), ReturnCode> {
        let aad = self.memory.apart((aad, aad_len), out, out_len)?;
        let data = self.memory.apart((data, data_len), out, out_len)?;
        self.with_parameters(|cryptoki, session, parameters| {
            self.memory.output(out, out_len, |out| compute(cryptoki, session, parameters, &aad, &data, out))
        })
    }

    fn begin(
        self,
        (aad, aad_len): (*mut CK_BYTE, CK_ULONG),
        begin: impl FnOnce(&Cryptoki, SessionHandle, &mut MessageParameters<'_>, &[u8]) -> Result<(), ReturnCode>,
    ) -> Result<(), ReturnCode> {
        let aad = self.memory.bytes(aad, aad_len)?;
        self.with_parameters(|cryptoki, session, parameters| begin(cryptoki, session, parameters, aad))
    }

    fn next(
        self,
        (data, data_len): (*mut CK_BYTE, CK_ULONG),
        (out, out_len): Buffer,
        flags: CK_FLAGS,
        compute: impl FnOnce(
            &Cryptoki,
            SessionHandle,
            &mut MessageParameters<'_>,
            &[u8],
            bool,
            &mut CallOutput<'_>,
        ) -> Result<(), ReturnCode>,
    ) -> Result<(), ReturnCode> {
        if flags & !CKF_END_OF_MESSAGE != 0 {
            return Err(ReturnCode::ArgumentsBad);
        }
        let is_last = flags & CKF_END_OF_MESSAGE != 0;
        let data = self.memory.apart((data, data_len), out, out_len)?;
        self.with_parameters(|cryptoki, session, parameters| {
            self.memory
                .output(out, out_len, |out| compute(cryptoki, session, parameters, &data, is_last, out))
        })
    }

    /// Runs a function with the parameters of the message. Those of an encryption are written back.
    fn with_parameters(
        self,
        run: impl FnOnce(&Cryptoki, SessionHandle, &mut MessageParameters<'_>) -> Result<(), ReturnCode>,
    ) -> Result<(), ReturnCode> {
        library::with(|library| {
            let session = session_handle(self.session);
            // A wrong handle is reported before a wrong parameter.
            library.cryptoki.session_description(session)?;
            let fields = self.memory.message_fields(self.parameter, self.parameter_len)?;
            // Copies: the caller may let the IV, the tag and the buffers overlap.
            let mut iv = self.memory.bytes(fields.iv.0, fields.iv.1)?.to_vec();
            let mut tag = self.memory.bytes(fields.tag.0, fields.tag.1)?.to_vec();
            let mut parameters = MessageParameters {
                iv: &mut iv,
                fixed_bits: fields.fixed_bits,
                generator: fields.generator,
                tag: &mut tag,
            };
            run(&library.cryptoki, session, &mut parameters)?;
            if self.is_encryption {
                self.memory.buffer(fields.iv.0, fields.iv.1)?.copy_from_slice(&iv);
                self.memory.buffer(fields.tag.0, fields.tag.1)?.copy_from_slice(&tag);
            }
            Ok(())
        })
    }
}
