//! DKIM signatures of a column of messages.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::builder::{BooleanBuilder, StringBuilder, UInt32Builder};
use arrow_array::{Array, ArrayRef, StructArray};
use arrow_schema::{DataType, Field, Fields};
use oarlock::process::ProcessLocal;
use oarlock::{Accelerator, JobError};
use oarlock_columns::{ColumnError, ColumnResult, read_values};
use oarlock_dkim::{
    DkimVerdict, KeyAnswer, KeyName, ParsedMail, SignatureResult, VerifiedMessage, VerifyIntake,
    VerifyPolicy, best_verdict, to_crlf,
};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

use crate::column::PassedColumn;
use crate::error::{detached, exception};
use crate::opened::accelerator;

/// The accelerator that hashes and verifies.
static ACCELERATOR: ProcessLocal<Accelerator> = ProcessLocal::new();

/// The most bytes of messages that are hashed together.
const BATCH_BYTES: usize = 16 << 20;

/// Verifies the DKIM signatures of each message. `find` returns the key records of a name.
#[pyfunction]
#[pyo3(signature = (messages, find, time, min_rsa_bits, accept_sha1, accept_partial_body))]
pub(crate) fn verify_mail<'py>(
    py: Python<'py>,
    messages: &Bound<'py, PyAny>,
    find: Py<PyAny>,
    time: u64,
    min_rsa_bits: u32,
    accept_sha1: bool,
    accept_partial_body: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let messages = PassedColumn::read(messages)?;
    let accelerator = ACCELERATOR.try_get(|_| accelerator(|builder| builder));
    let accelerator = accelerator.map_err(|error| exception(py, &error))?;
    let policy = VerifyPolicy {
        min_rsa_bits,
        accepts_sha1: accept_sha1,
        accepts_partial_body: accept_partial_body,
        ..VerifyPolicy::default()
    };
    let verifier = ColumnVerifier { accelerator, policy, now_s: time, records: KeyRecords::new(find) };
    let verified = detached(py, || messages.compute(|_, chunk| verifier.verify(chunk)));
    // An exception of `find` explains the error that it leads to.
    if let Some(raised) = verifier.records.raised() {
        return Err(raised);
    }
    messages.results(py, verified?.0)
}

struct ColumnVerifier {
    accelerator: &'static Accelerator,
    policy: VerifyPolicy,
    now_s: u64,
    records: KeyRecords,
}

impl ColumnVerifier {
    fn verify(&self, chunk: &dyn Array) -> Result<ColumnResult, ColumnError> {
        let messages = read_values("column of messages", chunk)?;
        let mut results = MailResults::default();
        let mut rest = &messages[..];
        while !rest.is_empty() {
            let mut bytes = 0_usize;
            let fits = |message: &&Option<&[u8]>| {
                bytes = bytes.saturating_add(message.map_or(0, <[u8]>::len));
                bytes <= BATCH_BYTES
            };
            // At least one: a message may be longer than a batch.
            let count = rest.iter().take_while(fits).count().max(1);
            let (batch, behind) = rest.split_at(count);
            rest = behind;
            self.verify_batch(batch, &mut results)?;
        }
        results.finish()
    }

    fn verify_batch(&self, batch: &[Option<&[u8]>], results: &mut MailResults) -> Result<(), ColumnError> {
        let failed = |error: JobError| ColumnError::Machine(error.to_string());
        let wires: Vec<_> = batch.iter().map(|message| message.map(to_crlf)).collect();
        let mut intake = VerifyIntake::new(&self.policy, self.now_s);
        let mut faults = Vec::with_capacity(batch.len());
        for wire in wires.iter().flatten() {
            faults.push(match ParsedMail::parse(wire, &self.policy.limits) {
                Ok(message) => {
                    intake.push(&message).map_err(failed)?;
                    None
                }
                Err(error) => Some(format!("the message is malformed: {error}")),
            });
        }
        let hashed = intake.hash(self.accelerator).map_err(failed)?;
        let mut answers = HashMap::new();
        for name in hashed.queries() {
            answers.insert(name.clone(), self.records.find(name)?);
        }
        // unreachable default because every name was asked for
        let keyed = hashed.answer(|name| answers.get(name).cloned().unwrap_or(KeyAnswer::NoRecord));
        let mut verified = keyed.verify(self.accelerator).into_iter();
        let mut faults = faults.into_iter();
        for wire in &wires {
            match wire.as_ref().and_then(|_| faults.next()) {
                None => results.push_null(),
                Some(Some(fault)) => results.push_malformed(&fault),
                Some(None) => results.push(&verified.next().unwrap_or_default()),
            }
        }
        Ok(())
    }
}

/// The key records that a function of Python finds.
struct KeyRecords {
    find: Py<PyAny>,
    raised: Mutex<Option<PyErr>>,
    /// The answers so far: a column has many messages of one domain.
    known: Mutex<HashMap<KeyName, KeyAnswer>>,
}

impl KeyRecords {
    fn new(find: Py<PyAny>) -> Self {
        Self { find, raised: Mutex::new(None), known: Mutex::default() }
    }

    fn raised(&self) -> Option<PyErr> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn find(&self, name: &KeyName) -> Result<KeyAnswer, ColumnError> {
        if let Some(answer) = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(name) {
            return Ok(answer.clone());
        }
        let answer = Python::attach(|py| match self.ask(py, name) {
            Ok(answer) => Ok(answer),
            // No answer of DNS is an answer too: the verification can be tried again later.
            Err(error) if error.is_instance_of::<PyOSError>(py) => {
                Ok(KeyAnswer::Unknown(error.value(py).to_string()))
            }
            Err(error) => {
                *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                Err(ColumnError::Options("the key records could not be found".to_owned()))
            }
        })?;
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(name.clone(), answer.clone());
        Ok(answer)
    }

    fn ask(&self, py: Python<'_>, name: &KeyName) -> PyResult<KeyAnswer> {
        let records: Vec<Vec<u8>> = self.find.call1(py, (name.as_str(),))?.extract(py)?;
        Ok(KeyAnswer::from_records(records))
    }
}

/// The columns of results.
#[derive(Default)]
struct MailResults {
    result: StringBuilder,
    domain: StringBuilder,
    selector: StringBuilder,
    identity: StringBuilder,
    algorithm: StringBuilder,
    key_bits: UInt32Builder,
    testing: BooleanBuilder,
    reason: StringBuilder,
    signatures: UInt32Builder,
    is_valid: Vec<bool>,
}

impl MailResults {
    fn push(&mut self, message: &VerifiedMessage) {
        let verdict = best_verdict(&message.signatures);
        let best = message.signatures.iter().find(|signature| signature.verdict() == verdict);
        let reason = best.and_then(|best| best.reason.as_ref()).map(ToString::to_string);
        self.push_row(Some(verdict), best, reason.as_deref(), Some(message.signatures.len()));
    }

    fn push_malformed(&mut self, fault: &str) {
        self.push_row(Some(DkimVerdict::Permerror), None, Some(fault), Some(0));
    }

    fn push_null(&mut self) {
        self.push_row(None, None, None, None);
    }

    fn push_row(
        &mut self,
        verdict: Option<DkimVerdict>,
        best: Option<&SignatureResult>,
        reason: Option<&str>,
        signatures: Option<usize>,
    ) {
        self.is_valid.push(verdict.is_some());
        self.result.append_option(verdict.map(DkimVerdict::name));
        self.domain.append_option(best.and_then(|best| best.domain.as_deref()));
        self.selector.append_option(best.and_then(|best| best.selector.as_deref()));
        self.identity.append_option(best.and_then(|best| best.identity.as_deref()));
        self.algorithm.append_option(best.and_then(|best| best.algorithm).map(|alg| alg.name()));
        self.key_bits.append_option(best.and_then(|best| best.key_bits));
        self.testing.append_option(best.map(|best| best.is_testing));
        self.reason.append_option(reason);
        self.signatures.append_option(signatures.and_then(|count| u32::try_from(count).ok()));
    }

    fn finish(mut self) -> Result<ColumnResult, ColumnError> {
        let columns: [(&str, ArrayRef); 9] = [
            ("result", Arc::new(self.result.finish())),
            ("domain", Arc::new(self.domain.finish())),
            ("selector", Arc::new(self.selector.finish())),
            ("identity", Arc::new(self.identity.finish())),
            ("algorithm", Arc::new(self.algorithm.finish())),
            ("key_bits", Arc::new(self.key_bits.finish())),
            ("testing", Arc::new(self.testing.finish())),
            ("reason", Arc::new(self.reason.finish())),
            ("signatures", Arc::new(self.signatures.finish())),
        ];
        let field = |(name, column): &(&str, ArrayRef)| -> Field {
            let kind: &DataType = column.data_type();
            Field::new(*name, kind.clone(), true)
        };
        let fields: Fields = columns.iter().map(field).collect();
        let columns = columns.into_iter().map(|(_, column)| column).collect();
        let nulls = Some(self.is_valid.into());
        let array = StructArray::try_new(fields, columns, nulls);
        let array = array.map_err(|error| ColumnError::Machine(error.to_string()))?;
        Ok(ColumnResult::whole(Arc::new(array)))
    }
}
