//! The sets of a draft, signed range by range.

use std::fmt;
use std::ops::Range;

use oarlock::{Accelerator, Job, JobError};

use super::draft::ZoneDraft;
use super::keys::SignerKey;
use super::previous::Previous;
use super::{PresignedSet, ZoneSignError, seal};
use crate::messages::Messages;
use crate::records::ZoneRecords;
use crate::rrsig::{Rrsig, RrsigHead};
use crate::rtype::RecordType;
use crate::sets::{RecordSet, RecordSets};
use crate::zone_cut::NameOwnerships;

/// The number of names that are signed together: enough to fill the lanes many times, and few enough for the cache of
/// a core.
const NAMES: usize = 2048;

/// The sets of a draft and the keys that sign them.
pub struct SigningPlan<'z> {
    pub(super) draft: &'z ZoneDraft,
    pub(super) sets: RecordSets<'z>,
    pub(super) ownerships: NameOwnerships,
    previous: Option<Previous<'z>>,
    /// The zone digests with their signatures, which replace the placeholders of the draft.
    pub(super) seal: Option<seal::ZoneSeal>,
}

/// The signatures of a range of names, in the order of the plan.
#[derive(Clone, Default)]
pub struct Signatures {
    /// The data of RRSIG records in one buffer.
    data: Vec<u8>,
    ends: Vec<usize>,
    /// The number of signed sets.
    sets: usize,
    reused: usize,
    replaced: usize,
}

/// A signature to be made or kept.
struct WantedSignature<'p> {
    set: RecordSet<'p>,
    key: &'p SignerKey,
    /// The data of an earlier RRSIG that may be kept.
    old: Option<&'p [u8]>,
}

impl<'z> SigningPlan<'z> {
    /// Makes a plan that signs a draft, except the sets whose signatures in `previous` are still valid.
    ///
    /// # Errors
    /// [`ZoneSignError::NoSoa`], which does not occur with a draft.
    pub fn new(draft: &'z ZoneDraft, previous: Option<&'z ZoneRecords>) -> Result<Self, ZoneSignError> {
        let sets = RecordSets::new(&draft.records);
        let ownerships = NameOwnerships::new(&sets, draft.apex()).ok_or(ZoneSignError::NoSoa)?;
        Ok(Self { draft, sets, ownerships, previous: previous.map(Previous::new), seal: None })
    }

    /// Returns the number of names.
    #[must_use]
    pub fn name_count(&self) -> usize {
        self.sets.name_count()
    }

    /// Returns the ranges of names that are signed together, in order.
    pub fn ranges(&self) -> impl ExactSizeIterator<Item = Range<usize>> + use<> {
        let names = self.name_count();
        (0..names.div_ceil(NAMES)).map(move |at| at * NAMES..names.min((at + 1) * NAMES))
    }

    /// Returns the number of signatures, and the bytes of all of them.
    #[must_use]
    pub fn signatures_len(&self) -> (u64, u64) {
        let names =
            (0..self.name_count()).flat_map(|name| self.signed_sets(name).map(move |set| (name, set)));
        let made = names.filter(|(name, set)| self.presigned(*name, set).is_none());
        let keys = made.flat_map(|(name, set)| self.signers(name, set.rtype));
        keys.fold((0, 0), |(count, bytes), key| {
            // Known for every key that can sign.
            let len = key.algorithm().signature_len(key.key()).unwrap_or(0);
            (count + 1, bytes + (key.algorithm().prefix().len() + len) as u64)
        })
    }

    /// Signs the sets of a range of names, on this thread.
    ///
    /// # Errors
    /// An engine or the holder of a key failed.
    ///
    /// # Panics
    /// If the range exceeds [`name_count`](Self::name_count).
    pub fn sign(&self, accelerator: &Accelerator, names: Range<usize>) -> Result<Signatures, ZoneSignError> {
        let mut wanted = Vec::with_capacity(2 * names.len());
        let mut sets = 0;
        for name in names {
            for set in self.signed_sets(name).filter(|set| self.is_signed_in_order(name, set)) {
                sets += 1;
                self.want(name, set, &mut wanted);
            }
        }
        Ok(Signatures { sets, ..self.keep_or_make(accelerator, &mut wanted)? })
    }

    /// Keeps earlier signatures that verify, and makes the others.
    fn keep_or_make<'p>(
        &'p self,
        accelerator: &Accelerator,
        wanted: &mut [WantedSignature<'p>],
    ) -> Result<Signatures, ZoneSignError> {
        // A third party may have changed an earlier signature, or the file of its key may be another one. So each is
        // verified before it is kept.
        let replaced = self.confirm(accelerator, wanted)?;
        let reused = wanted.iter().filter(|wanted| wanted.old.is_some()).count();
        Ok(Signatures { reused, replaced, ..self.make(accelerator, wanted)? })
    }

    /// Signs a set at the apex that replaces a set of the draft.
    pub(super) fn sign_at_apex(
        &self,
        accelerator: &Accelerator,
        set: RecordSet<'_>,
    ) -> Result<Signatures, ZoneSignError> {
        let mut wanted = Vec::new();
        self.want(self.ownerships.apex(), set, &mut wanted);
        Ok(Signatures { sets: 1, ..self.keep_or_make(accelerator, &mut wanted)? })
    }

    /// Returns true for the zone digests, which are computed and signed after everything else.
    pub(super) fn is_zone_digest(&self, name: usize, set: &RecordSet<'_>) -> bool {
        name == self.ownerships.apex() && set.rtype == RecordType::ZONEMD
    }

    /// Returns the set with the signatures that were made elsewhere, if `set` at `name` is one.
    pub(super) fn presigned(&self, name: usize, set: &RecordSet<'_>) -> Option<&PresignedSet> {
        let is_at_apex = name == self.ownerships.apex();
        let mut sets = self.draft.options.presigned.iter();
        sets.find(|presigned| is_at_apex && presigned.rtype == set.rtype)
    }

    /// Returns true for a set that is signed here, in the order of the names.
    pub(super) fn is_signed_in_order(&self, name: usize, set: &RecordSet<'_>) -> bool {
        !self.is_zone_digest(name, set) && self.presigned(name, set).is_none()
    }

    pub(super) fn signed_sets(&self, name: usize) -> impl Iterator<Item = RecordSet<'_>> {
        let ownership = self.ownerships.get(name);
        self.sets.of_name(name).filter(move |set| ownership.signs(set.rtype))
    }

    pub(super) fn signers(
        &self,
        name: usize,
        rtype: RecordType,
    ) -> impl ExactSizeIterator<Item = &SignerKey> {
        self.draft.ring.signers(name == self.ownerships.apex(), rtype)
    }

    fn want<'p>(&'p self, name: usize, set: RecordSet<'p>, wanted: &mut Vec<WantedSignature<'p>>) {
        let (apex, lifetime) = (self.draft.apex(), &self.draft.options.lifetime);
        let previous =
            self.previous.as_ref().and_then(|previous| Some((previous, previous.find_unchanged(&set)?)));
        for key in self.signers(name, set.rtype) {
            // The records must be unchanged. The signature's fields are checked without computation first.
            let old = previous
                .as_ref()
                .and_then(|(previous, old)| previous.signature(old, &set, apex, key, lifetime));
            wanted.push(WantedSignature { set, key, old });
        }
    }

    /// Drops earlier signatures that do not verify, and returns their number.
    fn confirm(
        &self,
        accelerator: &Accelerator,
        wanted: &mut [WantedSignature<'_>],
    ) -> Result<usize, ZoneSignError> {
        let mut olds: Vec<_> = wanted.iter_mut().filter(|wanted| wanted.old.is_some()).collect();
        let mut messages = Messages::default();
        for wanted in &olds {
            wanted.push(wanted.old.unwrap_or_default(), &mut messages)?;
        }
        messages.hash(accelerator)?;
        let jobs: Vec<Job<'_>> = olds
            .iter()
            .enumerate()
            .filter_map(|(index, wanted)| {
                // unreachable because signatures were read before, and all that sign can verify
                let rrsig = Rrsig::read(wanted.old?).ok()?;
                let scheme = wanted.key.algorithm().verify_scheme()?;
                Some(Job::with_scheme(scheme, wanted.key.key(), messages.input(index), rrsig.signature))
            })
            .collect();
        let answers = accelerator.run_all(&jobs);
        let mut replaced = 0;
        for (wanted, answer) in olds.iter_mut().zip(answers.iter()) {
            // After an error of the machine, the signature is replaced too, which is safe.
            if answer.is_err() {
                wanted.old = None;
                replaced += 1;
            }
        }
        Ok(replaced)
    }

    /// Makes the missing signatures.
    fn make(
        &self,
        accelerator: &Accelerator,
        wanted: &[WantedSignature<'_>],
    ) -> Result<Signatures, ZoneSignError> {
        let news = || wanted.iter().filter(|wanted| wanted.old.is_none());
        let mut messages = Messages::default();
        let mut head = Vec::new();
        for new in news() {
            self.write_head(new, &mut head);
            new.push(&head, &mut messages)?;
        }
        messages.hash(accelerator)?;
        let nonce = self.draft.options.nonce;
        let jobs: Result<Vec<_>, ZoneSignError> = news()
            .enumerate()
            .map(|(index, WantedSignature { key, .. })| {
                Ok(Job::with_scheme(key.scheme(nonce)?, key.key(), messages.input(index), &[]))
            })
            .collect();
        let answers = accelerator.run_all(&jobs?);
        let mut made = answers.iter();
        let mut signatures = Signatures::default();
        // The signatures are returned in the order of the plan, kept and new ones mixed.
        for wanted in wanted {
            if let Some(old) = wanted.old {
                signatures.push(&[old]);
                continue;
            }
            // unreachable default because every job has an answer
            let signature =
                made.next().unwrap_or(Err(JobError::Cancelled)).map_err(|error| wanted.unsigned(error))?;
            self.write_head(wanted, &mut head);
            signatures.push(&[&head, wanted.key.algorithm().prefix(), signature]);
        }
        Ok(signatures)
    }

    fn write_head(&self, wanted: &WantedSignature<'_>, head: &mut Vec<u8>) {
        let WantedSignature { set, key, .. } = wanted;
        let lifetime = &self.draft.options.lifetime;
        let fields = RrsigHead {
            covered: set.rtype,
            owner: set.owner,
            original_ttl: set.ttl(),
            expiration: lifetime.expiration_of(set.owner, set.rtype),
            inception: lifetime.inception,
            signer: self.draft.apex(),
        };
        head.clear();
        fields.write(key.algorithm(), key.tag(), head);
    }
}

impl WantedSignature<'_> {
    /// Adds the message of a signature. `data` is the data of an RRSIG, with or without its signature.
    fn push(&self, data: &[u8], messages: &mut Messages) -> Result<(), ZoneSignError> {
        let rrsig = Rrsig::read(data).map_err(|_| self.unsigned(JobError::Malformed { what: "RRSIG" }))?;
        let digest = self.key.algorithm().message_digest();
        messages.push(digest, |out| rrsig.write_signed(self.set.owner, self.set.data(), out))?;
        Ok(())
    }

    fn unsigned(&self, error: JobError) -> ZoneSignError {
        let RecordSet { owner, rtype, .. } = self.set;
        ZoneSignError::Unsigned { owner: owner.to_buf(), rtype, tag: self.key.tag(), error }
    }
}

impl Signatures {
    /// Returns the number of signatures.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns true if there are no signatures.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the number of signed sets.
    #[must_use]
    pub fn sets(&self) -> usize {
        self.sets
    }

    /// Returns the number of earlier signatures that were kept.
    #[must_use]
    pub fn reused(&self) -> usize {
        self.reused
    }

    /// Returns the number of earlier signatures that looked valid but did not verify.
    #[must_use]
    pub fn replaced(&self) -> usize {
        self.replaced
    }

    /// Returns the data of the RRSIG records, set by set.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.data[start..*end])
    }

    fn push(&mut self, parts: &[&[u8]]) {
        parts.iter().for_each(|part| self.data.extend_from_slice(part));
        self.ends.push(self.data.len());
    }
}

impl fmt::Debug for SigningPlan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningPlan({:?}, {} names)", self.draft, self.name_count())
    }
}

impl fmt::Debug for Signatures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signatures({}, {} of them reused)", self.len(), self.reused)
    }
}
