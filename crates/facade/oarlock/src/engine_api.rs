//! The traits and types for authors of engines and key holders.
//!
//! An [`Engine`] computes raw shapes in this process; pass one to
//! [`AcceleratorBuilder::engine`](crate::AcceleratorBuilder::engine). A [`Holder`] performs whole schemes with keys that
//! live elsewhere; pass one to [`AcceleratorBuilder::holder`](crate::AcceleratorBuilder::holder). A [`RecordHolder`]
//! computes records with such keys; pass one to
//! [`AcceleratorBuilder::record_holder`](crate::AcceleratorBuilder::record_holder).

pub use oarlock_core::{
    BatchSize, ColumnCursor, ColumnValue, Completion, CompletionSink, EcPrivateParts, Ed25519PrivateParts, Engine, EngineFault, EngineLeaf, EngineLocation, Holder, Jobs, KeyParts, LeafAbsence, ModExpParts, NonceInput, Operation, OperationInputs, OperationSet, OwnedJob, OwnedJobs, PartMut, ResolvedRecord, RsaPrivateParts, RsaPublicParts, SecondInput, TableUsage, X25519PrivateParts, erase,
};
pub use oarlock_dispatch::Dispatcher;

pub use crate::accelerator::RecordHolder;
