//! Finishers: the rest of a job while its raw operation is computed, and the step from the raw result to the answer.

use std::fmt;

use oarlock_core::{JobError, reserve_erasing};
use zeroize::Zeroizing;

use super::hash::{Digester, MessageDigest};
use super::{ecdsa, rsa_decrypt, rsa_oaep, rsa_pkcs1, rsa_pss};

/// The state that [`finish`] needs after the inputs of a job were given back. It is small and owned, and its secrets
/// are zeroized on drop.
pub struct Finisher(pub(super) FinishStep);

pub(super) enum FinishStep {
    /// The raw result is the answer.
    Copy,
    /// The raw r || s is written as DER.
    EcdsaDer,
    /// The status is the answer.
    Verified,
    Pkcs1Verify {
        digest: &'static Digester,
        hash: MessageDigest,
    },
    Pkcs1VerifyEncoded {
        message: Box<[u8]>,
    },
    PssVerify(rsa_pss::PssExpectation),
    Pkcs1Decrypt {
        seed: Zeroizing<[u8; 32]>,
    },
    Oaep {
        digest: &'static Digester,
        mgf: &'static Digester,
        label: MessageDigest,
    },
    /// A shared secret, refused if it is zero.
    Agreement,
    /// A shared secret. The engine refuses a peer that is not a point on the curve.
    PointAgreement,
}

/// The answer of a job that succeeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JobAnswer {
    /// The signature verifies.
    Valid,
    /// The number of bytes that were appended: a signature, a message or a shared secret.
    Output(usize),
}

/// Turns a raw result into the answer of the job, and appends the output to `out`.
///
/// `raw` is the bytes of the operation at the width of the shape, empty for a verifying shape, or the error of its
/// status ([`Status::error`](oarlock_core::Status::error)). If `out` has to move, the old place is zeroized. On an
/// error the content of `out` is unchanged.
///
/// # Errors
/// [`JobError::Rejected`] if a signature or padding is bad, or an RSA integer of the peer is not below the modulus;
/// [`JobError::SmallOrderPeer`]; [`JobError::PeerNotOnCurve`]; and every other error of `raw`, unchanged.
pub fn finish(
    finisher: Finisher,
    raw: Result<&[u8], JobError>,
    out: &mut Vec<u8>,
) -> Result<JobAnswer, JobError> {
    let raw = raw.map_err(|error| finisher.explain(error))?;
    // Reserved before any secret is written, so that `out` never moves with a secret in it.
    if finisher.has_output() {
        reserve_erasing(out, raw.len() + ecdsa::MAX_DER_EXTRA);
    }
    match finisher.0 {
        FinishStep::Verified => Ok(JobAnswer::Valid),
        FinishStep::Pkcs1Verify { digest, hash } => {
            verdict(rsa_pkcs1::is_encoding_of([digest.info_prefix, hash.as_ref()], raw))
        }
        FinishStep::Pkcs1VerifyEncoded { message } => {
            verdict(rsa_pkcs1::is_encoding_of([&message, &[]], raw))
        }
        FinishStep::PssVerify(expected) => verdict(rsa_pss::is_encoding_of(&expected, raw)),
        FinishStep::Pkcs1Decrypt { seed } => Ok(JobAnswer::Output(rsa_decrypt::finish(&seed, raw, out))),
        FinishStep::Oaep { digest, mgf, label } => {
            rsa_oaep::finish((digest, mgf), &label, raw, out).map(JobAnswer::Output)
        }
        FinishStep::Agreement if is_zero(raw) => Err(JobError::SmallOrderPeer),
        FinishStep::Copy | FinishStep::Agreement | FinishStep::PointAgreement => {
            out.extend_from_slice(raw);
            Ok(JobAnswer::Output(raw.len()))
        }
        FinishStep::EcdsaDer => {
            let before = out.len();
            ecdsa::write_der(raw, out);
            Ok(JobAnswer::Output(out.len() - before))
        }
    }
}

impl Finisher {
    /// True if the answer has bytes. Verifications have none.
    pub(crate) fn has_output(&self) -> bool {
        !matches!(
            self.0,
            FinishStep::Verified
                | FinishStep::Pkcs1Verify { .. }
                | FinishStep::Pkcs1VerifyEncoded { .. }
                | FinishStep::PssVerify(_)
        )
    }

    /// A signature or ciphertext not below n comes from the peer, and is bad like any other. RFC 8017 8.2.2 step 2.
    fn explain(&self, error: JobError) -> JobError {
        match (&self.0, error) {
            (
                FinishStep::Pkcs1Verify { .. }
                | FinishStep::Pkcs1VerifyEncoded { .. }
                | FinishStep::PssVerify(_)
                | FinishStep::Pkcs1Decrypt { .. }
                | FinishStep::Oaep { .. },
                JobError::OutOfRange { .. },
            ) => JobError::Rejected,
            (FinishStep::PointAgreement, JobError::OutOfRange { .. }) => JobError::PeerNotOnCurve,
            (_, error) => error,
        }
    }
}

fn verdict(is_valid: bool) -> Result<JobAnswer, JobError> {
    if is_valid { Ok(JobAnswer::Valid) } else { Err(JobError::Rejected) }
}

/// Looks at every byte, as the secret may be a good one. RFC 7748 6.1.
fn is_zero(secret: &[u8]) -> bool {
    use subtle::ConstantTimeEq;
    secret.iter().fold(0, |all, byte| all | byte).ct_eq(&0).into()
}

impl fmt::Debug for Finisher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            FinishStep::Copy => "Finisher(copy)",
            FinishStep::EcdsaDer => "Finisher(ecdsa-der)",
            FinishStep::Verified => "Finisher(verified)",
            FinishStep::Pkcs1Verify { .. } => "Finisher(rsa-pkcs1-verify)",
            FinishStep::Pkcs1VerifyEncoded { .. } => "Finisher(rsa-pkcs1-verify-encoded)",
            FinishStep::PssVerify(_) => "Finisher(rsa-pss-verify)",
            FinishStep::Pkcs1Decrypt { .. } => "Finisher(rsa-pkcs1-decrypt)",
            FinishStep::Oaep { .. } => "Finisher(rsa-oaep-decrypt)",
            FinishStep::Agreement => "Finisher(agreement)",
            FinishStep::PointAgreement => "Finisher(point-agreement)",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So no growth of `Vec`'s own leaves a copy of a secret behind.
    #[test]
    fn every_answer_fits_into_the_reserved_capacity() {
        let kinds: [fn() -> FinishStep; 5] = [
            || FinishStep::Copy,
            || FinishStep::EcdsaDer,
            || FinishStep::Agreement,
            || FinishStep::PointAgreement,
            || FinishStep::Pkcs1Decrypt { seed: Zeroizing::new([1; 32]) },
        ];
        for kind in kinds {
            let mut out = Vec::with_capacity(96 + ecdsa::MAX_DER_EXTRA);
            let address = out.as_ptr();
            let answer = finish(Finisher(kind()), Ok(&[0xFF; 96]), &mut out);
            assert_eq!((answer, out.as_ptr()), (Ok(JobAnswer::Output(out.len())), address));
        }
    }
}
