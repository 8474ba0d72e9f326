//! Operations in steps, and many operations in one call.

mod cipher;
mod cipher_method;
mod compute;
mod counter;
mod derive;
mod digest;
mod encapsulate;
mod failure;
mod generate;
mod mac;
mod many;
mod many_records;
mod message;
mod padding;
mod pieces;
mod record;
mod rsa;
mod signature;

pub(crate) use self::cipher::{CipherDirection, CipherOperation};
pub(crate) use self::compute::{Computation, ComputedBytes, submit_task};
pub(crate) use self::derive::Derivation;
pub(crate) use self::digest::DigestOperation;
pub(crate) use self::encapsulate::{ml_kem_set, plan_decapsulation, plan_encapsulation, split_encapsulated};
pub(crate) use self::generate::{NewKey, new_pair, new_secret};
pub(crate) use self::mac::check_verified_len;
pub use self::many::{EqualOutputs, ManyAnswers, ManyInputs, ManyIvs, ManySpans};
pub(crate) use self::many_records::{cipher_many, sign_many, verify_many};
pub(crate) use self::message::{MessageCipher, MessageSignature};
pub(crate) use self::signature::SignatureOperation;
