//! The traits and types for authors of engines and key holders.
//!
//! An [`Engine`] computes raw shapes in this process; pass one to
//! [`AcceleratorBuilder::engine`](crate::AcceleratorBuilder::engine). A [`Holder`] performs whole schemes with keys that
//! live elsewhere, and batches of records; pass one to
//! [`AcceleratorBuilder::holder`](crate::AcceleratorBuilder::holder).

pub use oarlock_core::{
    Batch, BatchSize, BatchTask, ColumnCursor, ColumnValue, Completion, CompletionSink, EcPrivateParts,
    Ed25519PrivateParts, Engine, EngineFault, EngineLeaf, EngineLocation, HeldOutcomes, Holder, Jobs,
    KeyParts, LatticePrivate, LatticePrivateParts, LeafAbsence, ModExpParts, NonceInput, Operation,
    OperationInputs, OperationSet, OutcomeWriter, OwnedJob, OwnedJobs, ResolvedRecord, RsaPrivateParts,
    RsaPublicParts, SecondInput, TableUsage, X25519PrivateParts, erase, reserve_erasing,
};
pub use oarlock_dispatch::{Dispatcher, Results, Ticket};

pub use crate::detect::{DISABLE_VARIABLE, known_leaves};

/// Known answers for every shape, and sample workloads made from them.
pub mod selftest {
    pub use crate::selftest::*;
}

/// Digests with states, and HMAC over them, by AWS-LC.
pub mod hash {
    pub use oarlock_engine_kit::hash::{HashState, HmacKey, Sha1, Sha224, Sha256, Sha384, Sha512};
}

/// Schemes, step by step: a job becomes a raw operation, and its raw result an answer.
pub mod schemes {
    pub use crate::schemes::{
        Finisher, JobAnswer, NonceSource, ShapedJob, compute_on, digest_info, encode_ecdsa, finish,
        open_decryption, prepare, raw_result, shape_of, to_digested,
    };
}
