//! Digests of many bodies and headers in one batch, and of bodies that are too long to keep.

mod growth;

use std::borrow::Cow;
use std::ops::Range;

use oarlock::{Accelerator, DigestAlg, DigestChain, JobError, Records, Shape, SubmitOptions};
use oarlock::{Column, InputSource, OutputSink, Span, Status};
use smallvec::SmallVec;

use self::growth::GrowingInputs;
use crate::canon::{BodyCanonicalizer, CanonicalForm, canonicalize_body};

/// A digest.
pub(crate) type Hash = SmallVec<[u8; 32]>;

/// The number of canonical bytes of a body that are kept. A longer body is hashed while it arrives. Nearly all messages
/// are shorter, and a batch of short bodies fills the lanes.
const KEPT: usize = 64 << 10;

/// The identity of one input of a [`DigestBatch`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DigestId {
    Input { alg: DigestAlg, index: u32 },
    Grown { growth: usize, step: usize },
}

/// A batch of inputs that are hashed together.
#[derive(Debug, Default)]
pub(crate) struct DigestBatch {
    /// The bytes of all inputs. Callers append to it.
    pub(crate) data: Vec<u8>,
    sha1: Vec<InputSource>,
    sha256: Vec<InputSource>,
    growths: Vec<GrowingInputs>,
}

/// The digests of a [`DigestBatch`].
#[derive(Debug, Default)]
pub(crate) struct Digests {
    sha1: Vec<u8>,
    sha256: Vec<u8>,
    grown: Vec<Vec<Hash>>,
}

impl DigestBatch {
    /// Adds a range of the data as an input.
    pub(crate) fn add(&mut self, alg: DigestAlg, span: Range<usize>) -> Result<DigestId, JobError> {
        let too_much = |_| JobError::Malformed { what: "more than 4 GiB to hash in one batch" };
        let start = u32::try_from(span.start).map_err(too_much)?;
        let len = u32::try_from(span.end).map_err(too_much)? - start;
        let inputs = if alg == DigestAlg::Sha1 { &mut self.sha1 } else { &mut self.sha256 };
        inputs.push(InputSource::Data(Span { start, len }));
        Ok(DigestId::Input { alg, index: inputs.len() as u32 - 1 })
    }

    /// Starts a run of inputs in which each one continues the one before.
    pub(crate) fn start_growth(&mut self) {
        self.growths.push(GrowingInputs::default());
    }

    /// Adds the next input of the last run. `shared` is also part of all later inputs, `tail` is the end of this one.
    pub(crate) fn grow(&mut self, alg: DigestAlg, shared: Range<usize>, tail: Range<usize>) -> DigestId {
        if self.growths.is_empty() {
            self.start_growth();
        }
        let growth = self.growths.len() - 1;
        self.growths[growth].push(alg, shared, tail);
        DigestId::Grown { growth, step: self.growths[growth].len() - 1 }
    }

    fn grown(&self, accelerator: &Accelerator) -> Result<Vec<Vec<Hash>>, JobError> {
        self.growths.iter().map(|growth| growth.run(accelerator, &self.data)).collect()
    }

    /// Clears the batch and keeps its memory.
    pub(crate) fn clear(&mut self) {
        self.data.clear();
        self.sha1.clear();
        self.sha256.clear();
        self.growths.clear();
    }

    /// Hashes on this thread.
    pub(crate) fn run(&self, accelerator: &Accelerator) -> Result<Digests, JobError> {
        let of = |alg, inputs: &[InputSource]| {
            if inputs.is_empty() {
                return Ok(Vec::new());
            }
            let shape = Shape::Digest { alg };
            let outcomes = accelerator.records().run(shape, &digest_records(alg, &self.data, inputs))?;
            finished(shape, outcomes.statuses(), outcomes.bytes())
        };
        Ok(Digests {
            sha1: of(DigestAlg::Sha1, &self.sha1)?,
            sha256: of(DigestAlg::Sha256, &self.sha256)?,
            grown: self.grown(accelerator)?,
        })
    }

    /// Hashes the growing inputs on this thread and yields to other tasks in between. A long header has megabytes to
    /// hash.
    async fn grown_in_turns(&self, accelerator: &Accelerator) -> Result<Vec<Vec<Hash>>, JobError> {
        let mut grown = Vec::with_capacity(self.growths.len());
        for growth in &self.growths {
            grown.push(growth.run_in_turns(accelerator, &self.data).await?);
        }
        Ok(grown)
    }

    /// Hashes together with jobs that others have submitted.
    pub(crate) async fn submit(
        self,
        accelerator: &Accelerator,
        options: SubmitOptions,
    ) -> Result<Digests, JobError> {
        let grown = self.grown_in_turns(accelerator).await?;
        let Self { data, sha1, sha256, .. } = self;
        // Submissions own their data. SHA-1 is rare, so that the data is seldom copied.
        let kept = if sha1.is_empty() { Vec::new() } else { data.clone() };
        let sha256 = submit(accelerator, options, DigestAlg::Sha256, data, sha256).await?;
        Ok(Digests { sha1: submit(accelerator, options, DigestAlg::Sha1, kept, sha1).await?, sha256, grown })
    }
}

impl Digests {
    pub(crate) fn get(&self, id: DigestId) -> &[u8] {
        let (alg, index) = match id {
            DigestId::Input { alg, index } => (alg, index),
            DigestId::Grown { growth, step } => {
                let digest = self.grown.get(growth).and_then(|digests| digests.get(step));
                return digest.map_or(&[], |digest| digest);
            }
        };
        let all = if alg == DigestAlg::Sha1 { &self.sha1 } else { &self.sha256 };
        let len = alg.output_len();
        all.get(index as usize * len..).and_then(|rest| rest.get(..len)).unwrap_or_default()
    }
}

/// Lays out one digest per input, one after the other. A call on this thread borrows its inputs, a submission owns
/// them.
fn digest_records<'a>(
    alg: DigestAlg,
    data: impl Into<Cow<'a, [u8]>>,
    inputs: impl Into<Cow<'a, [InputSource]>>,
) -> Records<'a> {
    let (inputs, len) = (inputs.into(), alg.output_len());
    Records {
        len: inputs.len(),
        data: data.into(),
        output_len: inputs.len() * len,
        input: Column::Each(inputs),
        output: Column::Stride {
            first: OutputSink::Output(Span { start: 0, len: len as u32 }),
            stride: len as u32,
        },
        ..Records::default()
    }
}

async fn submit(
    accelerator: &Accelerator,
    options: SubmitOptions,
    alg: DigestAlg,
    data: Vec<u8>,
    inputs: Vec<InputSource>,
) -> Result<Vec<u8>, JobError> {
    if inputs.is_empty() {
        return Ok(Vec::new());
    }
    let shape = Shape::Digest { alg };
    let records = digest_records(alg, data, inputs);
    let results = accelerator.records().submit(shape, records, options)?.await;
    for index in 0..results.len() {
        results.get(index)?;
    }
    let outcomes = results.into_outcomes();
    finished(shape, outcomes.statuses(), outcomes.bytes())
}

fn finished(shape: Shape, statuses: &[Status], bytes: &[u8]) -> Result<Vec<u8>, JobError> {
    match statuses.iter().find_map(|status| status.error(shape)) {
        Some(error) => Err(error),
        None => Ok(bytes.to_vec()),
    }
}

/// The digest of a body that a signature needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BodyNeed {
    /// The canonical form.
    pub form: CanonicalForm,
    /// The digest of the body hash.
    pub digest: DigestAlg,
    /// The maximum number of canonical bytes to hash. None hashes the whole body.
    pub limit: Option<u64>,
}

/// The digest of a body, either known or part of a batch.
#[derive(Clone, Debug)]
pub(crate) enum BodyHash {
    Known(Hash),
    Gathered(DigestId),
}

/// The hash of a body and its canonical length. The hash covers at most the limit.
#[derive(Clone, Debug)]
pub(crate) struct HashedBody {
    pub(crate) need: BodyNeed,
    pub(crate) hash: BodyHash,
    pub(crate) len: u64,
}

impl BodyHash {
    pub(crate) fn get<'a>(&'a self, digests: &'a Digests) -> &'a [u8] {
        match self {
            Self::Known(hash) => hash,
            Self::Gathered(id) => digests.get(*id),
        }
    }
}

/// The hashes of the body of one message.
pub(crate) type HashedBodies = SmallVec<[HashedBody; 2]>;

pub(crate) fn find_body(bodies: &HashedBodies, need: BodyNeed) -> Option<&HashedBody> {
    bodies.iter().find(|body| body.need == need)
}

/// A body that is in memory. It is converted once for each form and hashed once for each need.
pub(crate) struct WholeBody<'m> {
    body: &'m [u8],
    canonical: SmallVec<[(CanonicalForm, Range<usize>); 2]>,
    hashed: HashedBodies,
}

impl<'m> WholeBody<'m> {
    pub(crate) fn new(body: &'m [u8]) -> Self {
        Self { body, canonical: SmallVec::new(), hashed: HashedBodies::new() }
    }

    pub(crate) fn hashed(
        &mut self,
        gather: &mut DigestBatch,
        need: BodyNeed,
    ) -> Result<HashedBody, JobError> {
        if let Some(known) = find_body(&self.hashed, need) {
            return Ok(known.clone());
        }
        let known = self.canonical.iter().find(|(form, _)| *form == need.form);
        let span = match known {
            Some((_, span)) => span.clone(),
            None => {
                let span = canonicalize_body(need.form, self.body, &mut gather.data);
                self.canonical.push((need.form, span.clone()));
                span
            }
        };
        let len = span.len() as u64;
        let limit = need.limit.unwrap_or(u64::MAX).min(len) as usize;
        let hash = BodyHash::Gathered(gather.add(need.digest, span.start..span.start + limit)?);
        let body = HashedBody { need, hash, len };
        self.hashed.push(body.clone());
        Ok(body)
    }
}

/// A hasher for a body that arrives in pieces. It keeps a short body for a batch. It hashes a long body block by block
/// in constant memory.
#[derive(Debug)]
pub struct BodyHasher {
    need: BodyNeed,
    canonicalizer: BodyCanonicalizer,
    kept: StreamedDigest,
}

#[derive(Debug)]
struct StreamedDigest {
    accelerator: Accelerator,
    alg: DigestAlg,
    limit: u64,
    /// The canonical bytes that are not hashed yet.
    bytes: Vec<u8>,
    /// The state of the digest once bytes were hashed.
    chain: Option<DigestChain>,
    /// The number of bytes that were hashed or kept.
    taken: u64,
    /// The canonical length of the body so far.
    len: u64,
    failed: Option<JobError>,
}

impl BodyHasher {
    /// Makes a hasher for a new body.
    #[must_use]
    pub fn new(accelerator: &Accelerator, need: BodyNeed) -> Self {
        let kept = StreamedDigest {
            accelerator: accelerator.clone(),
            alg: need.digest,
            limit: need.limit.unwrap_or(u64::MAX),
            bytes: Vec::new(),
            chain: None,
            taken: 0,
            len: 0,
            failed: None,
        };
        Self { need, canonicalizer: BodyCanonicalizer::new(need.form), kept }
    }

    /// Adds the next bytes of the body.
    pub fn push(&mut self, body: &[u8]) {
        let Self { canonicalizer, kept, .. } = self;
        canonicalizer.push(body, &mut |canonical| kept.append(canonical));
    }

    /// Returns true if further bytes cannot change the digest.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.kept.taken == self.kept.limit
    }

    /// Ends the body. Kept bytes go to the batch.
    pub(crate) fn finish(self, gather: &mut DigestBatch) -> Result<HashedBody, JobError> {
        let Self { need, canonicalizer, mut kept } = self;
        canonicalizer.finish(&mut |canonical| kept.append(canonical));
        let len = kept.len;
        Ok(HashedBody { need, hash: kept.finish(gather)?, len })
    }
}

impl StreamedDigest {
    fn append(&mut self, canonical: &[u8]) {
        self.len += canonical.len() as u64;
        let left = usize::try_from(self.limit - self.taken).unwrap_or(usize::MAX);
        let wanted = &canonical[..canonical.len().min(left)];
        // Bytes beyond `l=` are counted, because the verifier compares the length, but they are not hashed.
        self.taken += wanted.len() as u64;
        self.bytes.extend_from_slice(wanted);
        if self.bytes.len() >= KEPT {
            self.absorb();
        }
    }

    /// Hashes the kept bytes.
    fn absorb(&mut self) {
        let chain = self.chain.get_or_insert_with(|| DigestChain::new(self.alg));
        if let Err(error) = chain.update(&self.accelerator, &self.bytes) {
            self.failed = Some(error);
        }
        self.bytes.clear();
    }

    fn finish(mut self, gather: &mut DigestBatch) -> Result<BodyHash, JobError> {
        // A short body joins the batch; only a body beyond the limit has a chain of its own.
        if self.chain.is_none() {
            let start = gather.data.len();
            gather.data.extend_from_slice(&self.bytes);
            return Ok(BodyHash::Gathered(gather.add(self.alg, start..gather.data.len())?));
        }
        self.absorb();
        match (self.failed, self.chain) {
            (None, Some(chain)) => Ok(BodyHash::Known(Hash::from_vec(chain.finish(&self.accelerator)?))),
            (failed, _) => Err(failed.unwrap_or(JobError::Cancelled)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn engines() -> Vec<Accelerator> {
        ["scalar", "lanes"].map(|name| Accelerator::builder().engines([name]).lazy().build().unwrap()).into()
    }

    fn digest(alg: DigestAlg, data: &[u8]) -> Vec<u8> {
        let accelerator = &engines()[0];
        let mut gather = DigestBatch { data: data.to_vec(), ..DigestBatch::default() };
        let id = gather.add(alg, 0..data.len()).unwrap();
        gather.run(accelerator).unwrap().get(id).to_vec()
    }

    #[test]
    fn streamed_and_whole_bodies_have_equal_digests_on_every_engine() {
        let text: Vec<u8> = (0..200_000_u32).map(|at| b'a' + (at % 23) as u8).chain(*b"\r\n").collect();
        for accelerator in engines() {
            for alg in [DigestAlg::Sha1, DigestAlg::Sha256] {
                for limit in [None, Some(0), Some(65_535), Some(65_536), Some(200_002)] {
                    for piece in [10_000, 300_000] {
                        let need = BodyNeed { form: CanonicalForm::Relaxed, digest: alg, limit };
                        let mut hasher = BodyHasher::new(&accelerator, need);
                        text.chunks(piece).for_each(|chunk| hasher.push(chunk));
                        assert!(hasher.kept.bytes.len() < KEPT);
                        let mut gather = DigestBatch::default();
                        let body = hasher.finish(&mut gather).unwrap();
                        let digests = gather.run(&accelerator).unwrap();
                        let hashed = limit.map_or(text.len(), |limit| limit as usize);
                        let expected = digest(alg, &text[..hashed]);
                        assert_eq!(body.hash.get(&digests), expected, "{alg} {limit:?} {piece}");
                        assert_eq!(body.len, 200_002);
                    }
                }
            }
        }
    }

    #[test]
    fn finds_the_digest_of_each_input_of_a_batch() {
        for accelerator in engines() {
            let mut gather = DigestBatch { data: b"abcabc".to_vec(), ..DigestBatch::default() };
            let both = [DigestAlg::Sha256, DigestAlg::Sha1];
            let ids = both.map(|alg| [gather.add(alg, 0..3).unwrap(), gather.add(alg, 2..2).unwrap()]);
            let digests = gather.run(&accelerator).unwrap();
            for (alg, [first, second]) in both.into_iter().zip(ids) {
                assert_eq!(digests.get(first), digest(alg, b"abc"));
                assert_eq!(digests.get(second), digest(alg, b""));
            }
        }
    }
}
