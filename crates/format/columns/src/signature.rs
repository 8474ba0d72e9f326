//! Signatures of columns.

use arrow_array::Array;
use oarlock::{Accelerator, Blame, Input, Job, JobError, Key};

use crate::algorithm::ColumnSignature;
use crate::output::{Computed, Verdicts};
use crate::values::ValueColumn;
use crate::{ColumnError, ColumnResult, OnError, RowFault};

/// The jobs of one call of the accelerator. Lanes take eight at a time, and answers are kept until the call ends.
const JOBS: usize = 1024;

/// A key of signatures, local or held.
#[derive(Clone, Copy, Debug)]
pub struct SignatureKey<'k> {
    /// Its name, for errors.
    pub name: &'k str,
    /// The private key that signs, or the public key that verifies.
    pub key: &'k Key,
}

/// Signs each value. Without an algorithm, the usual one of the key's kind is used.
///
/// # Errors
/// The column does not fit, the key is of another kind or refused, or the machine or the server failed.
pub fn sign(
    accelerator: &Accelerator,
    column: &dyn Array,
    key: SignatureKey<'_>,
    algorithm: Option<ColumnSignature>,
    on_error: OnError,
) -> Result<ColumnResult, ColumnError> {
    let values = ValueColumn::read("column", column)?;
    let algorithm = usual_or(algorithm, key)?;
    let scheme = algorithm.signing(key.key.kind()).ok_or_else(|| unfit(algorithm, key))?;
    let rows = rows_with_values(&values)?;
    let max_len = rows.len().saturating_mul(max_signature_len(key.key));
    let mut computed = Computed::new(values.len(), max_len, values.is_large())?;
    for chunk in rows.chunks(JOBS) {
        let jobs: Vec<Job<'_>> =
            chunk.iter().map(|(_, value)| Job::sign(scheme, key.key, Input::Message(value))).collect();
        let answers = accelerator.run_all(&jobs);
        for (index, (row, _)) in chunk.iter().enumerate() {
            computed.push_nulls(row - computed.len());
            match answers.get(index) {
                Ok(signature) => computed.push_value(&[], signature),
                Err(error) => computed.push_fault(fault_of(error.clone(), key.name)?),
            }
        }
    }
    computed.push_nulls(values.len() - computed.len());
    computed.finish(on_error)
}

/// Verifies a signature of each value. A row is true if its signature is right, and null if one of the two is null.
///
/// # Errors
/// As [`sign`].
pub fn verify(
    accelerator: &Accelerator,
    column: &dyn Array,
    signatures: &dyn Array,
    key: SignatureKey<'_>,
    algorithm: Option<ColumnSignature>,
    on_error: OnError,
) -> Result<ColumnResult, ColumnError> {
    let values = ValueColumn::read("column", column)?;
    let signatures = ValueColumn::read("column of signatures", signatures)?;
    let (expected, found) = (values.len(), signatures.len());
    if expected != found {
        return Err(ColumnError::Rows { what: "column of signatures", expected, found });
    }
    let algorithm = usual_or(algorithm, key)?;
    let scheme = algorithm.verifying(key.key.kind()).ok_or_else(|| unfit(algorithm, key))?;
    let mut pairs = Vec::new();
    for (row, value) in rows_with_values(&values)? {
        if let Some(signature) = signatures.value(row)? {
            pairs.push((row, value, signature));
        }
    }
    let mut answers = vec![Ok(None); expected];
    for chunk in pairs.chunks(JOBS) {
        let jobs: Vec<Job<'_>> = chunk
            .iter()
            .map(|(_, value, signature)| Job::verify(scheme, key.key, Input::Message(value), signature))
            .collect();
        let verified = accelerator.run_all(&jobs);
        for (index, (row, ..)) in chunk.iter().enumerate() {
            answers[*row] = match verified.verified(index) {
                Ok(is_right) => Ok(Some(is_right)),
                // A signature of the wrong length is as wrong as one that does not verify.
                Err(error) if error.blame() != Blame::Machine => Ok(Some(false)),
                Err(error) => Err(fault_of(error, key.name)?),
            };
        }
    }
    let mut verdicts = Verdicts::new(expected);
    answers.into_iter().for_each(|answer| verdicts.push(answer));
    verdicts.finish(on_error)
}

fn rows_with_values<'a>(values: &ValueColumn<'a>) -> Result<Vec<(usize, &'a [u8])>, ColumnError> {
    let mut rows = Vec::with_capacity(values.len());
    for row in 0..values.len() {
        if let Some(value) = values.value(row)? {
            rows.push((row, value));
        }
    }
    Ok(rows)
}

fn usual_or(
    algorithm: Option<ColumnSignature>,
    SignatureKey { name, key }: SignatureKey<'_>,
) -> Result<ColumnSignature, ColumnError> {
    algorithm.or_else(|| ColumnSignature::usual(key.kind())).ok_or_else(|| ColumnError::KeyRefused {
        name: name.to_owned(),
        reason: format!("a key of kind {:?} does not sign", key.kind()),
    })
}

fn unfit(algorithm: ColumnSignature, SignatureKey { name, key }: SignatureKey<'_>) -> ColumnError {
    let reason = format!("{algorithm} cannot use a key of kind {:?}", key.kind());
    ColumnError::KeyRefused { name: name.to_owned(), reason }
}

/// Returns the length of the longest signature of a key: RSA of 8192 bits, or ECDSA over P-384 in DER.
fn max_signature_len(key: &Key) -> usize {
    key.rsa_public_shape().and_then(oarlock::Shape::input_len).unwrap_or(MAX_ECDSA_LEN)
}

/// The longest ECDSA signature in DER: two numbers of 49 bytes with their heads, and the head of the sequence.
const MAX_ECDSA_LEN: usize = 104;

fn fault_of(error: JobError, key: &str) -> Result<RowFault, ColumnError> {
    match error {
        JobError::Length { .. } | JobError::OutOfRange { .. } => Ok(RowFault::Refused),
        other => Err(ColumnError::of_job(other, key)),
    }
}
