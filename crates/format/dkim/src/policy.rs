//! The policy of a verifier, within the limits of the standards.

use crate::message::MailLimits;

/// The policy of a verifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyPolicy {
    /// The limits for messages.
    pub limits: MailLimits,
    /// The minimum length of an RSA modulus in bits. RFC 8301 3.2 forbids fewer than 1024.
    pub min_rsa_bits: u32,
    /// The maximum length of an RSA modulus in bits. RFC 8301 3.2 requires at least 4096.
    pub max_rsa_bits: u32,
    /// True if rsa-sha1 may pass. RFC 8301 3.1 forbids it.
    pub accepts_sha1: bool,
    /// True if a signature may pass whose `l=` leaves a part of the body unsigned. Anyone can then append to the body.
    pub accepts_partial_body: bool,
    /// True if ARC chains are verified as well.
    pub verifies_chains: bool,
    /// True if only signatures pass whose key records are protected by DNSSEC.
    pub requires_dnssec: bool,
    /// The maximum difference of clocks in seconds.
    pub clock_skew_s: u64,
}

impl Default for VerifyPolicy {
    fn default() -> Self {
        Self {
            limits: MailLimits::default(),
            min_rsa_bits: 1024,
            max_rsa_bits: 4096,
            accepts_sha1: false,
            accepts_partial_body: false,
            verifies_chains: false,
            requires_dnssec: false,
            clock_skew_s: 300,
        }
    }
}
