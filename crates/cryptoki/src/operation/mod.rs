//! Operations in steps, and many operations in one call.

mod cipher;
mod counter;
mod derive;
mod digest;
mod failure;
mod generate;
mod mac;
mod many;
mod many_records;
mod padding;
mod record;
mod rsa;
mod signature;

pub(crate) use self::cipher::{CipherDirection, CipherOperation};
pub(crate) use self::derive::derive;
pub(crate) use self::digest::DigestOperation;
pub(crate) use self::failure::{FailureRule, to_return_code};
pub(crate) use self::generate::{generate_pair, generate_secret};
pub use self::many::{ManyAnswers, ManyInputs, ManyIvs, ManySpans};
pub(crate) use self::many_records::{cipher_many, sign_many, verify_many};
pub(crate) use self::signature::{SignatureOperation, SigningStep};
