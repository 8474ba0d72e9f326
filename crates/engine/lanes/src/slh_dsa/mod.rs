//! SLH-DSA: the hash steps in lanes. FIPS 205. What is made of them is in `oarlock_engine_kit::slh_dsa`.
//!
//! | module | contents |
//! |---|---|
//! | this one | the leaves, batch sizes, and the steps of a parameter set |
//! | `refill` | chains of different lengths side by side |
//! | `sha2`, `shake` | the hash functions of the sets, across chains and nodes |
//! | `streams` | chains of SHA-256 by instructions of their own |

mod refill;
mod sha2;
mod shake;
mod streams;

use std::fmt::Debug;

use oarlock_core::{BatchSize, EngineFault, Operation, Outcomes, Shape, SlhDsaSet, Status};
use oarlock_engine_kit::slh_dsa::{self, Address, Chain, HashSteps, operation};

use crate::batch::accept;
use crate::fault::not_offered;
use crate::hash::ChainBytes;
use crate::hash::sha256::LaneSha256;
use crate::hash::sha512::LaneSha512;
use crate::simd::{ShaSimd, ShortSimd, Vector};
use refill::{MAX_CHAINS, run_chains};
use sha2::{Sha256Chains, seed_state};
use shake::{SeedWords, ShakeChains, seed_words};
use streams::StreamChains;

/// Batch sizes of operations that take up to a second. One alone fills the lanes.
const LONG: BatchSize = BatchSize { preferred: 1, max: 1 };

/// Batch sizes of verification, which takes up to a millisecond.
const VERIFY: BatchSize = BatchSize { preferred: 8, max: 64 };

/// The instructions that compute hash steps.
pub(crate) trait StepLeaf: Copy + Debug + Send + Sync + 'static {
    /// True if the steps of a set are computed.
    fn has(set: SlhDsaSet) -> bool;

    /// Moves values along chains of SHA-256.
    fn sha256_chains(self, n: usize, seeds: &[ChainBytes], chains: &[Chain], values: &mut [u8]);

    /// Moves values along chains of SHAKE256.
    fn shake_chains(self, n: usize, seeds: &[SeedWords], chains: &[Chain], values: &mut [u8]);

    /// Computes nodes of SHA-256 for values of 16 bytes, and of SHA-512 for longer ones.
    fn sha2_nodes(self, seeds: &Sha2Seeds, addresses: &[Address], children: &[u8], nodes: &mut [u8]);

    /// Computes nodes of SHAKE256.
    fn shake_nodes(self, seeds: &[SeedWords], addresses: &[Address], children: &[u8], nodes: &mut [u8]);

    /// Overwrites the vector registers.
    fn clear_registers(self);
}

/// Lanes for every hash function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaneSteps<S>(pub(crate) S);

impl<S: ShortSimd> StepLeaf for LaneSteps<S> {
    fn has(_set: SlhDsaSet) -> bool {
        true
    }

    fn sha256_chains(self, n: usize, seeds: &[ChainBytes], chains: &[Chain], values: &mut [u8]) {
        // Two groups hide the latency of the rounds if there are registers for them.
        if S::V::HASHES_IN_PAIRS && 2 * S::V::HALVES <= MAX_CHAINS {
            run_chains(&mut Sha256Chains::<S, 2>::new(self.0, n, seeds), n, chains, values);
        } else {
            run_chains(&mut Sha256Chains::<S, 1>::new(self.0, n, seeds), n, chains, values);
        }
    }

    fn shake_chains(self, n: usize, seeds: &[SeedWords], chains: &[Chain], values: &mut [u8]) {
        run_chains(&mut ShakeChains::new(self.0, n, seeds), n, chains, values);
    }

    fn sha2_nodes(self, seeds: &Sha2Seeds, addresses: &[Address], children: &[u8], nodes: &mut [u8]) {
        match seeds.long.is_empty() {
            true => sha2::nodes::<S, LaneSha256>(self.0, &seeds.short, addresses, children, nodes),
            false => sha2::nodes::<S, LaneSha512>(self.0, &seeds.long, addresses, children, nodes),
        }
    }

    fn shake_nodes(self, seeds: &[SeedWords], addresses: &[Address], children: &[u8], nodes: &mut [u8]) {
        shake::nodes(self.0, seeds, addresses, children, nodes);
    }

    fn clear_registers(self) {
        self.0.clear_registers();
    }
}

/// Streams of SHA-256 for chains, and lanes for nodes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamSteps<S, L> {
    pub(crate) streams: S,
    pub(crate) lanes: LaneSteps<L>,
}

impl<S: ShaSimd, L: ShortSimd> StepLeaf for StreamSteps<S, L> {
    fn has(set: SlhDsaSet) -> bool {
        !set.is_shake()
    }

    fn sha256_chains(self, n: usize, seeds: &[ChainBytes], chains: &[Chain], values: &mut [u8]) {
        run_chains(&mut StreamChains::new(self.streams, n, seeds), n, chains, values);
    }

    fn shake_chains(self, n: usize, seeds: &[SeedWords], chains: &[Chain], values: &mut [u8]) {
        self.lanes.shake_chains(n, seeds, chains, values);
    }

    fn sha2_nodes(self, seeds: &Sha2Seeds, addresses: &[Address], children: &[u8], nodes: &mut [u8]) {
        self.lanes.sha2_nodes(seeds, addresses, children, nodes);
    }

    fn shake_nodes(self, seeds: &[SeedWords], addresses: &[Address], children: &[u8], nodes: &mut [u8]) {
        self.lanes.shake_nodes(seeds, addresses, children, nodes);
    }

    fn clear_registers(self) {
        self.streams.clear_registers();
        self.lanes.clear_registers();
    }
}

/// The chaining values behind the public seeds.
#[derive(Debug)]
pub(crate) struct Sha2Seeds {
    short: Vec<ChainBytes>,
    /// Those of SHA-512, for sets that have it.
    long: Vec<ChainBytes>,
}

/// The values that follow from the public seeds, and are computed once.
#[derive(Debug)]
enum PublicSeeds {
    Sha2(Sha2Seeds),
    Shake(Vec<SeedWords>),
}

/// The steps of a parameter set under one or more public seeds.
#[derive(Debug)]
struct SetSteps<L> {
    leaf: L,
    n: usize,
    seeds: PublicSeeds,
}

impl<L: StepLeaf> SetSteps<L> {
    /// Prepares the seeds at the beginning of public keys.
    fn new<'a>(leaf: L, set: SlhDsaSet, publics: impl Iterator<Item = &'a [u8]> + Clone) -> Self {
        let n = set.n();
        let seeds = publics.map(|public| &public[..n]);
        let seeds = if set.is_shake() {
            PublicSeeds::Shake(seeds.map(seed_words).collect())
        } else {
            let long = seeds.clone().filter(|_| n > 16).map(seed_state::<LaneSha512>).collect();
            PublicSeeds::Sha2(Sha2Seeds { short: seeds.map(seed_state::<LaneSha256>).collect(), long })
        };
        Self { leaf, n, seeds }
    }
}

impl<L: StepLeaf> HashSteps for SetSteps<L> {
    fn chains(&self, chains: &[Chain], values: &mut [u8]) {
        match &self.seeds {
            PublicSeeds::Sha2(seeds) => self.leaf.sha256_chains(self.n, &seeds.short, chains, values),
            PublicSeeds::Shake(seeds) => self.leaf.shake_chains(self.n, seeds, chains, values),
        }
    }

    fn nodes(&self, addresses: &[Address], children: &[u8], nodes: &mut [u8]) {
        match &self.seeds {
            PublicSeeds::Sha2(seeds) => self.leaf.sha2_nodes(seeds, addresses, children, nodes),
            PublicSeeds::Shake(seeds) => self.leaf.shake_nodes(seeds, addresses, children, nodes),
        }
    }

    #[cfg(all(feature = "leak-check", target_arch = "x86_64"))]
    fn publish(&self, values: &[u8]) {
        crate::simd::leak_check::reveal(values);
    }
}

/// Returns the batch sizes of a shape, or None if it is not computed here.
pub(crate) fn offers<L: StepLeaf>(shape: Shape) -> Option<BatchSize> {
    match shape {
        Shape::SlhDsaKeygen { set } | Shape::SlhDsaSign { set } => L::has(set).then_some(LONG),
        Shape::SlhDsaVerify { set } => L::has(set).then_some(VERIFY),
        _ => None,
    }
}

/// Computes every operation of a shape that is offered.
pub(crate) fn run<L: StepLeaf>(
    leaf: L,
    shape: Shape,
    operations: &[Operation<'_>],
    out: &mut Outcomes,
) -> Result<(), EngineFault> {
    match shape {
        Shape::SlhDsaKeygen { set } => each(leaf, set, shape, operations, out, operation::generate),
        Shape::SlhDsaSign { set } => each(leaf, set, shape, operations, out, operation::sign),
        Shape::SlhDsaVerify { set } => verify(leaf, set, shape, operations, out),
        _ => return Err(not_offered(shape)),
    }
    Ok(())
}

/// A computation under a private key, into a result.
type StepComputation<L> = fn(&SetSteps<L>, SlhDsaSet, &Operation<'_>, &[u8], &mut [u8]) -> Result<(), Status>;

/// Computes one operation after the other, because each fills the lanes.
fn each<L: StepLeaf>(
    leaf: L,
    set: SlhDsaSet,
    shape: Shape,
    operations: &[Operation<'_>],
    out: &mut Outcomes,
    compute: StepComputation<L>,
) {
    let jobs = accept(shape, operations, out, |operation| {
        Ok((operation, operation::private_parts(operation.key, set)?))
    });
    for accepted in jobs {
        let (operation, private) = accepted.job;
        let steps = SetSteps::new(leaf, set, std::iter::once(&private[2 * set.n()..]));
        let computed = compute(&steps, set, operation, private, out.result_mut(accepted.index));
        out.set(accepted.index, computed.err().unwrap_or(Status::Done));
    }
}

fn verify<L: StepLeaf>(
    leaf: L,
    set: SlhDsaSet,
    shape: Shape,
    operations: &[Operation<'_>],
    out: &mut Outcomes,
) {
    let jobs = accept(shape, operations, out, |operation| operation::signature_check(operation, set));
    let checks: Vec<_> = jobs.iter().map(|job| job.job).collect();
    let steps = SetSteps::new(leaf, set, checks.iter().map(|check| check.public));
    for (job, is_valid) in jobs.iter().zip(slh_dsa::verify(&steps, set, &checks)) {
        out.set(job.index, if is_valid { Status::Done } else { Status::Rejected });
    }
}
