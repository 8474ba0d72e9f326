//! libcrypto, loaded at run time, and that of AWS-LC, which the program contains: all foreign calls of this crate,
//! behind safe types.
//!
//! Of OpenSSL, only functions that it has documented from 3.0 on are used. A library is never unloaded: it registers
//! exit handlers and thread-local destructors of its own.
#![allow(unsafe_code, reason = "the crate's one address for foreign calls")]

pub(super) mod aws_lc;
mod ciphers;

use std::ffi::{CStr, c_char, c_int, c_long, c_uchar, c_uint, c_ulong, c_void};
use std::fmt;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::ptr::{NonNull, null, null_mut};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use super::PeerError;
pub(super) use ciphers::{HEADER_LEN, PeerCipher, PeerMac, StitchedCipher, TAG_LEN, record_len};

/// glibc: a library prefers its own symbols, so two versions of libcrypto in one process do not mix.
const RTLD_DEEPBIND: c_int = if cfg!(all(target_os = "linux", target_env = "gnu")) { 0x8 } else { 0 };

// The name without a version is last, because it may be that of an older library.
#[cfg(not(target_os = "macos"))]
const DEFAULT_NAMES: [&str; 3] = ["libcrypto.so.3", "libcrypto.so.4", "libcrypto.so"];
#[cfg(target_os = "macos")]
const DEFAULT_NAMES: [&str; 3] = ["libcrypto.3.dylib", "libcrypto.4.dylib", "libcrypto.dylib"];

const OPENSSL_VERSION: c_int = 0;
const RSA_PKCS1_PADDING: c_int = 1;

/// A pointer to one of libcrypto's opaque objects.
type Raw = *mut c_void;

/// `OSSL_PARAM` of openssl/core.h.
#[repr(C)]
#[derive(Clone, Copy)]
struct PeerParam {
    key: *const c_char,
    data_type: c_uint,
    data: *mut c_void,
    data_size: usize,
    return_size: usize,
}

macro_rules! functions {
    ($($name:ident($($argument:ty),*) $(-> $result:ty)?;)*) => {
        #[expect(non_snake_case, reason = "the names of the C functions")]
        struct Functions { $($name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)* }

        impl Functions {
            /// Loads each symbol by name. The error is the first name that is missing.
            ///
            /// # Safety
            /// `library` stays loaded as long as the result is used, and is OpenSSL 3.0 or later.
            unsafe fn resolve(library: &Library) -> Result<Self, &'static str> {
                Ok(Self { $($name: {
                    // SAFETY: the signature is the one that OpenSSL documents for this name.
                    unsafe { library.get(concat!(stringify!($name), "\0").as_bytes()) }
                        .map(|symbol| *symbol)
                        .map_err(|_| stringify!($name))?
                },)* })
            }
        }
    };
}

functions! {
    OPENSSL_version_major() -> c_uint;
    OpenSSL_version(c_int) -> *const c_char;
    OSSL_PROVIDER_load(Raw, *const c_char) -> Raw;
    ERR_get_error() -> c_ulong;
    ERR_error_string_n(c_ulong, *mut c_char, usize);
    ERR_clear_error();
    d2i_AutoPrivateKey(*mut Raw, *mut *const c_uchar, c_long) -> Raw;
    d2i_PUBKEY(*mut Raw, *mut *const c_uchar, c_long) -> Raw;
    EVP_PKEY_new_raw_public_key_ex(Raw, *const c_char, *const c_char, *const c_uchar, usize) -> Raw;
    EVP_PKEY_free(Raw);
    EVP_PKEY_get_size(Raw) -> c_int;
    EVP_PKEY_CTX_new_from_pkey(Raw, Raw, *const c_char) -> Raw;
    EVP_PKEY_CTX_free(Raw);
    EVP_PKEY_CTX_set_rsa_padding(Raw, c_int) -> c_int;
    EVP_PKEY_CTX_set_signature_md(Raw, Raw) -> c_int;
    EVP_PKEY_sign_init(Raw) -> c_int;
    EVP_PKEY_sign(Raw, *mut c_uchar, *mut usize, *const c_uchar, usize) -> c_int;
    EVP_PKEY_verify_init(Raw) -> c_int;
    EVP_PKEY_verify(Raw, *const c_uchar, usize, *const c_uchar, usize) -> c_int;
    EVP_PKEY_derive_init(Raw) -> c_int;
    EVP_PKEY_derive_set_peer(Raw, Raw) -> c_int;
    EVP_PKEY_derive(Raw, *mut c_uchar, *mut usize) -> c_int;
    EVP_PKEY_encapsulate_init(Raw, *const PeerParam) -> c_int;
    EVP_PKEY_encapsulate(Raw, *mut c_uchar, *mut usize, *mut c_uchar, *mut usize) -> c_int;
    EVP_PKEY_decapsulate_init(Raw, *const PeerParam) -> c_int;
    EVP_PKEY_decapsulate(Raw, *mut c_uchar, *mut usize, *const c_uchar, usize) -> c_int;
    EVP_MD_CTX_new() -> Raw;
    EVP_MD_CTX_free(Raw);
    EVP_MD_fetch(Raw, *const c_char, *const c_char) -> Raw;
    EVP_MD_free(Raw);
    EVP_MD_get_size(Raw) -> c_int;
    EVP_DigestInit_ex(Raw, Raw, Raw) -> c_int;
    EVP_DigestUpdate(Raw, *const c_void, usize) -> c_int;
    EVP_DigestFinal_ex(Raw, *mut c_uchar, *mut c_uint) -> c_int;
    EVP_DigestFinalXOF(Raw, *mut c_uchar, usize) -> c_int;
    EVP_DigestSignInit(Raw, *mut Raw, Raw, Raw, Raw) -> c_int;
    EVP_DigestSign(Raw, *mut c_uchar, *mut usize, *const c_uchar, usize) -> c_int;
    EVP_DigestVerifyInit(Raw, *mut Raw, Raw, Raw, Raw) -> c_int;
    EVP_DigestVerify(Raw, *const c_uchar, usize, *const c_uchar, usize) -> c_int;
    EVP_CIPHER_fetch(Raw, *const c_char, *const c_char) -> Raw;
    EVP_CIPHER_free(Raw);
    EVP_CIPHER_get_key_length(Raw) -> c_int;
    EVP_CIPHER_get_iv_length(Raw) -> c_int;
    EVP_CIPHER_get_block_size(Raw) -> c_int;
    EVP_CIPHER_CTX_new() -> Raw;
    EVP_CIPHER_CTX_free(Raw);
    EVP_CIPHER_CTX_set_padding(Raw, c_int) -> c_int;
    EVP_CIPHER_CTX_ctrl(Raw, c_int, c_int, *mut c_void) -> c_int;
    EVP_EncryptInit_ex(Raw, Raw, Raw, *const c_uchar, *const c_uchar) -> c_int;
    EVP_EncryptUpdate(Raw, *mut c_uchar, *mut c_int, *const c_uchar, c_int) -> c_int;
    EVP_EncryptFinal_ex(Raw, *mut c_uchar, *mut c_int) -> c_int;
    EVP_MAC_fetch(Raw, *const c_char, *const c_char) -> Raw;
    EVP_MAC_free(Raw);
    EVP_MAC_CTX_new(Raw) -> Raw;
    EVP_MAC_CTX_free(Raw);
    EVP_MAC_CTX_set_params(Raw, *const PeerParam) -> c_int;
    EVP_MAC_init(Raw, *const c_uchar, usize, *const PeerParam) -> c_int;
    EVP_MAC_update(Raw, *const c_uchar, usize) -> c_int;
    EVP_MAC_final(Raw, *mut c_uchar, *mut usize, usize) -> c_int;
    OSSL_PARAM_construct_utf8_string(*const c_char, *mut c_char, usize) -> PeerParam;
    OSSL_PARAM_construct_end() -> PeerParam;
}

/// One loaded libcrypto. Clones share it.
#[derive(Clone)]
pub(crate) struct Libcrypto(Arc<LoadedSymbols>);

struct LoadedSymbols {
    functions: Functions,
    path: PathBuf,
    /// The version as `openssl version` prints it first: `OpenSSL 3.0.19`.
    version: String,
    /// False if another library of the same major version was loaded first: a provider module would bind to that one.
    owns_modules: bool,
    legacy: OnceLock<Result<(), String>>,
    /// True if a context of `EVP_DigestSign` serves one message only.
    single_use_messages: OnceLock<bool>,
    _library: ManuallyDrop<Library>,
}

impl fmt::Debug for Libcrypto {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Libcrypto").field("version", &self.0.version).field("path", &self.0.path).finish()
    }
}

/// Returns the loader's error, which names the file.
fn reason(error: &libloading::Error) -> String {
    use std::error::Error;
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

impl Libcrypto {
    /// Loads the library at `path`, or the system's own. Warns once on stderr if the environment restricts the CPU
    /// features that the library may use, which it reads while it loads.
    pub(crate) fn load(path: Option<&Path>) -> Result<Self, PeerError> {
        warn_once();
        let mut reasons = Vec::new();
        let names: Vec<&Path> =
            path.map_or_else(|| DEFAULT_NAMES.iter().map(Path::new).collect(), |path| vec![path]);
        for name in names {
            // SAFETY: libcrypto's initialisers have no precondition; the library is never unloaded.
            match unsafe { Library::open(Some(name), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND) } {
                Ok(library) => return Self::adopt(library, name),
                Err(error) => reasons.push(reason(&error)),
            }
        }
        Err(PeerError::NotFound { reason: reasons.join("; ") })
    }

    /// The version as `openssl version` prints it first: `OpenSSL 3.0.19`.
    pub(crate) fn version(&self) -> &str {
        &self.0.version
    }

    /// Returns the path or the name under which it was loaded.
    pub(crate) fn path(&self) -> &Path {
        &self.0.path
    }

    fn adopt(library: Library, path: &Path) -> Result<Self, PeerError> {
        // Kept even if it turns out to be unsuitable: its exit handlers may be registered already.
        let library = ManuallyDrop::new(library);
        // The first name exists only in OpenSSL 3.0 and later; older versions and forks lack it.
        // SAFETY: the library stays loaded for good, so the functions do not outlive it.
        let functions = unsafe { Functions::resolve(&library) }
            .map_err(|symbol| PeerError::Unsuitable { path: path.to_owned(), symbol })?;
        // SAFETY: takes nothing, reads a constant.
        let major = unsafe { (functions.OPENSSL_version_major)() };
        // SAFETY: returns a static string for this argument.
        let version = unsafe { CStr::from_ptr((functions.OpenSSL_version)(OPENSSL_VERSION)) };
        let version = version.to_string_lossy().split(' ').take(2).collect::<Vec<_>>().join(" ");
        let owns_modules = is_first_of(major, &version, path);
        let loaded = LoadedSymbols {
            functions,
            path: path.to_owned(),
            version,
            owns_modules,
            legacy: OnceLock::new(),
            single_use_messages: OnceLock::new(),
            _library: library,
        };
        Ok(Self(Arc::new(loaded)))
    }

    fn functions(&self) -> &Functions {
        &self.0.functions
    }

    /// Makes single DES available (OpenSSL 3.0 moved it to the provider "legacy").
    fn load_legacy(&self) -> Result<(), String> {
        self.0.legacy.get_or_init(|| self.load_providers()).clone()
    }

    fn load_providers(&self) -> Result<(), String> {
        if !self.0.owns_modules {
            return Err(
                "its legacy provider would bind to the library of the same major version loaded first".into(),
            );
        }
        // Naming one provider switches off the implicit default one, so that is named too.
        for name in [c"default", c"legacy"] {
            // SAFETY: a null context is the default one; the name is a C string.
            let provider = unsafe { (self.functions().OSSL_PROVIDER_load)(null_mut(), name.as_ptr()) };
            if provider.is_null() {
                return Err(format!("provider {}: {}", name.to_string_lossy(), self.last_reason()));
            }
        }
        Ok(())
    }

    /// Returns the first entry of the thread's error queue, and empties the queue.
    fn last_reason(&self) -> String {
        let functions = self.functions();
        let mut text = [0u8; 256];
        // SAFETY: the buffer's length is passed and the text is always terminated.
        unsafe {
            let code = (functions.ERR_get_error)();
            (functions.ERR_error_string_n)(code, text.as_mut_ptr().cast(), text.len());
            (functions.ERR_clear_error)();
        }
        CStr::from_bytes_until_nul(&text).map(|text| text.to_string_lossy().into_owned()).unwrap_or_default()
    }

    fn failure(&self, call: &'static str) -> PeerError {
        PeerError::Failed { library: self.version().into(), call, reason: self.last_reason() }
    }

    fn unavailable(&self, algorithm: &'static str, reason: String) -> PeerError {
        PeerError::Unavailable { library: self.version().into(), algorithm, reason }
    }

    /// Checks a return value: libcrypto's functions return 1 or a positive number for success.
    fn expect_one(&self, result: c_int, call: &'static str) -> Result<(), PeerError> {
        if result > 0 { Ok(()) } else { Err(self.failure(call)) }
    }

    fn non_null(&self, raw: Raw, call: &'static str) -> Result<NonNull<c_void>, PeerError> {
        NonNull::new(raw).ok_or_else(|| self.failure(call))
    }
}

/// Returns the effect of OPENSSL_ia32cap on the figures, or None. libcrypto and AWS-LC read it once, while they load,
/// so it is too late to undo in this process; set but empty, it switches every CPU feature off.
pub(crate) fn capability_warning() -> Option<String> {
    let mask = std::env::var_os("OPENSSL_ia32cap")?;
    Some(if mask.is_empty() {
        "OPENSSL_ia32cap is set but empty: it switches every CPU feature off in OpenSSL and AWS-LC, so no figure below \
         is what they can do; unset it and run again"
            .into()
    } else {
        format!(
            "OPENSSL_ia32cap={}: OpenSSL and AWS-LC run with altered CPU features",
            mask.to_string_lossy()
        )
    })
}

fn warn_once() {
    static WARNED: OnceLock<()> = OnceLock::new();
    WARNED.get_or_init(|| {
        if let Some(warning) = capability_warning() {
            eprintln!("warning: {warning}");
        }
    });
}

/// True for the first library of its major version: the loader binds a provider module by soname, so to that one.
fn is_first_of(major: c_uint, version: &str, path: &Path) -> bool {
    type First = (c_uint, String, PathBuf);
    static FIRST: Mutex<Vec<First>> = Mutex::new(Vec::new());
    let mut first = FIRST.lock().unwrap_or_else(PoisonError::into_inner);
    match first.iter().find(|(known, ..)| *known == major) {
        Some((_, known, at)) => known == version && at == path,
        None => {
            first.push((major, version.into(), path.to_owned()));
            true
        }
    }
}

/// An object of one library, freed by that library's own function.
struct OwnedObject {
    library: Libcrypto,
    raw: NonNull<c_void>,
    free: unsafe extern "C" fn(Raw),
}

// SAFETY: libcrypto's objects are not bound to the thread that made them.
unsafe impl Send for OwnedObject {}

impl OwnedObject {
    fn new(
        library: &Libcrypto,
        raw: Raw,
        free: unsafe extern "C" fn(Raw),
        call: &'static str,
    ) -> Result<Self, PeerError> {
        Ok(Self { library: library.clone(), raw: library.non_null(raw, call)?, free })
    }

    fn raw(&self) -> Raw {
        self.raw.as_ptr()
    }
}

impl Drop for OwnedObject {
    fn drop(&mut self) {
        // SAFETY: made by the matching constructor, owned by this value alone, and the library is still loaded.
        unsafe { (self.free)(self.raw()) }
    }
}

/// A private or public key.
pub(super) struct PeerKey(OwnedObject);

impl PeerKey {
    pub(super) fn private(library: &Libcrypto, pkcs8: &[u8]) -> Result<Self, PeerError> {
        Self::parse(library, pkcs8, library.functions().d2i_AutoPrivateKey, "d2i_AutoPrivateKey")
    }

    pub(super) fn public(library: &Libcrypto, spki: &[u8]) -> Result<Self, PeerError> {
        Self::parse(library, spki, library.functions().d2i_PUBKEY, "d2i_PUBKEY")
    }

    /// Makes a key of a 32-byte public value of X25519.
    pub(super) fn x25519_peer(library: &Libcrypto, value: &[u8]) -> Result<Self, PeerError> {
        let functions = library.functions();
        let (name, any) = (c"X25519".as_ptr(), null());
        // SAFETY: a null context is the default one; the value's length is passed.
        let raw = unsafe {
            (functions.EVP_PKEY_new_raw_public_key_ex)(null_mut(), name, any, value.as_ptr(), value.len())
        };
        OwnedObject::new(library, raw, functions.EVP_PKEY_free, "EVP_PKEY_new_raw_public_key_ex").map(Self)
    }

    /// Returns the length of the longest signature or secret of this key, in bytes.
    pub(super) fn output_len(&self) -> usize {
        // SAFETY: the key is valid.
        let size = unsafe { (self.0.library.functions().EVP_PKEY_get_size)(self.0.raw()) };
        usize::try_from(size).unwrap_or(0)
    }

    fn parse(
        library: &Libcrypto,
        der: &[u8],
        decode: unsafe extern "C" fn(*mut Raw, *mut *const c_uchar, c_long) -> Raw,
        call: &'static str,
    ) -> Result<Self, PeerError> {
        let mut cursor = der.as_ptr();
        // No key is that long, and with 0 bytes the function fails.
        let len = c_long::try_from(der.len()).unwrap_or(0);
        // SAFETY: reads at most `len` bytes behind the cursor; with a null first argument a new key is made.
        let raw = unsafe { decode(null_mut(), &raw mut cursor, len) };
        OwnedObject::new(library, raw, library.functions().EVP_PKEY_free, call).map(Self)
    }
}

/// A public-key operation set up once and repeated, as `openssl speed` does.
pub(super) struct PkeyContext(OwnedObject);

impl PkeyContext {
    /// Prepares signing of digests. RSA needs `digest`, because its padding contains the digest's identifier.
    pub(super) fn sign(key: &PeerKey, digest: Option<&PeerDigest>) -> Result<Self, PeerError> {
        let init = key.0.library.functions().EVP_PKEY_sign_init;
        Self::new(key, init, "EVP_PKEY_sign_init")?.with_pkcs1(digest)
    }

    /// Prepares verification of signatures of digests.
    pub(super) fn verify(key: &PeerKey, digest: Option<&PeerDigest>) -> Result<Self, PeerError> {
        let init = key.0.library.functions().EVP_PKEY_verify_init;
        Self::new(key, init, "EVP_PKEY_verify_init")?.with_pkcs1(digest)
    }

    /// Prepares derivation of the secret shared with `peer`.
    pub(super) fn derive(key: &PeerKey, peer: &PeerKey) -> Result<Self, PeerError> {
        let library = &key.0.library;
        let context = Self::new(key, library.functions().EVP_PKEY_derive_init, "EVP_PKEY_derive_init")?;
        // SAFETY: both objects are valid; the context takes its own reference of the peer's key.
        let set = unsafe { (library.functions().EVP_PKEY_derive_set_peer)(context.0.raw(), peer.0.raw()) };
        library.expect_one(set, "EVP_PKEY_derive_set_peer")?;
        Ok(context)
    }

    /// Prepares encapsulation under the public half of `key`.
    pub(super) fn encapsulate(key: &PeerKey) -> Result<Self, PeerError> {
        let library = &key.0.library;
        let context = Self::without_use(key)?;
        // SAFETY: the context was just made; no parameters are given.
        let set = unsafe { (library.functions().EVP_PKEY_encapsulate_init)(context.0.raw(), null()) };
        library.expect_one(set, "EVP_PKEY_encapsulate_init")?;
        Ok(context)
    }

    /// Prepares decapsulation.
    pub(super) fn decapsulate(key: &PeerKey) -> Result<Self, PeerError> {
        let library = &key.0.library;
        let context = Self::without_use(key)?;
        // SAFETY: the context was just made; no parameters are given.
        let set = unsafe { (library.functions().EVP_PKEY_decapsulate_init)(context.0.raw(), null()) };
        library.expect_one(set, "EVP_PKEY_decapsulate_init")?;
        Ok(context)
    }

    /// Writes a ciphertext of `ciphertext_len` bytes and the secret behind it, and returns the length of both.
    pub(super) fn run_encapsulate(
        &mut self,
        ciphertext_len: usize,
        out: &mut [u8],
    ) -> Result<usize, PeerError> {
        let library = &self.0.library;
        let (ciphertext, secret) = out.split_at_mut(ciphertext_len.min(out.len()));
        let (mut len, mut secret_len) = (ciphertext.len(), secret.len());
        let (to, secret_to) = (ciphertext.as_mut_ptr(), secret.as_mut_ptr());
        // SAFETY: the lengths of both outputs are passed; the context is initialised for encapsulation.
        let done = unsafe {
            let encapsulate = library.functions().EVP_PKEY_encapsulate;
            encapsulate(self.0.raw(), to, &raw mut len, secret_to, &raw mut secret_len)
        };
        library.expect_one(done, "EVP_PKEY_encapsulate").map(|()| len + secret_len)
    }

    /// Writes the secret of a ciphertext, and returns its length.
    pub(super) fn run_decapsulate(&mut self, ciphertext: &[u8], out: &mut [u8]) -> Result<usize, PeerError> {
        let library = &self.0.library;
        let mut len = out.len();
        let (from, from_len, to) = (ciphertext.as_ptr(), ciphertext.len(), out.as_mut_ptr());
        // SAFETY: both lengths are passed; the context is initialised for decapsulation.
        let done = unsafe {
            (library.functions().EVP_PKEY_decapsulate)(self.0.raw(), to, &raw mut len, from, from_len)
        };
        library.expect_one(done, "EVP_PKEY_decapsulate").map(|()| len)
    }

    /// Writes the signature of `digest`, and returns its length.
    pub(super) fn run_sign(&mut self, digest: &[u8], out: &mut [u8]) -> Result<usize, PeerError> {
        let library = &self.0.library;
        let mut len = out.len();
        let (from, from_len, to) = (digest.as_ptr(), digest.len(), out.as_mut_ptr());
        // SAFETY: both lengths are passed; the context is initialised for signing.
        let done =
            unsafe { (library.functions().EVP_PKEY_sign)(self.0.raw(), to, &raw mut len, from, from_len) };
        library.expect_one(done, "EVP_PKEY_sign").map(|()| len)
    }

    /// True if `signature` is accepted. A malformed signature is rejected and is not an error.
    pub(super) fn run_verify(&mut self, digest: &[u8], signature: &[u8]) -> bool {
        let functions = self.0.library.functions();
        let (from, from_len) = (digest.as_ptr(), digest.len());
        // SAFETY: both lengths are passed; the context is initialised for verifying.
        unsafe {
            (functions.EVP_PKEY_verify)(self.0.raw(), signature.as_ptr(), signature.len(), from, from_len)
                == 1
        }
    }

    /// Writes the shared secret, and returns its length.
    pub(super) fn run_derive(&mut self, out: &mut [u8]) -> Result<usize, PeerError> {
        let library = &self.0.library;
        let mut len = out.len();
        // SAFETY: the length of the output is passed; the context has its peer.
        let done =
            unsafe { (library.functions().EVP_PKEY_derive)(self.0.raw(), out.as_mut_ptr(), &raw mut len) };
        library.expect_one(done, "EVP_PKEY_derive").map(|()| len)
    }

    fn new(
        key: &PeerKey,
        init: unsafe extern "C" fn(Raw) -> c_int,
        call: &'static str,
    ) -> Result<Self, PeerError> {
        let context = Self::without_use(key)?;
        // SAFETY: the context was just made.
        key.0.library.expect_one(unsafe { init(context.0.raw()) }, call)?;
        Ok(context)
    }

    fn without_use(key: &PeerKey) -> Result<Self, PeerError> {
        let library = &key.0.library;
        let functions = library.functions();
        // SAFETY: the key is valid; the context takes its own reference of it.
        let raw = unsafe { (functions.EVP_PKEY_CTX_new_from_pkey)(null_mut(), key.0.raw(), null()) };
        OwnedObject::new(library, raw, functions.EVP_PKEY_CTX_free, "EVP_PKEY_CTX_new_from_pkey").map(Self)
    }

    fn with_pkcs1(self, digest: Option<&PeerDigest>) -> Result<Self, PeerError> {
        let Some(digest) = digest else { return Ok(self) };
        let library = &self.0.library;
        let functions = library.functions();
        // SAFETY: the context is initialised for signing or verifying.
        let padding = unsafe { (functions.EVP_PKEY_CTX_set_rsa_padding)(self.0.raw(), RSA_PKCS1_PADDING) };
        library.expect_one(padding, "EVP_PKEY_CTX_set_rsa_padding")?;
        // SAFETY: context and digest are valid; the context copies what it keeps.
        let set = unsafe { (functions.EVP_PKEY_CTX_set_signature_md)(self.0.raw(), digest.method.raw()) };
        library.expect_one(set, "EVP_PKEY_CTX_set_signature_md")?;
        Ok(self)
    }
}

/// The function that sets up a context for one message: `EVP_DigestSignInit` or `EVP_DigestVerifyInit`.
type MessageInit = unsafe extern "C" fn(Raw, *mut Raw, Raw, Raw, Raw) -> c_int;

/// Ed25519 or ML-DSA over whole messages, set up once per key.
pub(super) struct MessageContext {
    context: OwnedObject,
    init: MessageInit,
    /// Later versions end a context with its message. It is then set up again with the same key.
    is_single_use: bool,
}

impl MessageContext {
    pub(super) fn sign(key: &PeerKey) -> Result<Self, PeerError> {
        let is_single_use = Self::are_single_use(&key.0.library)?;
        Self::new(key, key.0.library.functions().EVP_DigestSignInit, is_single_use)
    }

    pub(super) fn verify(key: &PeerKey) -> Result<Self, PeerError> {
        let is_single_use = Self::are_single_use(&key.0.library)?;
        Self::new(key, key.0.library.functions().EVP_DigestVerifyInit, is_single_use)
    }

    /// Writes the signature of `message`, and returns its length.
    pub(super) fn run_sign(&mut self, message: &[u8], out: &mut [u8]) -> Result<usize, PeerError> {
        self.restart()?;
        let library = &self.context.library;
        let mut len = out.len();
        let (context, to) = (self.context.raw(), out.as_mut_ptr());
        // SAFETY: both lengths are passed; the context is initialised for signing.
        let done = unsafe {
            (library.functions().EVP_DigestSign)(context, to, &raw mut len, message.as_ptr(), message.len())
        };
        library.expect_one(done, "EVP_DigestSign").map(|()| len)
    }

    /// True if `signature` is accepted.
    pub(super) fn run_verify(&mut self, message: &[u8], signature: &[u8]) -> Result<bool, PeerError> {
        self.restart()?;
        let functions = self.context.library.functions();
        let (context, from, from_len) = (self.context.raw(), message.as_ptr(), message.len());
        // SAFETY: both lengths are passed; the context is initialised for verifying.
        let verdict = unsafe {
            (functions.EVP_DigestVerify)(context, signature.as_ptr(), signature.len(), from, from_len)
        };
        Ok(verdict == 1)
    }

    fn new(key: &PeerKey, init: MessageInit, is_single_use: bool) -> Result<Self, PeerError> {
        let library = &key.0.library;
        let functions = library.functions();
        // SAFETY: takes nothing.
        let raw = unsafe { (functions.EVP_MD_CTX_new)() };
        let context = OwnedObject::new(library, raw, functions.EVP_MD_CTX_free, "EVP_MD_CTX_new")?;
        // SAFETY: context and key are valid; Ed25519 takes no digest and no engine.
        let done = unsafe { init(context.raw(), null_mut(), null_mut(), null_mut(), key.0.raw()) };
        library.expect_one(done, "EVP_DigestSignInit or EVP_DigestVerifyInit")?;
        Ok(Self { context, init, is_single_use })
    }

    fn restart(&mut self) -> Result<(), PeerError> {
        if !self.is_single_use {
            return Ok(());
        }
        // SAFETY: the context was initialised with its key, which a null key keeps.
        let done = unsafe { (self.init)(self.context.raw(), null_mut(), null_mut(), null_mut(), null_mut()) };
        self.context.library.expect_one(done, "EVP_DigestSignInit or EVP_DigestVerifyInit")
    }

    /// True if a second message fails in a context that has signed one. Each library is tried once.
    fn are_single_use(library: &Libcrypto) -> Result<bool, PeerError> {
        if let Some(&known) = library.0.single_use_messages.get() {
            return Ok(known);
        }
        let key = PeerKey::private(library, &TRIAL_KEY)?;
        let mut context = Self::new(&key, library.functions().EVP_DigestSignInit, false)?;
        let mut signature = [0; 64];
        context.run_sign(b"first", &mut signature)?;
        let is_single_use = context.run_sign(b"second", &mut signature).is_err();
        Ok(*library.0.single_use_messages.get_or_init(|| is_single_use))
    }
}

/// An Ed25519 key of 32 zero bytes in PKCS#8 (RFC 8410 7), which signs nothing that matters.
const TRIAL_KEY: [u8; 48] = {
    let prefix = *b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20";
    let mut der = [0; 48];
    let mut index = 0;
    while index < prefix.len() {
        der[index] = prefix[index];
        index += 1;
    }
    der
};

/// A hash with its context.
pub(super) struct PeerDigest {
    context: OwnedObject,
    method: OwnedObject,
    output_len: usize,
    /// True if the caller decides the length of the output.
    is_xof: bool,
}

impl PeerDigest {
    /// Makes an extendable-output function with an output of `output_len` bytes.
    pub(super) fn xof(
        library: &Libcrypto,
        name: &'static CStr,
        output_len: usize,
    ) -> Result<Self, PeerError> {
        Ok(Self { output_len, is_xof: true, ..Self::new(library, name)? })
    }

    pub(super) fn new(library: &Libcrypto, name: &'static CStr) -> Result<Self, PeerError> {
        let functions = library.functions();
        // SAFETY: a null context is the default one; the name is a C string.
        let raw = unsafe { (functions.EVP_MD_fetch)(null_mut(), name.as_ptr(), null()) };
        let method = fetched(library, raw, functions.EVP_MD_free, name)?;
        // SAFETY: takes nothing.
        let raw = unsafe { (functions.EVP_MD_CTX_new)() };
        let context = OwnedObject::new(library, raw, functions.EVP_MD_CTX_free, "EVP_MD_CTX_new")?;
        // SAFETY: the method is valid.
        let len = unsafe { (functions.EVP_MD_get_size)(method.raw()) };
        Ok(Self { context, method, output_len: usize::try_from(len).unwrap_or(0), is_xof: false })
    }

    /// Returns the length of a digest.
    pub(super) fn output_len(&self) -> usize {
        self.output_len
    }

    /// Hashes `message` into `out`, which has the length of a digest. Returns that length.
    pub(super) fn run(&mut self, message: &[u8], out: &mut [u8]) -> Result<usize, PeerError> {
        let library = &self.context.library;
        let functions = library.functions();
        check_output_len(out.len(), self.output_len)?;
        let (context, to) = (self.context.raw(), out.as_mut_ptr());
        // SAFETY: context and method are valid, the message's length is passed, `out` holds a digest.
        let done = unsafe {
            let begun = (functions.EVP_DigestInit_ex)(context, self.method.raw(), null_mut())
                .min((functions.EVP_DigestUpdate)(context, message.as_ptr().cast(), message.len()));
            begun.min(match self.is_xof {
                true => (functions.EVP_DigestFinalXOF)(context, to, self.output_len),
                false => (functions.EVP_DigestFinal_ex)(context, to, null_mut()),
            })
        };
        // The smallest result is 1 only if all three calls succeeded.
        library.expect_one(done, "EVP_DigestFinal_ex or EVP_DigestFinalXOF").map(|()| self.output_len)
    }
}

fn fetched(
    library: &Libcrypto,
    raw: Raw,
    free: unsafe extern "C" fn(Raw),
    name: &'static CStr,
) -> Result<OwnedObject, PeerError> {
    match NonNull::new(raw) {
        Some(raw) => Ok(OwnedObject { library: library.clone(), raw, free }),
        None => Err(library.unavailable(name.to_str().unwrap_or("algorithm"), library.last_reason())),
    }
}

fn check_output_len(found: usize, wanted: usize) -> Result<(), PeerError> {
    if found < wanted { Err(super::task::fault(&format!("space for {wanted} bytes"), found)) } else { Ok(()) }
}
