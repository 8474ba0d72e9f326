//! Digests of many bodies and headers side by side, and of bodies too long to be kept.

mod growth;

use std::ops::Range;

use oarlock::{Accelerator, DigestAlg, DigestChain, JobError, Records, Shape, SubmitOptions};
use oarlock::{Column, InputSource, OutputSink, Span, Status};
use smallvec::SmallVec;

use self::growth::Growth;
use crate::canon::{BodyCanonicalizer, Form, canonicalize_body};

/// A digest.
pub(crate) type Hash = SmallVec<[u8; 32]>;

/// Canonical bytes of a body that are kept before they are hashed as they come.
const KEPT: usize = 64 << 10;

/// Which input of a [`Gather`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HashId {
    Input { alg: DigestAlg, index: u32 },
    Grown { growth: usize, step: usize },
}

/// Inputs one behind the other, to be hashed together.
#[derive(Debug, Default)]
pub(crate) struct Gather {
    /// To be written to at the end.
    pub(crate) data: Vec<u8>,
    sha1: Vec<InputSource>,
    sha256: Vec<InputSource>,
    growths: Vec<Growth>,
}

/// The digests of a [`Gather`].
#[derive(Debug, Default)]
pub(crate) struct Digests {
    sha1: Vec<u8>,
    sha256: Vec<u8>,
    grown: Vec<Vec<Hash>>,
}

impl Gather {
    /// A digest of part of the data is wanted.
    pub(crate) fn add(&mut self, alg: DigestAlg, place: Range<usize>) -> Result<HashId, JobError> {
        let too_much = |_| JobError::Malformed { what: "more than 4 GiB to hash at a time" };
        let start = u32::try_from(place.start).map_err(too_much)?;
        let len = u32::try_from(place.end).map_err(too_much)? - start;
        let inputs = if alg == DigestAlg::Sha1 { &mut self.sha1 } else { &mut self.sha256 };
        inputs.push(InputSource::Data(Span { start, len }));
        Ok(HashId::Input { alg, index: inputs.len() as u32 - 1 })
    }

    /// Begins a run of inputs of which each continues the one before.
    pub(crate) fn start_growth(&mut self) {
        self.growths.push(Growth::default());
    }

    /// The next input of the run that was begun last: what it shares with all later ones, and its own end.
    pub(crate) fn grow(&mut self, alg: DigestAlg, shared: Range<usize>, own: Range<usize>) -> HashId {
        if self.growths.is_empty() {
            self.start_growth();
        }
        let growth = self.growths.len() - 1;
        self.growths[growth].push(alg, shared, own);
        HashId::Grown { growth, step: self.growths[growth].len() - 1 }
    }

    fn grown(&self, accelerator: &Accelerator) -> Result<Vec<Vec<Hash>>, JobError> {
        self.growths.iter().map(|growth| growth.run(accelerator, &self.data)).collect()
    }

    /// Forgets everything but the memory.
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
            let outcomes = accelerator.run_records(shape, &records(alg, &self.data, inputs))?;
            finished(shape, outcomes.statuses(), outcomes.bytes())
        };
        Ok(Digests {
            sha1: of(DigestAlg::Sha1, &self.sha1)?,
            sha256: of(DigestAlg::Sha256, &self.sha256)?,
            grown: self.grown(accelerator)?,
        })
    }

    /// Hashes what grows, on this thread. Others that share it have turns in between: of a long header there are megabytes to hash.
    async fn grown_in_turns(&self, accelerator: &Accelerator) -> Result<Vec<Vec<Hash>>, JobError> {
        let mut grown = Vec::with_capacity(self.growths.len());
        for growth in &self.growths {
            grown.push(growth.run_in_turns(accelerator, &self.data).await?);
        }
        Ok(grown)
    }

    /// Hashes beside what others have submitted.
    pub(crate) async fn submit(
        self,
        accelerator: &Accelerator,
        options: SubmitOptions,
    ) -> Result<Digests, JobError> {
        let grown = self.grown_in_turns(accelerator).await?;
        let Self { data, sha1, sha256, .. } = self;
        let kept = if sha1.is_empty() { Vec::new() } else { data.clone() };
        let sha256 = submit(accelerator, options, DigestAlg::Sha256, data, sha256).await?;
        Ok(Digests { sha1: submit(accelerator, options, DigestAlg::Sha1, kept, sha1).await?, sha256, grown })
    }
}

impl Digests {
    pub(crate) fn get(&self, id: HashId) -> &[u8] {
        let (alg, index) = match id {
            HashId::Input { alg, index } => (alg, index),
            HashId::Grown { growth, step } => {
                let digest = self.grown.get(growth).and_then(|digests| digests.get(step));
                return digest.map_or(&[], |digest| digest);
            }
        };
        let all = if alg == DigestAlg::Sha1 { &self.sha1 } else { &self.sha256 };
        let len = alg.output_len();
        all.get(index as usize * len..).and_then(|rest| rest.get(..len)).unwrap_or_default()
    }
}

fn records<'a>(alg: DigestAlg, data: &'a [u8], inputs: &'a [InputSource]) -> Records<'a> {
    let len = alg.output_len();
    Records {
        len: inputs.len(),
        data: data.into(),
        output_len: inputs.len() * len,
        input: Column::Each(inputs.into()),
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
    let Records { len, output_len, output, .. } = records(alg, &[], &inputs);
    let records = Records {
        len,
        output_len,
        output: match output {
            Column::Stride { first, stride } => Column::Stride { first, stride },
            _ => Column::One(OutputSink::Output(Span::default())),
        },
        data: data.into(),
        input: Column::Each(inputs.into()),
        ..Records::default()
    };
    let results = accelerator.submit_records(shape, records, options)?.await;
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

/// Which digest of a body a signature needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BodyNeed {
    /// The canonical form.
    pub form: Form,
    /// The digest.
    pub digest: DigestAlg,
    /// Canonical bytes that are hashed; all of them where there is none.
    pub limit: Option<u64>,
}

/// The digest of a body, or where it will be.
#[derive(Clone, Debug)]
pub(crate) enum BodyHash {
    Known(Hash),
    Gathered(HashId),
}

/// A body's hash with its canonical length, of which no more than the limit is hashed.
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

/// Of one message, by what was needed of them.
pub(crate) type Bodies = SmallVec<[HashedBody; 2]>;

pub(crate) fn find_body(bodies: &Bodies, need: BodyNeed) -> Option<&HashedBody> {
    bodies.iter().find(|body| body.need == need)
}

/// A body that is here. It is made canonical once for each form, and hashed once for each need.
pub(crate) struct WholeBody<'m> {
    body: &'m [u8],
    canonical: SmallVec<[(Form, Range<usize>); 2]>,
    hashed: Bodies,
}

impl<'m> WholeBody<'m> {
    pub(crate) fn new(body: &'m [u8]) -> Self {
        Self { body, canonical: SmallVec::new(), hashed: Bodies::new() }
    }

    pub(crate) fn hashed(&mut self, gather: &mut Gather, need: BodyNeed) -> Result<HashedBody, JobError> {
        if let Some(known) = find_body(&self.hashed, need) {
            return Ok(known.clone());
        }
        let known = self.canonical.iter().find(|(form, _)| *form == need.form);
        let place = match known {
            Some((_, place)) => place.clone(),
            None => {
                let place = canonicalize_body(need.form, self.body, &mut gather.data);
                self.canonical.push((need.form, place.clone()));
                place
            }
        };
        let len = place.len() as u64;
        let limit = need.limit.unwrap_or(u64::MAX).min(len) as usize;
        let hash = BodyHash::Gathered(gather.add(need.digest, place.start..place.start + limit)?);
        let body = HashedBody { need, hash, len };
        self.hashed.push(body.clone());
        Ok(body)
    }
}

/// Hashes a body as it comes: short ones are kept for a batch, long ones are hashed block by block in memory that does not grow.
#[derive(Debug)]
pub struct BodyHasher {
    need: BodyNeed,
    canonicalizer: BodyCanonicalizer,
    kept: Kept,
}

#[derive(Debug)]
struct Kept {
    accelerator: Accelerator,
    alg: DigestAlg,
    limit: u64,
    /// Not yet hashed.
    bytes: Vec<u8>,
    /// Once something was hashed.
    chain: Option<DigestChain>,
    /// Bytes that were hashed or are kept.
    taken: u64,
    /// Canonical bytes of the body so far.
    len: u64,
    failed: Option<JobError>,
}

impl BodyHasher {
    /// A body of which nothing is known yet.
    #[must_use]
    pub fn new(accelerator: &Accelerator, need: BodyNeed) -> Self {
        let kept = Kept {
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

    /// Takes the next bytes of the body.
    pub fn push(&mut self, body: &[u8]) {
        let Self { canonicalizer, kept, .. } = self;
        canonicalizer.push(body, &mut |canonical| kept.take(canonical));
    }

    /// True where what comes cannot change the digest any more.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.kept.taken == self.kept.limit
    }

    /// Ends the body: what is kept goes to `gather`.
    pub(crate) fn finish(self, gather: &mut Gather) -> Result<HashedBody, JobError> {
        let Self { need, canonicalizer, mut kept } = self;
        canonicalizer.finish(&mut |canonical| kept.take(canonical));
        let len = kept.len;
        Ok(HashedBody { need, hash: kept.finish(gather)?, len })
    }
}

impl Kept {
    fn take(&mut self, canonical: &[u8]) {
        self.len += canonical.len() as u64;
        let room = usize::try_from(self.limit - self.taken).unwrap_or(usize::MAX);
        let wanted = &canonical[..canonical.len().min(room)];
        self.taken += wanted.len() as u64;
        self.bytes.extend_from_slice(wanted);
        if self.bytes.len() >= KEPT {
            self.absorb();
        }
    }

    /// Hashes what is kept.
    fn absorb(&mut self) {
        let chain = self.chain.get_or_insert_with(|| DigestChain::new(self.alg));
        if let Err(error) = chain.update(&self.accelerator, &self.bytes) {
            self.failed = Some(error);
        }
        self.bytes.clear();
    }

    fn finish(mut self, gather: &mut Gather) -> Result<BodyHash, JobError> {
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
        let mut gather = Gather { data: data.to_vec(), ..Gather::default() };
        let id = gather.add(alg, 0..data.len()).unwrap();
        gather.run(accelerator).unwrap().get(id).to_vec()
    }

    #[test]
    fn long_bodies_have_the_digest_of_whole_ones_on_every_engine() {
        let text: Vec<u8> = (0..200_000_u32).map(|at| b'a' + (at % 23) as u8).chain(*b"\r\n").collect();
        for accelerator in engines() {
            for alg in [DigestAlg::Sha1, DigestAlg::Sha256] {
                for limit in [None, Some(0), Some(65_535), Some(65_536), Some(200_002)] {
                    for piece in [10_000, 300_000] {
                        let need = BodyNeed { form: Form::Relaxed, digest: alg, limit };
                        let mut hasher = BodyHasher::new(&accelerator, need);
                        text.chunks(piece).for_each(|chunk| hasher.push(chunk));
                        assert!(hasher.kept.bytes.len() < KEPT);
                        let mut gather = Gather::default();
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
    fn inputs_are_hashed_together_and_found_again() {
        for accelerator in engines() {
            let mut gather = Gather { data: b"abcabc".to_vec(), ..Gather::default() };
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
