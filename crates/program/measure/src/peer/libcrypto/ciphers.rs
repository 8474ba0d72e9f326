//! Symmetric operations of libcrypto: ciphers, MACs, and both in one.

use std::ffi::{CStr, c_int};
use std::ptr::{null, null_mut};

use zeroize::Zeroize;

use super::{Libcrypto, OwnedObject, check_output_len, fetched};
use crate::peer::PeerError;
use crate::peer::task::fault;

const EVP_CTRL_AEAD_GET_TAG: c_int = 0x10;
const EVP_CTRL_AEAD_TLS1_AAD: c_int = 0x16;
const EVP_CTRL_AEAD_SET_MAC_KEY: c_int = 0x17;

/// A block cipher in a mode, encrypting, with its context.
pub(in crate::peer) struct PeerCipher {
    context: OwnedObject,
    method: OwnedObject,
    is_set: bool,
    key_len: usize,
    iv_len: usize,
    block_len: usize,
}

/// The length of a GCM tag in bytes.
pub(in crate::peer) const TAG_LEN: usize = 16;

impl PeerCipher {
    pub(in crate::peer) fn new(library: &Libcrypto, name: &'static CStr) -> Result<Self, PeerError> {
        let functions = library.functions();
        // SAFETY: a null context is the default one; the name is a C string.
        let raw = unsafe { (functions.EVP_CIPHER_fetch)(null_mut(), name.as_ptr(), null()) };
        let method = fetched(library, raw, functions.EVP_CIPHER_free, name)?;
        // SAFETY: takes nothing.
        let raw = unsafe { (functions.EVP_CIPHER_CTX_new)() };
        let context = OwnedObject::new(library, raw, functions.EVP_CIPHER_CTX_free, "EVP_CIPHER_CTX_new")?;
        // SAFETY: the method is valid.
        let sizes = unsafe {
            [
                (functions.EVP_CIPHER_get_key_length)(method.raw()),
                (functions.EVP_CIPHER_get_iv_length)(method.raw()),
                (functions.EVP_CIPHER_get_block_size)(method.raw()),
            ]
        };
        let [key_len, iv_len, block_len] = sizes.map(|size| usize::try_from(size).unwrap_or(0));
        Ok(Self { context, method, is_set: false, key_len, iv_len, block_len })
    }

    /// Makes single DES, which is in the provider "legacy".
    pub(in crate::peer) fn des_cbc(library: &Libcrypto) -> Result<Self, PeerError> {
        library.load_legacy().map_err(|reason| library.unavailable("DES-CBC", reason))?;
        Self::new(library, c"DES-CBC")
    }

    /// Sets a key that stays.
    pub(in crate::peer) fn set_key(&mut self, key: &[u8]) -> Result<(), PeerError> {
        self.check_key_len(key)?;
        self.start(Some(key), None)
    }

    /// Encrypts whole blocks, or any length in a stream mode, under a new IV, and a new key unless one is set. Returns
    /// the written length.
    pub(in crate::peer) fn run(
        &mut self,
        key: Option<&[u8]>,
        iv: &[u8],
        input: &[u8],
        out: &mut [u8],
    ) -> Result<usize, PeerError> {
        if let Some(key) = key {
            self.check_key_len(key)?;
        }
        self.check_lengths(iv, input, out)?;
        self.start(key, Some(iv))?;
        let library = &self.context.library;
        let mut written: c_int = 0;
        let len = c_int::try_from(input.len()).map_err(|_| fault("a record under 2 GiB", input.len()))?;
        let (context, to) = (self.context.raw(), out.as_mut_ptr());
        // SAFETY: the input's length is passed; `out` holds as much, and without padding no more is written.
        let done = unsafe {
            (library.functions().EVP_EncryptUpdate)(context, to, &raw mut written, input.as_ptr(), len)
        };
        library.expect_one(done, "EVP_EncryptUpdate")?;
        Ok(usize::try_from(written).unwrap_or(0))
    }

    /// Ends an AEAD record that [`run`](Self::run) encrypted, and returns its tag.
    pub(in crate::peer) fn tag(&mut self, tag: &mut [u8; TAG_LEN]) -> Result<(), PeerError> {
        let library = &self.context.library;
        let functions = library.functions();
        let mut nothing = [0u8; TAG_LEN];
        let mut written: c_int = 0;
        // SAFETY: the context is in use; at most one block is written, and the buffer holds one.
        let done = unsafe {
            (functions.EVP_EncryptFinal_ex)(self.context.raw(), nothing.as_mut_ptr(), &raw mut written)
        };
        library.expect_one(done, "EVP_EncryptFinal_ex")?;
        let (what, len) = (EVP_CTRL_AEAD_GET_TAG, TAG_LEN as c_int);
        // SAFETY: the tag's length is passed.
        let done = unsafe {
            (functions.EVP_CIPHER_CTX_ctrl)(self.context.raw(), what, len, tag.as_mut_ptr().cast())
        };
        library.expect_one(done, "EVP_CTRL_AEAD_GET_TAG")
    }

    fn check_key_len(&self, key: &[u8]) -> Result<(), PeerError> {
        if key.len() == self.key_len {
            return Ok(());
        }
        Err(fault(&format!("a key of {} bytes", self.key_len), key.len()))
    }

    fn check_lengths(&self, iv: &[u8], input: &[u8], out: &[u8]) -> Result<(), PeerError> {
        let found = (iv.len(), input.len() % self.block_len.max(1));
        if (self.iv_len, 0) != found {
            return Err(fault(
                &format!("an IV of {} and blocks of {} bytes", self.iv_len, self.block_len),
                format!("{} and {} bytes", iv.len(), input.len()),
            ));
        }
        check_output_len(out.len(), input.len())
    }

    /// Starts a record. A key or an IV that is absent stays as it is.
    fn start(&mut self, key: Option<&[u8]>, iv: Option<&[u8]>) -> Result<(), PeerError> {
        let library = &self.context.library;
        let functions = library.functions();
        // The method is set once: later records only change key and IV, which is libcrypto's quickest way.
        let method = if self.is_set { null_mut() } else { self.method.raw() };
        let pointer = |bytes: Option<&[u8]>| bytes.map_or(null(), <[u8]>::as_ptr);
        let (context, key, iv) = (self.context.raw(), pointer(key), pointer(iv));
        // SAFETY: key and IV are null or have the lengths of the method, which the callers checked.
        let done = unsafe { (functions.EVP_EncryptInit_ex)(context, method, null_mut(), key, iv) };
        library.expect_one(done, "EVP_EncryptInit_ex")?;
        // After the context is set up, as the manual of EVP_CIPHER_CTX_set_padding asks.
        if !self.is_set {
            // SAFETY: the context has its method.
            let done = unsafe { (functions.EVP_CIPHER_CTX_set_padding)(context, 0) };
            library.expect_one(done, "EVP_CIPHER_CTX_set_padding")?;
            self.is_set = true;
        }
        Ok(())
    }
}

/// The bytes of a TLS record's header that a MAC covers, without the two bytes of the length.
pub(in crate::peer) const HEADER_LEN: usize = 11;

/// Returns the length of a TLS record as its header has it.
pub(in crate::peer) fn record_len(len: usize) -> Result<[u8; 2], PeerError> {
    let short = u16::try_from(len).map_err(|_| fault("a record under 64 KiB", len));
    short.map(u16::to_be_bytes)
}

/// A cipher and an HMAC in one loop of assembly, for TLS records.
pub(in crate::peer) struct StitchedCipher {
    context: OwnedObject,
    /// The method, which the context refers to.
    _method: OwnedObject,
    iv_len: usize,
}

impl StitchedCipher {
    /// Makes the context of a connection.
    pub(in crate::peer) fn new(
        library: &Libcrypto,
        name: &'static CStr,
        key: &[u8],
        mac_key: &[u8],
    ) -> Result<Self, PeerError> {
        let PeerCipher { context, method, key_len, iv_len, .. } = PeerCipher::new(library, name)?;
        if key.len() != key_len {
            return Err(fault(&format!("a key of {key_len} bytes"), key.len()));
        }
        let functions = library.functions();
        // A copy, because the control takes a pointer to bytes that it may change.
        let mut mac_key = mac_key.to_vec();
        let mac_len = c_int::try_from(mac_key.len()).unwrap_or(0);
        // SAFETY: the key has the length of the method, and no IV is set yet.
        let done = unsafe {
            (functions.EVP_EncryptInit_ex)(context.raw(), method.raw(), null_mut(), key.as_ptr(), null())
        };
        library.expect_one(done, "EVP_EncryptInit_ex")?;
        // SAFETY: the key's length is passed, and it is copied.
        let done = unsafe {
            let (what, key) = (EVP_CTRL_AEAD_SET_MAC_KEY, mac_key.as_mut_ptr().cast());
            (functions.EVP_CIPHER_CTX_ctrl)(context.raw(), what, mac_len, key)
        };
        mac_key.zeroize();
        library.expect_one(done, "EVP_CTRL_AEAD_SET_MAC_KEY")?;
        Ok(Self { context, _method: method, iv_len })
    }

    /// Encrypts a record of `len` bytes, which begins `record`. The record ends with room for MAC and padding.
    pub(in crate::peer) fn run(
        &mut self,
        iv: &[u8],
        header: &[u8; HEADER_LEN],
        len: usize,
        record: &[u8],
        out: &mut [u8],
    ) -> Result<usize, PeerError> {
        let library = &self.context.library;
        let functions = library.functions();
        check_output_len(out.len(), record.len())?;
        if iv.len() != self.iv_len {
            return Err(fault(&format!("an IV of {} bytes", self.iv_len), iv.len()));
        }
        let mut aad = [0; HEADER_LEN + 2];
        aad[..HEADER_LEN].copy_from_slice(header);
        aad[HEADER_LEN..].copy_from_slice(&record_len(len)?);
        let context = self.context.raw();
        // SAFETY: the context has its method and key, and the IV has the length of the method.
        let done =
            unsafe { (functions.EVP_EncryptInit_ex)(context, null_mut(), null_mut(), null(), iv.as_ptr()) };
        library.expect_one(done, "EVP_EncryptInit_ex")?;
        // SAFETY: the length of the header is passed.
        let added = unsafe {
            let (what, header_len) = (EVP_CTRL_AEAD_TLS1_AAD, aad.len() as c_int);
            (functions.EVP_CIPHER_CTX_ctrl)(context, what, header_len, aad.as_mut_ptr().cast())
        };
        // The control returns how many bytes MAC and padding add to a record with this header.
        if usize::try_from(added).ok().and_then(|added| len.checked_add(added)) != Some(record.len()) {
            let expected = format!("{} bytes for MAC and padding", record.len() - len);
            return Err(fault(&expected, added));
        }
        let mut written: c_int = 0;
        // SAFETY: the record's length is passed, it was just found to be the one for this header, and `out` holds as
        // much.
        let done = unsafe {
            let (to, from, len) = (out.as_mut_ptr(), record.as_ptr(), record.len() as c_int);
            (functions.EVP_EncryptUpdate)(context, to, &raw mut written, from, len)
        };
        library.expect_one(done, "EVP_EncryptUpdate")?;
        Ok(usize::try_from(written).unwrap_or(0))
    }
}

/// A MAC with its context.
pub(in crate::peer) struct PeerMac {
    context: OwnedObject,
    /// The method, which the context refers to.
    _method: OwnedObject,
    /// None if a key may have any length.
    key_len: Option<usize>,
}

impl PeerMac {
    /// Makes CMAC over AES with keys of 16 or 32 bytes.
    pub(in crate::peer) fn aes_cmac(library: &Libcrypto, key_len: usize) -> Result<Self, PeerError> {
        let cipher = match key_len {
            16 => c"AES-128-CBC",
            32 => c"AES-256-CBC",
            _ => return Err(fault("a key of 16 or 32 bytes", key_len)),
        };
        Self::new(library, c"CMAC", c"cipher", cipher, Some(key_len))
    }

    /// Makes HMAC with keys of any length.
    pub(in crate::peer) fn hmac(library: &Libcrypto, digest: &CStr) -> Result<Self, PeerError> {
        Self::new(library, c"HMAC", c"digest", digest, None)
    }

    /// Makes a MAC with one parameter, which names the function below it.
    fn new(
        library: &Libcrypto,
        name: &'static CStr,
        parameter: &CStr,
        value: &CStr,
        key_len: Option<usize>,
    ) -> Result<Self, PeerError> {
        let functions = library.functions();
        // A copy, because the parameter has a pointer to text that may change.
        let mut value = value.to_owned().into_bytes_with_nul();
        // SAFETY: a null context is the default one; the name is a C string.
        let raw = unsafe { (functions.EVP_MAC_fetch)(null_mut(), name.as_ptr(), null()) };
        let method = fetched(library, raw, functions.EVP_MAC_free, name)?;
        // SAFETY: the method is valid.
        let raw = unsafe { (functions.EVP_MAC_CTX_new)(method.raw()) };
        let context = OwnedObject::new(library, raw, functions.EVP_MAC_CTX_free, "EVP_MAC_CTX_new")?;
        // SAFETY: the parameters outlive the call and end as they must; length 0 means up to the terminator.
        let done = unsafe {
            let text = value.as_mut_ptr().cast();
            let first = (functions.OSSL_PARAM_construct_utf8_string)(parameter.as_ptr(), text, 0);
            let parameters = [first, (functions.OSSL_PARAM_construct_end)()];
            (functions.EVP_MAC_CTX_set_params)(context.raw(), parameters.as_ptr())
        };
        library.expect_one(done, "EVP_MAC_CTX_set_params")?;
        Ok(Self { context, _method: method, key_len })
    }

    /// Sets a key that stays.
    pub(in crate::peer) fn set_key(&mut self, key: &[u8]) -> Result<(), PeerError> {
        self.check_key_len(key)?;
        let library = &self.context.library;
        // SAFETY: the key's length is passed; the context has its function.
        let done = unsafe {
            (library.functions().EVP_MAC_init)(self.context.raw(), key.as_ptr(), key.len(), null())
        };
        library.expect_one(done, "EVP_MAC_init")
    }

    fn check_key_len(&self, key: &[u8]) -> Result<(), PeerError> {
        match self.key_len.filter(|len| key.len() != *len) {
            Some(len) => Err(fault(&format!("a key of {len} bytes"), key.len())),
            None => Ok(()),
        }
    }

    /// Computes the MAC of `message`, under a new key unless one is set, and returns its length.
    pub(in crate::peer) fn run(
        &mut self,
        key: Option<&[u8]>,
        message: &[u8],
        out: &mut [u8],
    ) -> Result<usize, PeerError> {
        if let Some(key) = key {
            self.check_key_len(key)?;
        }
        // A null pointer keeps the key.
        let (key, key_len) = key.map_or((null(), 0), |key| (key.as_ptr(), key.len()));
        let library = &self.context.library;
        let functions = library.functions();
        let context = self.context.raw();
        let mut len = 0usize;
        // SAFETY: every length is passed; the context has its function.
        let done = unsafe {
            (functions.EVP_MAC_init)(context, key, key_len, null())
                .min((functions.EVP_MAC_update)(context, message.as_ptr(), message.len()))
                .min((functions.EVP_MAC_final)(context, out.as_mut_ptr(), &raw mut len, out.len()))
        };
        // The smallest result is 1 only if all three calls succeeded.
        library.expect_one(done, "EVP_MAC_final").map(|()| len)
    }
}
