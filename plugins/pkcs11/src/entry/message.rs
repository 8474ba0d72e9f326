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

/// Defines the functions of one direction of a cipher.
macro_rules! message_cipher {
    (
        $flag:ident, $is_encryption:literal;
        $init:ident: $init_method:ident,
        $whole:ident: $whole_method:ident,
        $begin:ident: $begin_method:ident,
        $next:ident: $next_method:ident,
    ) => { functions! { memory:
        fn $init(session: CK_SESSION_HANDLE, mechanism: *mut CK_MECHANISM, key: CK_OBJECT_HANDLE) {
            let read = CallerMemory::message_mechanism;
            begin_with(memory, session, (mechanism, read), mechanism_flags::$flag, |library, mechanism| {
                library.cryptoki.$init_method(session_handle(session), mechanism, object_handle(key))
            })
        }

        fn $whole(
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
            let message = MessageCall { memory, session, parameter, parameter_len, is_encryption: $is_encryption };
            message.whole((aad, aad_len), (data, data_len), (out, out_len), Cryptoki::$whole_method)
        }

        fn $begin(
            session: CK_SESSION_HANDLE,
            parameter: *mut c_void,
            parameter_len: CK_ULONG,
            aad: *mut CK_BYTE,
            aad_len: CK_ULONG,
        ) {
            let message = MessageCall { memory, session, parameter, parameter_len, is_encryption: $is_encryption };
            message.begin((aad, aad_len), Cryptoki::$begin_method)
        }

        fn $next(
            session: CK_SESSION_HANDLE,
            parameter: *mut c_void,
            parameter_len: CK_ULONG,
            data: *mut CK_BYTE,
            data_len: CK_ULONG,
            out: *mut CK_BYTE,
            out_len: *mut CK_ULONG,
            flags: CK_FLAGS,
        ) {
            let message = MessageCall { memory, session, parameter, parameter_len, is_encryption: $is_encryption };
            message.next((data, data_len), (out, out_len), flags, Cryptoki::$next_method)
        }
    } };
}

message_cipher! { MESSAGE_ENCRYPT, true;
    C_MessageEncryptInit: message_encrypt_init,
    C_EncryptMessage: encrypt_message,
    C_EncryptMessageBegin: encrypt_message_begin,
    C_EncryptMessageNext: encrypt_message_next,
}

message_cipher! { MESSAGE_DECRYPT, false;
    C_MessageDecryptInit: message_decrypt_init,
    C_DecryptMessage: decrypt_message,
    C_DecryptMessageBegin: decrypt_message_begin,
    C_DecryptMessageNext: decrypt_message_next,
}

functions! { session;
    C_MessageEncryptFinal: message_encrypt_final,
    C_MessageDecryptFinal: message_decrypt_final,
    C_MessageSignFinal: message_sign_final,
    C_MessageVerifyFinal: message_verify_final,
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
