//! What is accepted here, within what the standards allow.

use crate::message::MailLimits;

/// What a verifier accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyPolicy {
    /// Bounds of what messages bring.
    pub limits: MailLimits,
    /// Shortest RSA modulus in bits; verifiers must not accept fewer than 1024. RFC 8301 3.2.
    pub min_rsa_bits: u32,
    /// Longest RSA modulus in bits; verifiers must take 4096. RFC 8301 3.2.
    pub max_rsa_bits: u32,
    /// Whether rsa-sha1 can pass. RFC 8301 3.1 says that it must not.
    pub accepts_sha1: bool,
    /// Whether a signature can pass whose `l=` leaves some of the body unsigned, so that anybody can add to it.
    pub accepts_partial_body: bool,
    /// Whether ARC chains are verified, too.
    pub verifies_chains: bool,
    /// Seconds by which clocks may differ.
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
            clock_skew_s: 300,
        }
    }
}
