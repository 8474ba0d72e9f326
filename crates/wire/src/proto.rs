//! The messages, as `proto/oarlock/v1/cryptoserver.proto` has them, and the gRPC service.

use std::fmt;

use prost::Message;

#[allow(missing_docs, missing_debug_implementations, unreachable_pub, clippy::pedantic, clippy::all)]
mod generated {
    include!("generated/oarlock.v1.rs");
}

pub use generated::*;

/// The protocol's description, for gRPC reflection.
pub const DESCRIPTORS: &[u8] = include_bytes!("generated/descriptors.bin");

/// Shows how long they are: what they carry may be secret.
macro_rules! opaque {
    ($($message:ty),*) => {$(
        impl fmt::Debug for $message {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($message), "({} bytes)"), self.encoded_len())
            }
        }
    )*};
}

opaque!(
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
    ProcessRequest,
    request::Body,
    response::Body,
    open_key::Source,
    sign_request::Input,
    verify_request::Input,
    verify_request::Key
);
