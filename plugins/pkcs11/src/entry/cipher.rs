//! Encryption and decryption.

use cryptoki_sys::{CK_BYTE, CK_MECHANISM, CK_OBJECT_HANDLE, CK_SESSION_HANDLE, CK_ULONG};
use oarlock_cryptoki::mechanism_flags;

use super::asynchronous::CallInSession;
use super::functions;
use super::object::object_handle;
use super::session::session_handle;
use super::signature::begin;
use crate::library;

functions! { init; C_EncryptInit: encrypt_init by ENCRYPT, C_DecryptInit: decrypt_init by DECRYPT }

functions! { output of data;
    C_Encrypt: encrypt,
    C_EncryptUpdate: encrypt_update,
    C_Decrypt: decrypt,
    C_DecryptUpdate: decrypt_update,
}

functions! { output; C_EncryptFinal: encrypt_final, C_DecryptFinal: decrypt_final }
