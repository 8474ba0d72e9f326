//! Runs of records: digests, parts of digests, HMAC.

use std::array;
use std::marker::PhantomData;

use oarlock_core::{BatchSize, DigestAlg, EngineFault, MacAlg, OutcomeWriter, Outcomes, Records, Shape};
use zeroize::{Zeroize, Zeroizing};

use super::group::{MessageEnding, MessageGroup, absorb};
use super::hmac::{self, HmacChains, HmacHash, LaneSha224, LaneSha384};
use super::sha1::LaneSha1;
use super::sha256::{LaneSha256, initial_224};
use super::sha512::{LaneSha512, initial_384, initial_512_224, initial_512_256};
use super::sponge::{Sha3Sponge, ShakeSponge};
use super::{
    CHAIN_BYTES, Chain, ChainBytes, LaneChains, LaneHash, LaneLayout, MAX_LANES, MerkleDamgard, WORDS,
    halves, load_chains, load_states,
};
use crate::fault::not_offered;
use crate::keccak::{RATE_128, RATE_224, RATE_256, RATE_384, RATE_512};
use crate::records::{self, RecordKernel, RecordPart, RecordRef, StepRule};
use crate::simd::{LaneArray, Simd, Vector, erase};

/// Returns the batch sizes of a shape, or None if it is not a hash. Two groups are hashed together.
pub(crate) fn offers<S: Simd>(shape: Shape) -> Option<BatchSize> {
    if !S::V::OFFERS_HASHES {
        return None;
    }
    let lanes = match shape {
        Shape::Digest { alg } | Shape::DigestPart { alg } => match alg {
            DigestAlg::Sha1 | DigestAlg::Sha224 | DigestAlg::Sha256 => S::V::HALVES,
            DigestAlg::Sha384 | DigestAlg::Sha512 | DigestAlg::Sha512_224 | DigestAlg::Sha512_256 => {
                S::V::WORDS
            }
            // Sponges are not hashed in pairs.
            DigestAlg::Sha3_224
            | DigestAlg::Sha3_256
            | DigestAlg::Sha3_384
            | DigestAlg::Sha3_512
            | DigestAlg::Shake128
            | DigestAlg::Shake256 => return Some(BatchSize { preferred: S::V::WORDS, max: MAX_RECORDS }),
            _ => return None,
        },
        Shape::Mac { alg: MacAlg::HmacSha1 | MacAlg::HmacSha224 | MacAlg::HmacSha256 } => S::V::HALVES,
        Shape::Mac { alg: MacAlg::HmacSha384 | MacAlg::HmacSha512 } => S::V::WORDS,
        _ => return None,
    };
    // Two groups in turn: a round of one group waits for the round before it (docs/performance/records.md, Hashes).
    let groups = if S::V::HASHES_IN_PAIRS { 2 } else { 1 };
    Some(BatchSize { preferred: groups * lanes, max: MAX_RECORDS })
}

/// The most records of a batch: more would keep other queues waiting.
const MAX_RECORDS: usize = 65_536;

/// Hashes every record of every part.
pub(crate) fn run<S: Simd>(
    simd: S,
    shape: Shape,
    parts: &[&Records<'_>],
    out: &mut Outcomes,
) -> Result<(), EngineFault> {
    let batch = HashBatch { simd, shape, parts };
    // A condition of constants, so the kernels are not even compiled.
    if !S::V::OFFERS_HASHES {
        return batch.refused();
    }
    match shape {
        Shape::Digest { alg } => match alg {
            DigestAlg::Sha1 => batch.whole::<LaneSha1>(LaneSha1::initial(), alg, out),
            DigestAlg::Sha224 => batch.whole::<LaneSha256>(initial_224(), alg, out),
            DigestAlg::Sha256 => batch.whole::<LaneSha256>(LaneSha256::initial(), alg, out),
            DigestAlg::Sha384 => batch.whole::<LaneSha512>(initial_384(), alg, out),
            DigestAlg::Sha512 => batch.whole::<LaneSha512>(LaneSha512::initial(), alg, out),
            DigestAlg::Sha512_224 => batch.whole::<LaneSha512>(initial_512_224(), alg, out),
            DigestAlg::Sha512_256 => batch.whole::<LaneSha512>(initial_512_256(), alg, out),
            DigestAlg::Sha3_224 => batch.sponge::<Sha3Sponge<RATE_224>>(alg, out),
            DigestAlg::Sha3_256 => batch.sponge::<Sha3Sponge<RATE_256>>(alg, out),
            DigestAlg::Sha3_384 => batch.sponge::<Sha3Sponge<RATE_384>>(alg, out),
            DigestAlg::Sha3_512 => batch.sponge::<Sha3Sponge<RATE_512>>(alg, out),
            DigestAlg::Shake128 => batch.sponge::<ShakeSponge<RATE_128>>(alg, out),
            DigestAlg::Shake256 => batch.sponge::<ShakeSponge<RATE_256>>(alg, out),
            _ => batch.refused(),
        },
        Shape::DigestPart { alg } => match alg {
            DigestAlg::Sha1 => batch.run::<LaneSha1, _>(PartMode, alg.state_len(), out),
            DigestAlg::Sha224 | DigestAlg::Sha256 => {
                batch.run::<LaneSha256, _>(PartMode, alg.state_len(), out)
            }
            DigestAlg::Sha384 | DigestAlg::Sha512 | DigestAlg::Sha512_224 | DigestAlg::Sha512_256 => {
                batch.run::<LaneSha512, _>(PartMode, alg.state_len(), out)
            }
            // Whole blocks have no padding, so functions of one rate are the same.
            DigestAlg::Sha3_224 => batch.run::<Sha3Sponge<RATE_224>, _>(PartMode, alg.state_len(), out),
            DigestAlg::Sha3_256 | DigestAlg::Shake256 => {
                batch.run::<Sha3Sponge<RATE_256>, _>(PartMode, alg.state_len(), out)
            }
            DigestAlg::Sha3_384 => batch.run::<Sha3Sponge<RATE_384>, _>(PartMode, alg.state_len(), out),
            DigestAlg::Sha3_512 => batch.run::<Sha3Sponge<RATE_512>, _>(PartMode, alg.state_len(), out),
            DigestAlg::Shake128 => batch.run::<ShakeSponge<RATE_128>, _>(PartMode, alg.state_len(), out),
            _ => batch.refused(),
        },
        Shape::Mac { alg } => match alg {
            MacAlg::HmacSha1 => batch.hmac::<LaneSha1>(out),
            MacAlg::HmacSha224 => batch.hmac::<LaneSha224>(out),
            MacAlg::HmacSha256 => batch.hmac::<LaneSha256>(out),
            MacAlg::HmacSha384 => batch.hmac::<LaneSha384>(out),
            MacAlg::HmacSha512 => batch.hmac::<LaneSha512>(out),
            _ => batch.refused(),
        },
        _ => batch.refused(),
    }
}

struct HashBatch<'a, S> {
    simd: S,
    shape: Shape,
    parts: &'a [&'a Records<'a>],
}

impl<S: Simd> HashBatch<'_, S> {
    fn whole<H: MerkleDamgard>(
        self,
        initial: ChainBytes,
        alg: DigestAlg,
        out: &mut Outcomes,
    ) -> Result<(), EngineFault> {
        let (simd, mut chain) = (self.simd, [self.simd.zero(); WORDS / 2]);
        simd.call(
            #[inline(always)]
            || [chain, _] = halves(load_chains::<S, H>(simd, |_| &initial)),
        );
        self.run::<H, _>(WholeMode(chain), alg.output_len(), out)
    }

    /// SHA-3 and SHAKE, which start with a state of zeros. FIPS 202 algorithm 8, step 5.
    fn sponge<H: LaneHash>(self, alg: DigestAlg, out: &mut Outcomes) -> Result<(), EngineFault> {
        let zero = self.simd.zero();
        let start = WholeMode(H::Chain::<S::V>::from_fn(|_| zero));
        self.run::<H, _>(start, alg.output_len(), out)
    }

    fn hmac<H: HmacHash>(self, out: &mut Outcomes) -> Result<(), EngineFault> {
        self.run::<H::Lanes, _>(HmacMode::<H>(PhantomData), H::OUTPUT, out)
    }

    fn run<H: LaneHash, K: HashMode<S, H>>(
        self,
        kind: K,
        result_len: usize,
        out: &mut Outcomes,
    ) -> Result<(), EngineFault> {
        let Self { simd, shape, parts } = self;
        // Erased with the run: the chaining values of HMAC are enough to forge its MACs.
        let zero = simd.zero();
        let zeros = [H::Chain::<S::V>::from_fn(|_| zero); 2];
        let scratch = Zeroizing::new(HashScratch { chains: zeros, kept: zeros });
        let mut hashing = HashRun { simd, shape, kind, result_len, scratch, hash: PhantomData::<H> };
        records::run(&mut hashing, parts, out)
    }

    fn refused(self) -> Result<(), EngineFault> {
        Err(not_offered(self.shape))
    }
}

/// The steps before and after the messages of a shape.
trait HashMode<S: Simd, H: LaneHash> {
    const ENDING: MessageEnding;

    /// Sets the chaining values before the messages of a group, and keeps the values for the end.
    fn start(
        &self,
        simd: S,
        part: &RecordPart<'_>,
        records: &[RecordRef],
        chain: &mut H::Chain<S::V>,
        kept: &mut H::Chain<S::V>,
    );

    /// Turns the chaining values after the messages into results.
    fn finish(&self, _simd: S, _chain: &mut H::Chain<S::V>, _kept: &H::Chain<S::V>) {}
}

/// Digests of whole messages, which have the same initial chaining value.
struct WholeMode<C>(C);

impl<S: Simd, H: LaneHash> HashMode<S, H> for WholeMode<H::Chain<S::V>> {
    const ENDING: MessageEnding = MessageEnding::Padded { before: 0 };

    fn start(
        &self,
        _: S,
        _: &RecordPart<'_>,
        _: &[RecordRef],
        chain: &mut H::Chain<S::V>,
        _: &mut H::Chain<S::V>,
    ) {
        *chain = self.0;
    }
}

/// Parts of digests: whole blocks from the middle of messages. Their chaining values are in the IV column.
struct PartMode;

impl<S: Simd, H: LaneHash> HashMode<S, H> for PartMode {
    const ENDING: MessageEnding = MessageEnding::Open;

    fn start(
        &self,
        simd: S,
        part: &RecordPart<'_>,
        records: &[RecordRef],
        chain: &mut H::Chain<S::V>,
        _: &mut H::Chain<S::V>,
    ) {
        simd.call(
            #[inline(always)]
            || {
                *chain = load_states::<S, H>(
                    simd,
                    #[inline(always)]
                    |lane| part.iv_span(*records.get(lane)?).slice(part.data()),
                );
            },
        );
    }
}

/// HMAC: the hash that follows the inner key, and the hash of its digest that follows the outer key.
struct HmacMode<H>(PhantomData<H>);

impl<S: Simd, H: HmacHash> HashMode<S, H::Lanes> for HmacMode<H> {
    const ENDING: MessageEnding = hmac::inner::<H::Lanes>();

    fn start(
        &self,
        simd: S,
        part: &RecordPart<'_>,
        records: &[RecordRef],
        chain: &mut Chain<S::V>,
        kept: &mut Chain<S::V>,
    ) {
        // One array per lane if both values of a lane fit into it, and otherwise two.
        let arrays = size_of::<<H::Lanes as MerkleDamgard>::Word>() / 4;
        let mut values = [[[0; CHAIN_BYTES]; MAX_LANES]; 2];
        for (lane, record) in records.iter().enumerate() {
            let (source, bytes) = (part.key_at(record.index), part.key_bytes(*record));
            HmacChains::<H>::with(part, source, bytes, |prepared| {
                for (value, state) in values.iter_mut().zip(&prepared.states()[..arrays]) {
                    value[lane] = *state;
                }
            });
        }
        simd.call(
            #[inline(always)]
            || {
                [*chain, *kept] = halves(load_chains::<S, H::Lanes>(simd, |lane| &values[0][lane]));
                if arrays > 1 {
                    [*kept, _] = halves(load_chains::<S, H::Lanes>(simd, |lane| &values[1][lane]));
                }
            },
        );
        erase(values[..arrays].as_flattened_mut().as_flattened_mut());
    }

    fn finish(&self, simd: S, chain: &mut Chain<S::V>, kept: &Chain<S::V>) {
        *chain = hmac::finish::<S, H::Lanes>(simd, H::OUTPUT, chain, kept);
    }
}

/// A run of records of one shape.
struct HashRun<S: Simd, H: LaneHash, K> {
    simd: S,
    shape: Shape,
    kind: K,
    /// The bytes of a result.
    result_len: usize,
    scratch: Zeroizing<HashScratch<H::Chain<S::V>>>,
    hash: PhantomData<H>,
}

/// The chaining values of two groups, which depend on messages and keys.
#[derive(Zeroize)]
struct HashScratch<C: Zeroize> {
    chains: [C; 2],
    kept: [C; 2],
}

impl<S: Simd, H: LaneHash, K: HashMode<S, H>> RecordKernel for HashRun<S, H, K> {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn steps(&self) -> StepRule {
        K::ENDING.steps::<H>()
    }

    fn prefetches(&self) -> bool {
        true
    }

    fn compute(&mut self, part: &RecordPart<'_>, mut records: &[RecordRef], out: &mut OutcomeWriter<'_>) {
        // Two pairs of groups: one is hashed while the blocks of the other are prefetched.
        let none = || [MessageGroup::new(K::ENDING), MessageGroup::new(K::ENDING)];
        let (mut now, mut next) = (none(), none());
        self.fill(&mut now, part, records);
        while !records.is_empty() {
            let (these, others) = records.split_at(self.count_together(records));
            // The next groups are read early, because this pass prefetches their first blocks.
            self.fill(&mut next, part, others);
            if LaneLayout::<S::V, H>::GROUPS == 2 && these.len() > LaneLayout::<S::V, H>::LANES {
                self.hash(part, these, &now, &next, out);
            } else {
                self.hash(part, these, array::from_ref(&now[0]), array::from_ref(&next[0]), out);
            }
            std::mem::swap(&mut now, &mut next);
            records = others;
        }
    }
}

impl<S: Simd, H: LaneHash, K: HashMode<S, H>> HashRun<S, H, K> {
    /// Returns the number of records that are hashed together: two groups if the second is about as long as the
    /// first, which it waits for.
    fn count_together(&self, records: &[RecordRef]) -> usize {
        let steps = |record: usize| {
            records.get(record).map_or(0, |record| K::ENDING.blocks::<H>(record.len as usize))
        };
        // A second group that is more than an eighth shorter would leave its lanes idle while the first one ends.
        let lanes = LaneLayout::<S::V, H>::LANES;
        let are_alike = LaneLayout::<S::V, H>::GROUPS == 2 && 8 * steps(lanes) >= 7 * steps(0);
        records.len().min(if are_alike { 2 * lanes } else { lanes })
    }

    fn fill<'a>(&self, groups: &mut [MessageGroup<'a>; 2], part: &RecordPart<'a>, records: &[RecordRef]) {
        let mut each = records[..self.count_together(records)].chunks(LaneLayout::<S::V, H>::LANES);
        for group in groups {
            let records = each.next().unwrap_or_default();
            group.fill::<S::V, H>(records.iter().map(|record| part.input(record, 0)));
        }
    }

    fn hash<const N: usize>(
        &mut self,
        part: &RecordPart<'_>,
        records: &[RecordRef],
        groups: &[MessageGroup<'_>; N],
        ahead: &[MessageGroup<'_>; N],
        out: &mut OutcomeWriter<'_>,
    ) {
        let Self { simd, kind, scratch, .. } = self;
        let HashScratch { chains, kept } = &mut **scratch;
        let Some(chains) = chains.first_chunk_mut::<N>() else { return };
        let each = || records.chunks(LaneLayout::<S::V, H>::LANES);
        for ((chain, kept), records) in chains.iter_mut().zip(&mut *kept).zip(each()) {
            kind.start(*simd, part, records, chain, kept);
        }
        absorb::<S, H, N>(*simd, chains, groups, ahead);
        for ((chain, kept), records) in chains.iter_mut().zip(kept).zip(each()) {
            kind.finish(*simd, chain, kept);
            write::<S, H>(*simd, chain, self.result_len, part, records, out);
        }
    }
}

/// Writes the leading bytes of a group's chaining values, as many as each output holds.
fn write<S: Simd, H: LaneHash>(
    simd: S,
    chain: &H::Chain<S::V>,
    result_len: usize,
    part: &RecordPart<'_>,
    records: &[RecordRef],
    out: &mut OutcomeWriter<'_>,
) {
    simd.call(
        #[inline(always)]
        || {
            let rows = LaneChains::<S::V, H>::new(simd, chain);
            for (lane, record) in records.iter().enumerate() {
                match out.result_mut(part.output(*record), result_len) {
                    Ok(output) => rows.store(lane, output),
                    Err(status) => out.statuses[record.index as usize] = status,
                }
            }
        },
    );
}
