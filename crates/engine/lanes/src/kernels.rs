//! The kernels of a family as trait objects: what the engine asks of a leaf, whichever it is.
//!
//! A family is a group of modules that have the same leaves. Its kernels are compiled once for each leaf, behind one of
//! these traits. Every call clears the vector registers, in which kernels leave keys and intermediate values; the
//! caller's code may spill them.

use std::fmt::Debug;

use oarlock_core::{BatchSize, EngineFault, MacAlg, Operation, OutcomeWriter, Outcomes, Records, Shape};
use oarlock_engine_kit::VerifyTableCache;

use crate::curve25519::{self, field::FieldSimd};
use crate::des::{self, DesRun};
use crate::ecdsa::{self, CurvesSimd};
use crate::fault::not_offered;
use crate::hash::sha1::LaneSha1;
use crate::hash::sha256::LaneSha256;
use crate::hash::sha512::LaneSha512;
use crate::hash::{self, ChainBytes, MessageEnding, streams};
use crate::records::{self, RecordPart, RecordRef};
use crate::rsa::{self, RsaLeaf};
use crate::simd::{BlockSimd, Cpu, ShaSimd, ShortSimd, Simd, UnzipSimd};
use crate::slh_dsa::{self, StepLeaf};
use crate::stateful::{self, MessageLeaf};
use crate::{aes, chacha, ml_dsa, ml_kem};

/// Kernels of public-key operations.
pub(crate) trait OperationKernels: Debug + Send + Sync {
    /// Computes every operation, of a shape that the kernels offer, into `out`.
    fn run(
        &self,
        tables: &VerifyTableCache,
        shape: Shape,
        operations: &[Operation<'_>],
        out: &mut Outcomes,
    ) -> Result<(), EngineFault>;
}

/// Kernels of records.
pub(crate) trait RecordKernels: Debug + Send + Sync {
    /// Computes every record of every part, of a shape that the kernels offer, into `out`.
    fn run(&self, shape: Shape, parts: &[&Records<'_>], out: &mut Outcomes) -> Result<(), EngineFault>;
}

/// Kernels of ciphers.
pub(crate) trait CipherKernels: RecordKernels {
    /// Encrypts or decrypts accepted records of a part that is read as a cipher.
    fn crypt(&self, shape: Shape, part: &RecordPart<'_>, records: &[RecordRef], out: &mut OutcomeWriter<'_>);
}

/// Kernels of hashes.
pub(crate) trait HashKernels: RecordKernels {
    /// Moves each chaining value of an HMAC over its message and the end of it.
    fn advance(&self, mac: MacAlg, states: &mut [ChainBytes], messages: &[&[u8]], ending: MessageEnding);
}

/// RSA on a leaf that computes `N` operations side by side.
#[derive(Debug)]
pub(crate) struct RsaKernels<L, const N: usize>(pub(crate) L);

impl<L: RsaLeaf<N>, const N: usize> OperationKernels for RsaKernels<L, N> {
    fn run(
        &self,
        _tables: &VerifyTableCache,
        shape: Shape,
        operations: &[Operation<'_>],
        out: &mut Outcomes,
    ) -> Result<(), EngineFault> {
        let leaf = self.0;
        let _state = leaf.run_state();
        match shape {
            Shape::RsaPrivate { .. } => rsa::private(leaf, shape, operations, out),
            Shape::RsaPublic { .. } => rsa::public(leaf, shape, operations, out),
            _ => rsa::mod_exp(leaf, shape, operations, out),
        }
        leaf.clear_registers();
        Ok(())
    }
}

/// Ed25519, X25519 and ECDSA.
#[derive(Debug)]
pub(crate) struct EllipticKernels<S>(pub(crate) S);

impl<S: FieldSimd + CurvesSimd> EllipticKernels<S> {
    /// Returns the batch sizes of a shape, or None if it is not one of a curve that the leaf computes.
    pub(crate) fn offers(shape: Shape) -> Option<BatchSize> {
        match shape {
            Shape::Ed25519Sign | Shape::Ed25519Verify | Shape::X25519 => Some(curve25519::OFFERED),
            Shape::EcdsaSign { curve } | Shape::EcdsaVerify { curve } => {
                ecdsa::has::<S>(curve).then_some(ecdsa::OFFER)
            }
            _ => None,
        }
    }
}

impl<S: FieldSimd + CurvesSimd> OperationKernels for EllipticKernels<S> {
    fn run(
        &self,
        tables: &VerifyTableCache,
        shape: Shape,
        operations: &[Operation<'_>],
        out: &mut Outcomes,
    ) -> Result<(), EngineFault> {
        let simd = self.0;
        let _state = simd.run_state();
        match shape {
            Shape::Ed25519Sign => curve25519::sign::run(simd, operations, out),
            Shape::Ed25519Verify => curve25519::verify::run(simd, tables, operations, out),
            Shape::X25519 => curve25519::x25519::run(simd, operations, out),
            Shape::EcdsaSign { curve } => ecdsa::sign(simd, curve, operations, out),
            Shape::EcdsaVerify { curve } => ecdsa::verify(simd, tables, curve, operations, out),
            _ => return Err(not_offered(shape)),
        }
        simd.clear_registers();
        Ok(())
    }
}

/// ML-KEM and ML-DSA.
#[derive(Debug)]
pub(crate) struct LatticeKernels<S>(pub(crate) S);

impl<S: ShortSimd> LatticeKernels<S> {
    /// Returns the batch sizes of a shape, or None if it is not one of a lattice scheme that the leaf computes.
    pub(crate) fn offers(shape: Shape) -> Option<BatchSize> {
        ml_kem::offers::<S>(shape).or_else(|| ml_dsa::offers::<S>(shape))
    }
}

impl<S: ShortSimd> OperationKernels for LatticeKernels<S> {
    fn run(
        &self,
        tables: &VerifyTableCache,
        shape: Shape,
        operations: &[Operation<'_>],
        out: &mut Outcomes,
    ) -> Result<(), EngineFault> {
        let simd = self.0;
        let result = match shape {
            Shape::MlDsaSign { .. } | Shape::MlDsaVerify { .. } => {
                ml_dsa::run(simd, tables, shape, operations, out)
            }
            _ => ml_kem::run(simd, shape, operations, out),
        };
        cleared(simd, result)
    }
}

/// SLH-DSA, HSS and XMSS.
#[derive(Debug)]
pub(crate) struct HashTreeKernels<L>(pub(crate) L);

impl<L: StepLeaf + MessageLeaf> HashTreeKernels<L> {
    /// Returns the batch sizes of a shape, or None if it is not computed here.
    pub(crate) fn offers(shape: Shape) -> Option<BatchSize> {
        slh_dsa::offers::<L>(shape).or_else(|| stateful::offers(shape))
    }
}

impl<L: StepLeaf + MessageLeaf> OperationKernels for HashTreeKernels<L> {
    fn run(
        &self,
        _tables: &VerifyTableCache,
        shape: Shape,
        operations: &[Operation<'_>],
        out: &mut Outcomes,
    ) -> Result<(), EngineFault> {
        let result = match shape {
            Shape::HssVerify | Shape::XmssVerify => {
                stateful::run(self.0, shape, operations, out);
                Ok(())
            }
            _ => slh_dsa::run(self.0, shape, operations, out),
        };
        self.0.clear_registers();
        result
    }
}

/// AES.
#[derive(Debug)]
pub(crate) struct AesKernels<S>(pub(crate) S);

impl<S: BlockSimd> RecordKernels for AesKernels<S> {
    fn run(&self, shape: Shape, parts: &[&Records<'_>], out: &mut Outcomes) -> Result<(), EngineFault> {
        cleared(self.0, aes::run(self.0, shape, parts, out))
    }
}

impl<S: BlockSimd> CipherKernels for AesKernels<S> {
    fn crypt(&self, shape: Shape, part: &RecordPart<'_>, records: &[RecordRef], out: &mut OutcomeWriter<'_>) {
        aes::crypt(self.0, shape, part, records, out);
        self.0.clear_registers();
    }
}

/// DES and triple DES.
#[derive(Debug)]
pub(crate) struct DesKernels<S>(pub(crate) S);

impl<S: Simd> RecordKernels for DesKernels<S> {
    fn run(&self, shape: Shape, parts: &[&Records<'_>], out: &mut Outcomes) -> Result<(), EngineFault> {
        cleared(self.0, records::run(&mut DesRun::new(self.0, shape), parts, out))
    }
}

impl<S: Simd> CipherKernels for DesKernels<S> {
    fn crypt(&self, shape: Shape, part: &RecordPart<'_>, records: &[RecordRef], out: &mut OutcomeWriter<'_>) {
        des::crypt(self.0, shape, part, records, out);
        self.0.clear_registers();
    }
}

/// ChaCha20-Poly1305.
#[derive(Debug)]
pub(crate) struct ChaChaKernels<S>(pub(crate) S);

impl<S: UnzipSimd> RecordKernels for ChaChaKernels<S> {
    fn run(&self, shape: Shape, parts: &[&Records<'_>], out: &mut Outcomes) -> Result<(), EngineFault> {
        cleared(self.0, chacha::run(self.0, shape, parts, out))
    }
}

/// Hashes and HMAC with a message in each lane.
#[derive(Debug)]
pub(crate) struct LaneHashes<S>(pub(crate) S);

impl<S: Simd> RecordKernels for LaneHashes<S> {
    fn run(&self, shape: Shape, parts: &[&Records<'_>], out: &mut Outcomes) -> Result<(), EngineFault> {
        cleared(self.0, hash::run(self.0, shape, parts, out))
    }
}

impl<S: Simd> HashKernels for LaneHashes<S> {
    fn advance(&self, mac: MacAlg, states: &mut [ChainBytes], messages: &[&[u8]], ending: MessageEnding) {
        let simd = self.0;
        match mac {
            MacAlg::HmacSha1 => hash::advance::<S, LaneSha1>(simd, states, messages, ending),
            MacAlg::HmacSha224 | MacAlg::HmacSha256 => {
                hash::advance::<S, LaneSha256>(simd, states, messages, ending);
            }
            _ => hash::advance::<S, LaneSha512>(simd, states, messages, ending),
        }
        simd.clear_registers();
    }
}

/// SHA-1, SHA-256 and their HMACs by instructions of their own.
#[derive(Debug)]
pub(crate) struct StreamHashes<S>(pub(crate) S);

impl<S: ShaSimd> RecordKernels for StreamHashes<S> {
    fn run(&self, shape: Shape, parts: &[&Records<'_>], out: &mut Outcomes) -> Result<(), EngineFault> {
        cleared(self.0, streams::run(self.0, shape, parts, out))
    }
}

impl<S: ShaSimd> HashKernels for StreamHashes<S> {
    fn advance(&self, mac: MacAlg, states: &mut [ChainBytes], messages: &[&[u8]], ending: MessageEnding) {
        let simd = self.0;
        match mac {
            MacAlg::HmacSha1 => streams::advance::<S, LaneSha1>(simd, states, messages, ending),
            _ => streams::advance::<S, LaneSha256>(simd, states, messages, ending),
        }
        simd.clear_registers();
    }
}

/// Clears the vector registers after a run.
fn cleared(cpu: impl Cpu, result: Result<(), EngineFault>) -> Result<(), EngineFault> {
    cpu.clear_registers();
    result
}
