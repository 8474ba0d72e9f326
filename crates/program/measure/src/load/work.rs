//! Batches as they are sent, and the answers that they must get.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use bytes::Bytes;
use oarlock::engine_api::ColumnValue;
use oarlock::keys::export;
use oarlock::{Accelerator, Input, Job, Key, Records};
use oarlock::{Column, Direction, InputSource, KeySource, OutputSink, Shape, SigningScheme, Span};
use oarlock_keytable::{Batch, BatchTask};
use oarlock_wire::proto::{self, EncryptRequest, EncryptResponse, open_key, request, response};
use oarlock_wire::{Message, jobs, records};
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};
use zeroize::Zeroizing;

use super::LoadError;
use super::args::{LoadOp, LoadPlan};
use crate::operation::{NamedOperation, PublicKeyWork};
use crate::random::SplitMix64;

/// A batch, its keys, and the expected answer.
pub(super) struct LoadWork {
    /// The keys, in the order of their handles.
    pub(super) keys: Vec<open_key::Source>,
    pub(super) request: LoadRequest,
    /// The answer that is right, if there is only one.
    expected: Option<Bytes>,
    pub(super) operations: usize,
    pub(super) local: LocalWork,
}

/// A batch as it is sent.
pub(super) enum LoadRequest {
    /// A request of a stream.
    Stream(Box<request::Body>),
    /// A single call without work.
    Empty(HealthCheckRequest),
    /// A single call that encrypts values.
    Encrypt(EncryptRequest),
}

/// The answer to a batch.
pub(super) enum LoadAnswer {
    Stream(response::Body),
    Empty(HealthCheckResponse),
    Encrypted(EncryptResponse),
}

/// The same work for this process.
pub(super) enum LocalWork {
    Jobs(PublicKeyWork),
    Records(Shape, Box<Records<'static>>),
    Nothing,
}

impl LoadWork {
    /// Returns the work of each operation of a plan.
    pub(super) fn all(plan: &LoadPlan, accelerator: &Accelerator) -> Result<Vec<Self>, LoadError> {
        plan.ops.iter().map(|op| Self::new(*op, plan, accelerator)).collect()
    }

    fn new(op: LoadOp, plan: &LoadPlan, accelerator: &Accelerator) -> Result<Self, LoadError> {
        match op {
            LoadOp::Null => Self::null(plan.batch),
            LoadOp::EmptyCall => {
                let service = CALL_SERVICE.to_owned();
                Ok(Self::call(LoadRequest::Empty(HealthCheckRequest { service }), 1))
            }
            LoadOp::EncryptCall => {
                let value = Bytes::from_static(&[7; CALL_VALUE_LEN]);
                let request = EncryptRequest {
                    key: CALL_KEY.to_owned(),
                    plaintexts: vec![value; plan.batch],
                    ..EncryptRequest::default()
                };
                Ok(Self::call(LoadRequest::Encrypt(request), plan.batch))
            }
            LoadOp::Real(op) => match op.record() {
                None => Self::jobs(op, plan, accelerator),
                Some((shape, len)) => Self::records(shape, len, plan, accelerator),
            },
        }
    }

    fn call(request: LoadRequest, operations: usize) -> Self {
        Self { keys: Vec::new(), request, expected: None, operations, local: LocalWork::Nothing }
    }

    fn null(count: usize) -> Result<Self, LoadError> {
        let key = oarlock::keys::generate::ed25519().map_err(key_error)?;
        let message = [7; 32];
        let job = Job::sign(SigningScheme::ED25519, &key, Input::Message(&message));
        let message = jobs::write(vec![(job, 0); count].into_iter())?;
        Ok(Self {
            keys: vec![open_key::Source::Resident("null".into())],
            request: LoadRequest::Stream(Box::new(request::Body::Jobs(message))),
            expected: Some(vec![0; 64 * count].into()),
            operations: count,
            local: LocalWork::Nothing,
        })
    }

    fn jobs(op: NamedOperation, plan: &LoadPlan, accelerator: &Accelerator) -> Result<Self, LoadError> {
        let keys = plan.keys.unwrap_or_else(|| op.usual_keys()).min(plan.batch.max(1));
        let work = op.work(accelerator, keys, plan.batch)?;
        let rows: Vec<_> = work.jobs().into_iter().zip(work.key_of.iter().copied()).collect();
        let message = jobs::write(rows.into_iter())?;
        let sources: Result<Vec<_>, LoadError> = work.keys.iter().map(source).collect();
        Ok(Self {
            keys: sources?,
            request: LoadRequest::Stream(Box::new(request::Body::Jobs(message))),
            expected: None,
            operations: plan.batch,
            local: LocalWork::Jobs(work),
        })
    }

    fn records(
        shape: Shape,
        len: usize,
        plan: &LoadPlan,
        accelerator: &Accelerator,
    ) -> Result<Self, LoadError> {
        let keys = plan.keys.unwrap_or(1024);
        let mut random = SplitMix64::new(1);
        let secrets = random_keys(shape, keys, &mut random)?;
        let (name, iv_len, out_len) = layout(shape, len)?;
        let count = plan.batch;
        let data = random.bytes(count * (len + iv_len));
        let span = |start: usize, len: usize| Span { start: start as u32, len: len as u32 };
        let column = |first: Span| stride(first, first.len);
        let key: Vec<KeySource> =
            (0..count).map(|_| KeySource::Table((random.next_u64() % keys as u64) as u32)).collect();
        let records = Records {
            len: count,
            keys: secrets.clone().into(),
            data: data.into(),
            output_len: count * out_len,
            key: Column::Each(key.into()),
            input: stride(InputSource::Data(span(0, len)), len as u32),
            iv: column(span(count * len, iv_len)),
            output: stride(OutputSink::Output(span(0, out_len)), out_len as u32),
            tag: match shape {
                Shape::Aead { .. } => {
                    return Err(LoadError::Usage(
                        "--op: GCM is not measured here: expected CBC, MAC or digest",
                    ));
                }
                _ => Column::One(Span::default()),
            },
            ..Records::default()
        };
        let batch = Batch::uniform(BatchTask::Do(shape), records.borrowed());
        let message = records::write(&batch, |index| index)?;
        let expected = accelerator.records().run(shape, &records)?.bytes().to_vec().into();
        let source = |key: &Key| {
            let secret = key.secret().map(|secret| secret.expose().to_vec()).unwrap_or_default().into();
            open_key::Source::Symmetric(proto::Symmetric { r#type: name.into(), secret })
        };
        Ok(Self {
            keys: secrets.iter().map(source).collect(),
            request: LoadRequest::Stream(Box::new(request::Body::Records(message))),
            expected: Some(expected),
            operations: count,
            local: LocalWork::Records(shape, Box::new(records)),
        })
    }

    /// Writes the keys into a server's directory under this name and a number. From now on the requests name these
    /// keys.
    pub(super) fn leave_keys(&mut self, directory: &Path, name: &str) -> Result<(), LoadError> {
        let LocalWork::Jobs(work) = &self.local else { return Err(LoadError::KeysAt) };
        for (index, (key, source)) in work.keys.iter().zip(&mut self.keys).enumerate() {
            let name = format!("{name}-{index}");
            let pem = match export::private_pkcs8_pem(key) {
                Ok(pem) => pem,
                // The keys of verifications have no private half.
                Err(_) => Zeroizing::new(export::spki_pem(key).map_err(key_error)?),
            };
            let path = directory.join(format!("{name}.pem"));
            private_file(&path, pem.as_bytes()).map_err(|error| LoadError::Write { path, error })?;
            *source = open_key::Source::Resident(name);
        }
        Ok(())
    }

    /// Uses a key that the server has.
    ///
    /// # Errors
    /// It is no work of jobs that sign or decrypt: others need the halves of keys that they were made with.
    pub(super) fn use_key(&mut self, name: &str) -> Result<(), LoadError> {
        let is_private = |work: &PublicKeyWork| work.keys.iter().all(|key| !key.kind().is_public());
        match &self.local {
            LocalWork::Jobs(work) if is_private(work) => {
                self.keys.fill(open_key::Source::Resident(name.to_owned()));
                Ok(())
            }
            _ => Err(LoadError::Usage("--key: expected an operation of a private key, such as rsa2048-sign")),
        }
    }

    /// Returns the length of the request in bytes, without framing.
    pub(super) fn request_bytes(&self) -> usize {
        match &self.request {
            LoadRequest::Stream(body) => {
                proto::Request { id: 1, body: Some(request::Body::clone(body)) }.encoded_len()
            }
            LoadRequest::Empty(request) => request.encoded_len(),
            LoadRequest::Encrypt(request) => request.encoded_len(),
        }
    }

    /// Returns the number of operations that got a wrong answer, and the reason of the first. None if all are right.
    pub(super) fn judge(&self, answer: &LoadAnswer) -> Option<(usize, String)> {
        let (faults, codes, output) = match answer {
            LoadAnswer::Empty(health) => {
                let is_serving = health.status == ServingStatus::Serving as i32;
                return (!is_serving).then(|| (self.operations, "the server does not serve".into()));
            }
            LoadAnswer::Encrypted(answer) => return self.judge_values(answer),
            LoadAnswer::Stream(response::Body::Results(results)) => {
                (&results.faults, &results.codes, &results.outputs)
            }
            LoadAnswer::Stream(response::Body::RecordResults(results)) => {
                (&results.faults, &results.codes, &results.output)
            }
            _ => return Some((self.operations, "the answer belongs to another request".into())),
        };
        // Codes are left out of an answer if all operations are done.
        if !codes.is_empty() {
            let wrong = codes.iter().filter(|code| **code != 0).count().max(1);
            let first = faults
                .first()
                .map_or_else(|| "a signature does not verify".into(), |fault| fault.message.clone());
            return Some((wrong, first));
        }
        match &self.expected {
            Some(expected) if expected != output => Some((self.operations, "a wrong answer".into())),
            _ => None,
        }
    }

    /// Judges ciphertexts by their lengths: each has another IV, so that none is expected.
    fn judge_values(&self, answer: &EncryptResponse) -> Option<(usize, String)> {
        if let Some(fault) = answer.faults.first() {
            return Some((answer.faults.len(), fault.message.clone()));
        }
        let len = CALL_IV_LEN + CALL_VALUE_LEN + CALL_TAG_LEN;
        let right = answer.ciphertexts.iter().filter(|sealed| sealed.len() == len).count();
        let wrong = self.operations.abs_diff(right);
        (wrong > 0).then(|| (wrong, "a ciphertext is missing or has a wrong length".into()))
    }
}

/// The service whose health an empty call asks for: a message almost as short as none.
const CALL_SERVICE: &str = "oarlock.v1.Cryptoserver";

/// The resident key of calls, a key of AES-128 that a server of `oarlock serve` makes for trials.
const CALL_KEY: &str = "aes128";

/// The bytes of a value of a call, as in [`NamedOperation`]'s short records.
const CALL_VALUE_LEN: usize = 40;

/// The bytes of the IV and the tag that AES-GCM adds.
const CALL_IV_LEN: usize = 12;
const CALL_TAG_LEN: usize = 16;

/// Writes a file that only its owner may read: a server rejects other files.
fn private_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?.write_all(bytes)
}

fn stride<T: ColumnValue>(first: T, stride: u32) -> Column<'static, T> {
    Column::Stride { first, stride }
}

/// Returns a key as it is sent: the private half if there is one.
fn source(key: &Key) -> Result<open_key::Source, LoadError> {
    let der = match export::private_pkcs8_der(key) {
        Ok(der) => der.to_vec(),
        Err(_) => export::spki_der(key).map_err(key_error)?,
    };
    Ok(open_key::Source::Asymmetric(der.into()))
}

fn key_error(error: oarlock::keys::KeyError) -> LoadError {
    LoadError::Key(error)
}

fn random_keys(shape: Shape, count: usize, random: &mut SplitMix64) -> Result<Vec<Key>, LoadError> {
    let len = match shape {
        Shape::Cipher { alg, .. } => alg.key_len(),
        Shape::Mac { alg } => alg.key_len().unwrap_or(32),
        _ => return Ok(Vec::new()),
    };
    (0..count).map(|_| oarlock::keys::raw::secret(random.bytes(len)).map_err(key_error)).collect()
}

/// Returns the type of key, the length of the IV and the length of the result.
fn layout(shape: Shape, len: usize) -> Result<(&'static str, usize, usize), LoadError> {
    use oarlock::{BlockCipher, MacAlg};
    Ok(match shape {
        Shape::Cipher { alg, direction: Direction::Encrypt, .. } => {
            let name = match alg {
                BlockCipher::Des => "des",
                BlockCipher::Tdes2 => "tdes2",
                BlockCipher::Tdes3 => "tdes3",
                BlockCipher::Aes128 => "aes128",
                _ => "aes256",
            };
            (name, alg.block_len(), len)
        }
        Shape::Mac { alg: alg @ MacAlg::DesMac(_) } => ("des", 0, alg.tag_len()),
        Shape::Mac { alg } => ("aes128", 0, alg.tag_len()),
        Shape::Digest { alg } => ("", 0, alg.output_len()),
        _ => return Err(LoadError::Usage("--op: expected CBC, MAC or digest of records")),
    })
}
