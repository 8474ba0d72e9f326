//! The signatures of one message, parsed once. They are needed before the body comes and again for verifying.

use smallvec::SmallVec;

use crate::arc::{ArcSets, find_sets};
use crate::chain::ChainFault;
use crate::hash::BodyNeed;
use crate::key_answer::KeyProtection;
use crate::message::{HeaderField, name_hash};
use crate::policy::VerifyPolicy;
use crate::signature::DkimSignature;
use crate::tags::TagList;
use crate::verdict::{FailReason, SignatureResult};

const FIELD: &[u8] = b"DKIM-Signature";

/// The signatures and the ARC chain of one message. They name the hashes of the body that are needed, and they can be
/// kept until the body has arrived.
#[derive(Debug)]
pub struct ParsedSignatures<'m> {
    pub(super) signatures: SmallVec<[ParsedSignature<'m>; 2]>,
    /// The chain, if the policy verifies chains.
    pub(super) chain: Option<Result<ParsedChain<'m>, ChainFault>>,
}

/// One signature and its position among the header fields.
#[derive(Debug)]
pub(super) struct ParsedSignature<'m> {
    pub(super) position: usize,
    pub(super) is_of_chain: bool,
    pub(super) state: ParseState<'m>,
}

#[derive(Debug)]
// Nearly all signatures are ready. A box would cost an allocation for each of them.
#[allow(clippy::large_enum_variant)]
pub(super) enum ParseState<'m> {
    Unread(Box<SignatureResult>),
    /// The signature cannot pass under any key.
    Refused {
        signature: DkimSignature<'m>,
        reason: FailReason,
    },
    Ready(DkimSignature<'m>),
}

/// The sets of a chain, and the message signature of the newest one.
#[derive(Debug)]
pub(super) struct ParsedChain<'m> {
    pub(super) sets: ArcSets,
    pub(super) newest: Option<ParsedSignature<'m>>,
}

impl<'m> ParsedSignatures<'m> {
    /// Parses every signature that `policy` accepts at `now_s`, in seconds since 1970.
    #[must_use]
    pub fn parse(headers: &[HeaderField<'m>], policy: &VerifyPolicy, now_s: u64) -> Self {
        let hash = name_hash(FIELD);
        let is_signature = |header: &HeaderField<'_>| header.hash == hash && header.is(FIELD);
        let fields = headers.iter().enumerate().filter(|(_, header)| is_signature(header));
        let signatures = fields.enumerate().map(|(index, (position, field))| ParsedSignature {
            position,
            is_of_chain: false,
            state: parse_signature(index, field, policy, now_s),
        });
        let signatures = signatures.collect();
        let chain = policy.verifies_chains.then(|| ParsedChain::parse(headers, policy, now_s));
        Self { signatures, chain }
    }

    /// Returns the hashes of the body that the signatures need, each once.
    #[must_use]
    pub fn body_needs(&self) -> Vec<BodyNeed> {
        let newest = self.chain.iter().flatten().filter_map(|chain| chain.newest.as_ref());
        let mut needs = Vec::new();
        for parsed in self.signatures.iter().chain(newest) {
            if let ParseState::Ready(signature) = &parsed.state
                && !needs.contains(&body_need(signature))
            {
                needs.push(body_need(signature));
            }
        }
        needs
    }

    /// Copies the borrowed parts, so that the signatures outlive the bytes of the header.
    #[must_use]
    pub fn into_owned(self) -> ParsedSignatures<'static> {
        let chain = self.chain.map(|chain| {
            chain.map(|ParsedChain { sets, newest }| ParsedChain {
                sets,
                newest: newest.map(ParsedSignature::into_owned),
            })
        });
        let signatures = self.signatures.into_iter().map(ParsedSignature::into_owned).collect();
        ParsedSignatures { signatures, chain }
    }
}

impl ParsedSignature<'_> {
    fn into_owned(self) -> ParsedSignature<'static> {
        let Self { position, is_of_chain, state } = self;
        let state = match state {
            ParseState::Unread(result) => ParseState::Unread(result),
            ParseState::Refused { signature, reason } => {
                ParseState::Refused { signature: signature.into_owned(), reason }
            }
            ParseState::Ready(signature) => ParseState::Ready(signature.into_owned()),
        };
        ParsedSignature { position, is_of_chain, state }
    }
}

impl<'m> ParsedChain<'m> {
    fn parse(headers: &[HeaderField<'m>], policy: &VerifyPolicy, now_s: u64) -> Result<Self, ChainFault> {
        let sets = find_sets(headers)?;
        let newest = sets.last().map(|set| {
            let field = &headers[set.message];
            let state = match DkimSignature::parse_of_set(field.value(), &policy.limits) {
                Ok(signature) => check_signature(signature, policy, now_s),
                Err(error) => ParseState::unread(field, error.into()),
            };
            ParsedSignature { position: set.message, is_of_chain: true, state }
        });
        Ok(Self { sets, newest })
    }
}

/// Parses a signature, if its `index` is within the limit.
fn parse_signature<'m>(
    index: usize,
    field: &HeaderField<'m>,
    policy: &VerifyPolicy,
    now_s: u64,
) -> ParseState<'m> {
    let limits = &policy.limits;
    if index >= limits.max_signatures {
        return ParseState::unread(field, FailReason::TooManySignatures(limits.max_signatures));
    }
    match DkimSignature::parse(field.value(), limits) {
        Ok(signature) => check_signature(signature, policy, now_s),
        Err(error) => ParseState::unread(field, error.into()),
    }
}

fn check_signature<'m>(signature: DkimSignature<'m>, policy: &VerifyPolicy, now_s: u64) -> ParseState<'m> {
    match refusal(policy, now_s, &signature) {
        Some(reason) => ParseState::Refused { signature, reason },
        None => ParseState::Ready(signature),
    }
}

/// Returns the reason why a signature cannot pass, as far as neither a hash nor a key is needed to know it.
pub(super) fn refusal(
    policy: &VerifyPolicy,
    now_s: u64,
    signature: &DkimSignature<'_>,
) -> Option<FailReason> {
    let VerifyPolicy { accepts_sha1, clock_skew_s, .. } = *policy;
    if signature.algorithm.hash() == "sha1" && !accepts_sha1 {
        return Some(FailReason::Sha1);
    }
    let late = signature.expires.and_then(|expires| now_s.checked_sub(expires));
    if let Some(late_s) = late.filter(|late_s| *late_s > clock_skew_s) {
        return Some(FailReason::Expired(late_s));
    }
    let early = signature.timestamp.and_then(|timestamp| timestamp.checked_sub(now_s));
    early.filter(|early_s| *early_s > clock_skew_s).map(FailReason::Future)
}

pub(super) fn body_need(signature: &DkimSignature<'_>) -> BodyNeed {
    BodyNeed {
        form: signature.canonicalization.body,
        digest: signature.algorithm.digest(),
        limit: signature.body_length,
    }
}

impl SignatureResult {
    pub(crate) fn for_signature(signature: &DkimSignature<'_>, reason: Option<FailReason>) -> Self {
        Self {
            reason,
            domain: Some(signature.domain.clone()),
            selector: Some(signature.selector.clone()),
            identity: signature.identity.as_deref().map(Into::into),
            algorithm: Some(signature.algorithm),
            signature_start: Some(start_of(&crate::base64::encode(
                &signature.signature[..6.min(signature.signature.len())],
            ))),
            key_bits: None,
            key_protection: KeyProtection::Unknown,
            is_testing: false,
        }
    }

    /// Makes the result of a field that cannot be parsed, with the tags that can be read.
    fn unread(field: &HeaderField<'_>, reason: FailReason) -> Self {
        let tags = TagList::parse(field.value()).ok();
        let tag = |name| tags.as_ref().and_then(|tags| tags.get(name)).map(crate::signature::text);
        let name = |tag: Option<&str>| Some(crate::domain::ascii_form(tag?)?.into_owned());
        Self {
            domain: name(tag("d")),
            selector: name(tag("s")),
            algorithm: tag("a").and_then(|name| name.parse().ok()),
            ..Self::unreadable(reason)
        }
    }
}

impl ParseState<'_> {
    fn unread(field: &HeaderField<'_>, reason: FailReason) -> Self {
        Self::Unread(Box::new(SignatureResult::unread(field, reason)))
    }
}

fn start_of(text: &str) -> String {
    text.chars().take(8).collect()
}
