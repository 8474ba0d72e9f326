//! The messages and the gRPC service of `proto/oarlock/v1/cryptoserver.proto`.

use std::fmt;

use prost::Message;

#[allow(missing_docs, missing_debug_implementations, unreachable_pub, clippy::pedantic, clippy::all)]
mod generated {
    include!("generated/oarlock.v1.rs");
}

pub use generated::*;

/// The protocol's description, for gRPC reflection.
pub const DESCRIPTORS: &[u8] = include_bytes!("generated/descriptors.bin");

/// Implements `Debug` that shows only the length of a message, whose content may be secret.
macro_rules! debug_by_length {
    ($($message:ty),*) => {$(
        impl fmt::Debug for $message {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($message), "({} bytes)"), self.encoded_len())
            }
        }
    )*};
}

debug_by_length!(
    Request,
    Response,
    OpenKey,
    Symmetric,
    Jobs,
    Results,
    Records,
    RecordResults,
    SignRequest,
    SignResponse,
    VerifyRequest,
    DecryptRequest,
    DecryptResponse,
    DeriveRequest,
    DeriveResponse,
    EncapsulateResponse,
    DecapsulateRequest,
    DecapsulateResponse,
    ProcessRequest,
    EncryptRequest,
    EncryptResponse,
    MacRequest,
    MacResponse,
    VerifyMacRequest,
    RewrapRequest,
    TokeniseRequest,
    TokeniseResponse,
    request::Body,
    response::Body,
    open_key::Source,
    sign_request::Input,
    verify_request::Input,
    verify_request::Key
);
