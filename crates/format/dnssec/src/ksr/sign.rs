//! A request signed: the work of the offline machine.

use oarlock::{Accelerator, Job, JobError, NonceRule};

use super::bundles::{MAX_BUNDLE_RECORDS, MAX_BUNDLES, TYPES};
use super::error::KsrSignError;
use super::request::{KeySigningRequest, RequestBundle};
use super::response::{ResponseBundle, SignedKeyResponse};
use crate::algorithm::DnssecAlgorithm;
use crate::dnskey::{Dnskey, REVOKE, SECURE_ENTRY_POINT};
use crate::ds::{DigestType, ds_rdata};
use crate::key_times::{KeyEvent, KeyPhase, KeyTimes};
use crate::messages::Messages;
use crate::name::DomainName;
use crate::rrsig::{Rrsig, RrsigHead};
use crate::rtype::RecordType;
use crate::sign::{PresignedSet, SignerKey, ZoneSignError};

/// A key-signing key with the times of its life. A key without times is always published and signs.
#[derive(Clone, Debug)]
pub struct OfflineKey {
    /// The key with its private half, or with the reference to its holder.
    pub key: SignerKey,
    /// The times of the key.
    pub times: KeyTimes,
}

/// An offline key with its revoked form, if it has a time of [`KeyEvent::Revoke`].
struct OfflineSigner {
    key: SignerKey,
    revoked: Option<SignerKey>,
    times: KeyTimes,
}

impl OfflineSigner {
    fn new(OfflineKey { key, times }: &OfflineKey) -> Result<Self, KsrSignError> {
        let flags = Dnskey::parse(key.dnskey())?.flags;
        if flags & SECURE_ENTRY_POINT == 0 {
            return Err(KsrSignError::Flags { tag: key.tag(), flags });
        }
        let revoked = || SignerKey::new(key.key().clone(), key.role(), flags | REVOKE, key.algorithm());
        let revoked = times.get(KeyEvent::Revoke).map(|_| revoked()).transpose()?;
        Ok(Self { key: key.clone(), revoked, times: *times })
    }

    /// Returns the key as the zone has it, if it does: with the revoke bit after that time. RFC 5011 2.1.
    fn published(&self, now: u32) -> Option<&SignerKey> {
        match self.times.phase(now) {
            KeyPhase::Revoked => self.revoked.as_ref(),
            phase => phase.is_published().then_some(&self.key),
        }
    }

    fn signing(&self, now: u32) -> Option<&SignerKey> {
        self.published(now).filter(|_| self.times.phase(now).signs())
    }

    /// Returns true if the zone has CDS and CDNSKEY records of the key. Without a time for that, they are there as long
    /// as the key, as with dnssec-ksr. A DS record of a revoked key would verify nothing.
    fn has_child_records(&self, now: u32) -> bool {
        let phase = self.times.phase(now);
        let has_begun = self.times.get(KeyEvent::SyncPublish).is_none_or(|begin| begin <= now);
        let is_in_time = has_begun && !self.times.has_come(KeyEvent::SyncDelete, now);
        phase.is_published() && phase != KeyPhase::Revoked && is_in_time
    }
}

/// The options of signing a request.
#[derive(Clone, Debug)]
pub struct KsrSignOptions {
    /// The end of the response in seconds since 1970. The last bundle begins then.
    pub until: u32,
    /// The validity of signatures in seconds, from the beginning of their bundle.
    pub validity_s: u32,
    /// The time before the end of signatures at which a bundle with new ones begins, in seconds.
    pub refresh_s: u32,
    /// The time in seconds by which signatures begin before their bundle, for clocks that are slow.
    pub before_s: u32,
    /// The digests of the CDS records; none for responses without CDS records.
    pub digests: Vec<DigestType>,
    /// True if the response has CDNSKEY records.
    pub has_cdnskey: bool,
    /// The origin of ECDSA nonces.
    pub nonce: NonceRule,
}

/// A bundle of the response before it is signed.
struct UnsignedBundle<'k> {
    inception: u32,
    line: u32,
    sets: [PresignedSet; 3],
    keys: Vec<&'k SignerKey>,
}

impl KeySigningRequest {
    /// Signs the request. The bundles of the response begin with those of the request, whenever signatures are made
    /// anew, and whenever a key-signing key appears, disappears, begins or ends to sign.
    ///
    /// # Errors
    /// The keys do not fit the request, the times make no sense, or an engine or the holder of a key failed.
    pub fn sign(
        &self,
        accelerator: &Accelerator,
        keys: &[OfflineKey],
        options: &KsrSignOptions,
    ) -> Result<SignedKeyResponse, KsrSignError> {
        options.check(self)?;
        let keys = keys.iter().map(OfflineSigner::new).collect::<Result<Vec<_>, _>>()?;
        let maker = BundleMaker { accelerator, options, keys: &keys, zone: self.zone() };
        let mut bundles = Vec::new();
        // dnssec-ksr begins a bundle at the very end too.
        let end = options.until.saturating_add(1);
        let ends = self.bundles.iter().skip(1).map(|next| next.inception).chain([end]);
        for (bundle, end) in self.bundles.iter().zip(ends) {
            for inception in options.inceptions(bundle.inception, end, &keys) {
                if bundles.len() == MAX_BUNDLES {
                    return Err(KsrSignError::ManyBundles);
                }
                bundles.push(maker.make(bundle, inception)?);
            }
        }
        let signatures = signatures(accelerator, self.zone(), &bundles, options)?;
        let mut signatures = signatures.into_iter();
        let finished = |bundle: UnsignedBundle<'_>| {
            let mut sets = bundle.sets;
            for set in sets.iter_mut().filter(|set| !set.data.is_empty()) {
                set.signatures = signatures.by_ref().take(bundle.keys.len()).collect();
            }
            ResponseBundle { inception: bundle.inception, sets, line: bundle.line }
        };
        Ok(SignedKeyResponse {
            zone: self.zone.clone(),
            bundles: bundles.into_iter().map(finished).collect(),
        })
    }
}

impl KsrSignOptions {
    fn check(&self, request: &KeySigningRequest) -> Result<(), KsrSignError> {
        let Self { until, validity_s, refresh_s, before_s, .. } = *self;
        // unreachable default because a request has a bundle
        let last = request.bundles.last().map_or(0, |bundle| bundle.inception);
        if until <= last {
            return Err(KsrSignError::End { until, last });
        }
        if refresh_s >= validity_s {
            return Err(KsrSignError::Refresh { validity_s, refresh_s });
        }
        // Serial numbers have an order only within 2^31. RFC 4034 3.1.5.
        if validity_s.saturating_add(before_s) >= 1 << 31 {
            return Err(KsrSignError::Span { validity_s, before_s });
        }
        match until.checked_add(validity_s) {
            Some(_) => Ok(()),
            None => Err(KsrSignError::Late),
        }
    }

    /// Returns the beginnings of the bundles from `start` to `end`.
    fn inceptions(&self, start: u32, end: u32, keys: &[OfflineSigner]) -> Vec<u32> {
        let times = keys.iter().flat_map(|key| KeyEvent::ALL.map(|event| key.times.get(event)));
        let times = times.flatten().chain([self.until]);
        let mut events: Vec<u32> = times.filter(|time| *time > start && *time < end).collect();
        events.sort_unstable();
        let mut events = events.into_iter().peekable();
        let (mut inceptions, mut time) = (Vec::new(), start);
        // One more than is allowed, so that the caller reports it.
        while time < end && inceptions.len() <= MAX_BUNDLES {
            inceptions.push(time);
            while events.next_if(|event| *event <= time).is_some() {}
            // The check of the options excludes an overflow.
            let renewal = time.saturating_add(self.validity_s - self.refresh_s);
            time = events.peek().map_or(renewal, |event| renewal.min(*event));
        }
        inceptions
    }
}

/// A maker of bundles: the keys and options that all bundles of a response share.
struct BundleMaker<'k> {
    accelerator: &'k Accelerator,
    options: &'k KsrSignOptions,
    keys: &'k [OfflineSigner],
    zone: DomainName<'k>,
}

impl<'k> BundleMaker<'k> {
    fn make(&self, request: &RequestBundle, inception: u32) -> Result<UnsignedBundle<'k>, KsrSignError> {
        let published = self.keys.iter().filter_map(|key| key.published(inception));
        let signing: Vec<&SignerKey> = self.keys.iter().filter_map(|key| key.signing(inception)).collect();
        check_algorithms(request, &signing, inception)?;
        let mut dnskeys: Vec<Vec<u8>> = published.map(|key| key.dnskey().to_vec()).collect();
        dnskeys.extend(request.keys.iter().cloned());
        check_tags(request.line, &dnskeys)?;
        let [cdnskey, cds] = self.child_records(inception)?;
        let set = |rtype, data| PresignedSet { rtype, ttl: request.ttl, data, signatures: Vec::new() };
        let [first, second, third] = TYPES;
        let sets = [set(first, dnskeys), set(second, cdnskey), set(third, cds)];
        let filled = sets.iter().filter(|set| !set.data.is_empty());
        match filled.map(|set| set.data.len() + signing.len()).sum::<usize>() {
            len if len > MAX_BUNDLE_RECORDS => Err(KsrSignError::ManyRecords { line: request.line }),
            _ => Ok(UnsignedBundle { inception, line: request.line, sets, keys: signing }),
        }
    }

    /// Returns the data of the CDNSKEY and CDS records.
    fn child_records(&self, inception: u32) -> Result<[Vec<Vec<u8>>; 2], KsrSignError> {
        let (mut cdnskey, mut cds) = (Vec::new(), Vec::new());
        for key in self.keys.iter().filter(|key| key.has_child_records(inception)) {
            if self.options.has_cdnskey {
                cdnskey.push(key.key.dnskey().to_vec());
            }
            for digest in &self.options.digests {
                let dnskey = Dnskey::parse(key.key.dnskey())?;
                cds.push(ds_rdata(self.accelerator, self.zone, &dnskey, *digest)?);
            }
        }
        Ok([cdnskey, cds])
    }
}

/// Checks that the keys of both kinds have the same algorithms. A zone is signed with every algorithm of its keys. RFC
/// 4035 2.2. Revoked keys sign only to prove their revocation. RFC 5011 2.1.
fn check_algorithms(
    request: &RequestBundle,
    signing: &[&SignerKey],
    inception: u32,
) -> Result<(), KsrSignError> {
    let line = request.line;
    let signing: Vec<&&SignerKey> = signing.iter().filter(|key| !key.is_revoked()).collect();
    if signing.is_empty() {
        return Err(KsrSignError::NoKey(inception));
    }
    let mut found: Vec<DnssecAlgorithm> = Vec::new();
    for data in &request.keys {
        let dnskey = Dnskey::parse(data)?;
        let (algorithm, tag) = (dnskey.algorithm, dnskey.key_tag());
        if !signing.iter().any(|key| key.algorithm() == algorithm) {
            return Err(KsrSignError::Algorithm { line, tag, algorithm });
        }
        found.push(algorithm);
    }
    match signing.iter().find(|key| !found.contains(&key.algorithm())) {
        Some(key) => Err(KsrSignError::MissingAlgorithm { line, algorithm: key.algorithm() }),
        None => Ok(()),
    }
}

/// Checks that the keys of a bundle have tags of their own.
fn check_tags(line: u32, dnskeys: &[Vec<u8>]) -> Result<(), KsrSignError> {
    let mut keys = dnskeys
        .iter()
        .map(|data| Dnskey::parse(data).map(|key| (key.algorithm, key.key_tag(), data)))
        .collect::<Result<Vec<_>, _>>()?;
    keys.sort_unstable();
    match keys.windows(2).find(|pair| (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1)) {
        Some(&[(algorithm, tag, one), (.., two)]) if one == two => {
            Err(ZoneSignError::SameKey { tag, algorithm }.into())
        }
        Some(&[(algorithm, tag, _), _]) => Err(KsrSignError::SameTag { line, tag, algorithm }),
        _ => Ok(()),
    }
}

/// A signature to be made.
struct WantedBundleSignature<'k> {
    key: &'k SignerKey,
    rtype: RecordType,
    /// The data of the RRSIG before the signature.
    head: Vec<u8>,
}

impl WantedBundleSignature<'_> {
    fn finished(&self, answer: Result<&[u8], JobError>) -> Result<Vec<u8>, KsrSignError> {
        let (rtype, tag) = (self.rtype, self.key.tag());
        let signature = answer.map_err(|error| KsrSignError::Unsigned { rtype, tag, error })?;
        Ok([&self.head, self.key.algorithm().prefix(), signature].concat())
    }
}

/// Makes all signatures, in the order of bundles, sets and keys.
fn signatures(
    accelerator: &Accelerator,
    zone: DomainName<'_>,
    bundles: &[UnsignedBundle<'_>],
    options: &KsrSignOptions,
) -> Result<Vec<Vec<u8>>, KsrSignError> {
    let mut messages = Messages::default();
    let mut wanted = Vec::new();
    for bundle in bundles {
        for set in bundle.sets.iter().filter(|set| !set.data.is_empty()) {
            let mut data: Vec<&[u8]> = set.data.iter().map(Vec::as_slice).collect();
            // RFC 4034 6.3: signatures cover the records in the order of their data.
            data.sort_unstable();
            let fields = RrsigHead {
                covered: set.rtype,
                owner: zone,
                original_ttl: set.ttl,
                expiration: bundle.inception.saturating_add(options.validity_s),
                inception: bundle.inception.saturating_sub(options.before_s),
                signer: zone,
            };
            for &key in &bundle.keys {
                let mut head = Vec::new();
                fields.write(key.algorithm(), key.tag(), &mut head);
                let write = |out: &mut Vec<u8>| {
                    // unreachable skip because the head was written just now
                    if let Ok(rrsig) = Rrsig::read(&head) {
                        rrsig.write_signed(zone, data.iter().copied(), out);
                    }
                };
                messages.push(key.algorithm().message_digest(), write)?;
                wanted.push(WantedBundleSignature { key, rtype: set.rtype, head });
            }
        }
    }
    messages.hash(accelerator)?;
    let mut jobs = Vec::with_capacity(wanted.len());
    for (index, WantedBundleSignature { key, .. }) in wanted.iter().enumerate() {
        jobs.push(Job::with_scheme(key.scheme(options.nonce)?, key.key(), messages.input(index), &[]));
    }
    let answers = accelerator.run_all(&jobs);
    wanted.iter().zip(answers.iter()).map(|(wanted, answer)| wanted.finished(answer)).collect()
}
