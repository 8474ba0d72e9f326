//! The public-key operations of a message, as columns.

use bytes::{Bytes, BytesMut};
use oarlock::Key;
use oarlock::{Input, Job, JobError};

use crate::column::{WireBytes, WireNumbers, write_bytes, write_numbers};
use crate::fault::{FaultTable, fault_of};
use crate::proto::{self, Code, Fault};
use crate::scheme::{self, WireScheme};
use crate::{MessageLimits, WireError};

/// The columns of a message of jobs. They have been checked, so reading them cannot fail.
#[derive(Clone, Debug)]
pub struct JobColumns<'a> {
    count: usize,
    schemes: Vec<WireScheme>,
    max_output_bytes: usize,
    scheme_of: WireBytes<'a>,
    key_of: WireNumbers<'a>,
    inputs: &'a [u8],
    input_lens: WireNumbers<'a>,
    seconds: &'a [u8],
    second_lens: WireNumbers<'a>,
    contexts: &'a [u8],
    context_lens: WireNumbers<'a>,
}

/// One job of a message.
#[derive(Clone, Copy)]
pub struct WireJob<'a> {
    /// The index of its scheme among those of the message.
    pub scheme_index: u8,
    /// The scheme that the job computes.
    pub scheme: WireScheme,
    /// The handle of the key.
    pub handle: u32,
    /// The main input.
    pub input: Input<'a>,
    /// The second input: the signature to verify, or the label.
    pub second: &'a [u8],
    /// The context of an ML-DSA or SLH-DSA signature, of any length: the scheme checks it.
    pub context: &'a [u8],
}

impl<'a> JobColumns<'a> {
    /// Reads and checks the columns of a message.
    ///
    /// # Errors
    /// A column does not fit the count, or there are more jobs than `limits` allow.
    pub fn read(message: &'a proto::Jobs, limits: &MessageLimits) -> Result<Self, WireError> {
        let count = limits.count("jobs", message.count)?;
        let schemes = message.schemes.iter().map(WireScheme::read).collect::<Result<Vec<_>, _>>()?;
        if count > 0 && schemes.is_empty() {
            return Err(WireError::Missing { what: "schemes" });
        }
        let scheme_of = WireBytes::read(&message.scheme_of, count, "scheme_of")?;
        // Checked once here, so that `iter` can index without a check that could fail.
        if count > 0 && !scheme_of.are_below(schemes.len()) {
            return Err(WireError::Index { what: "scheme_of" });
        }
        let input_lens = WireNumbers::read(&message.input_lens, count, "input_lens")?;
        let second_lens = WireNumbers::read(&message.second_lens, count, "second_lens")?;
        check_total(&message.inputs, &input_lens, count, "inputs")?;
        check_total(&message.seconds, &second_lens, count, "seconds")?;
        let context_lens = WireNumbers::read(&message.context_lens, count, "context_lens")?;
        check_total(&message.contexts, &context_lens, count, "contexts")?;
        // A message of a few bytes may ask for many times its length. Outputs whose length only the key says are bounded
        // by the number of jobs.
        let max_output_bytes = max_output_bytes(&schemes, &scheme_of, count);
        limits.bytes("bytes of outputs", u32::try_from(max_output_bytes).unwrap_or(u32::MAX))?;
        Ok(Self {
            count,
            schemes,
            max_output_bytes,
            scheme_of,
            key_of: WireNumbers::read(&message.key_of, count, "key_of")?,
            inputs: &message.inputs,
            input_lens,
            seconds: &message.seconds,
            second_lens,
            contexts: &message.contexts,
            context_lens,
        })
    }

    /// Returns the number of jobs.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns true if there are no jobs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the maximum bytes of all outputs together whose length the scheme bounds: those of ML-DSA, SLH-DSA and
    /// ML-KEM.
    #[must_use]
    pub fn max_output_bytes(&self) -> usize {
        self.max_output_bytes
    }

    /// Returns the jobs in order.
    pub fn iter(&self) -> impl Iterator<Item = WireJob<'a>> + '_ {
        // The lengths add up, as `read` has checked, so each job gets exactly its bytes.
        let (mut inputs, mut seconds, mut contexts) = (self.inputs, self.seconds, self.contexts);
        (0..self.count).map(move |index| {
            let input = split_prefix(&mut inputs, self.input_lens.at(index));
            let scheme_index = self.scheme_of.at(index);
            let scheme = self.schemes[usize::from(scheme_index)];
            WireJob {
                scheme_index,
                scheme,
                handle: self.key_of.at(index),
                input: if scheme.takes_digest() { Input::Digest(input) } else { Input::Message(input) },
                second: split_prefix(&mut seconds, self.second_lens.at(index)),
                context: split_prefix(&mut contexts, self.context_lens.at(index)),
            }
        })
    }
}

impl<'a> WireJob<'a> {
    /// Returns the job with its key.
    #[must_use]
    pub fn with<'j>(&self, key: &'j Key) -> Job<'j>
    where
        'a: 'j,
    {
        Job::with_scheme(self.scheme.with(key.kind()), key, self.input, self.second).context(self.context)
    }
}

/// Shows only the length of the input, which may be secret.
impl std::fmt::Debug for WireJob<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "JobRow({:?}, key {}, {:?})", self.scheme, self.handle, self.input)
    }
}

/// Returns the sum of the outputs whose length is bounded by the scheme. The indices of schemes have been checked.
fn max_output_bytes(schemes: &[WireScheme], scheme_of: &WireBytes<'_>, count: usize) -> usize {
    let lens: Vec<usize> = schemes.iter().map(|scheme| scheme.max_output_len()).collect();
    if lens.iter().all(|len| *len == 0) {
        return 0;
    }
    (0..count).map(|index| lens[usize::from(scheme_of.at(index))]).sum()
}

/// Checks that the lengths of a column add up to its bytes.
fn check_total(
    bytes: &[u8],
    lens: &WireNumbers<'_>,
    count: usize,
    what: &'static str,
) -> Result<(), WireError> {
    let (sum, found) = (lens.sum(count), bytes.len());
    if sum == found as u64 {
        return Ok(());
    }
    Err(WireError::Column { what, expected: format!("{sum} bytes, the sum of their lengths"), found })
}

/// Splits off the next `len` bytes, or the rest if it is shorter.
fn split_prefix<'a>(rest: &mut &'a [u8], len: u32) -> &'a [u8] {
    let (first, others) = rest.split_at(rest.len().min(len as usize));
    *rest = others;
    first
}

/// Writes jobs with the handles of their keys.
///
/// # Errors
/// The protocol does not have a scheme, or there are more than 256 schemes.
pub fn write<'a>(
    jobs: impl ExactSizeIterator<Item = (Job<'a>, u32)> + Clone,
) -> Result<proto::Jobs, WireError> {
    let count = jobs.len();
    let bound = u64::from(u32::MAX);
    let count_field =
        u32::try_from(count).map_err(|_| WireError::TooMany { what: "jobs", found: count as u64, bound })?;
    let (mut schemes, mut scheme_of) = (Vec::new(), Vec::with_capacity(count));
    let (mut inputs, mut seconds, mut contexts) = (BytesMut::new(), BytesMut::new(), BytesMut::new());
    for (job, _) in jobs.clone() {
        let scheme = proto::Scheme { takes_digest: job.input.is_digest(), ..scheme::write(job.scheme)? };
        scheme_of.push(find_or_add_scheme(scheme, &mut schemes)?);
        inputs.extend_from_slice(job.input.bytes());
        seconds.extend_from_slice(job.second);
        contexts.extend_from_slice(job.context);
    }
    // Most jobs have neither a second input nor a context.
    let lens = |column: &BytesMut, len: fn(&Job<'a>) -> usize| match column.is_empty() {
        true => Bytes::new(),
        false => write_numbers(jobs.clone().map(|(job, _)| len(&job) as u32)),
    };
    Ok(proto::Jobs {
        count: count_field,
        schemes,
        scheme_of: write_bytes(&scheme_of),
        key_of: write_numbers(jobs.clone().map(|(_, handle)| handle)),
        inputs: inputs.freeze(),
        input_lens: write_numbers(jobs.clone().map(|(job, _)| job.input.len() as u32)),
        second_lens: lens(&seconds, |job| job.second.len()),
        seconds: seconds.freeze(),
        timeout_us: 0,
        context_lens: lens(&contexts, |job| job.context.len()),
        contexts: contexts.freeze(),
    })
}

/// Splits jobs into messages whose outputs a server accepts, as [`JobColumns::read`] checks them.
#[cfg(feature = "grpc")]
pub(crate) fn split_by_outputs<'j, 'a>(
    mut jobs: &'j [(Job<'a>, u32)],
    limits: &MessageLimits,
) -> Vec<&'j [(Job<'a>, u32)]> {
    let max = limits.max_output_bytes as usize;
    let mut parts = Vec::new();
    while !jobs.is_empty() {
        let mut bytes = 0;
        let fitting = jobs.iter().take_while(|(job, _)| {
            bytes += scheme::max_output_len(job.scheme);
            bytes <= max
        });
        // A job alone is sent in any case, and the server decides about it.
        let (part, rest) = jobs.split_at(fitting.count().max(1));
        parts.push(part);
        jobs = rest;
    }
    parts
}

/// Returns the index of a scheme among the schemes of a message, and appends it if it is new.
fn find_or_add_scheme(scheme: proto::Scheme, schemes: &mut Vec<proto::Scheme>) -> Result<u8, WireError> {
    // Searched from the end, because neighbouring jobs mostly have the same scheme.
    let index = schemes.iter().rposition(|known| *known == scheme).unwrap_or_else(|| {
        schemes.push(scheme);
        schemes.len() - 1
    });
    u8::try_from(index).map_err(|_| WireError::TooMany {
        what: "schemes",
        found: index as u64 + 1,
        bound: 256,
    })
}

/// The answers to jobs that were not submitted with the others. Each job takes 32 bytes, for every fault.
#[derive(Debug, Default)]
pub struct SeparateAnswers {
    jobs: Vec<(u32, OtherOutcome)>,
    faults: FaultTable,
}

#[derive(Debug)]
enum OtherOutcome {
    Output(Vec<u8>),
    Fault { code: u8, number: u8 },
}

impl SeparateAnswers {
    /// Adds the answer to the job at `index`.
    pub fn add(&mut self, index: u32, answer: Result<Vec<u8>, Fault>) {
        match answer {
            Ok(output) => self.jobs.push((index, OtherOutcome::Output(output))),
            Err(fault) => self.refuse(index, &fault),
        }
    }

    /// Adds the fault of the job at `index`.
    pub fn refuse(&mut self, index: u32, fault: &Fault) {
        let number = self.faults.add(index, fault);
        self.jobs.push((index, OtherOutcome::Fault { code: fault.code() as u8, number }));
    }

    /// Returns the codes of the jobs that were not done.
    pub fn codes(&self) -> impl Iterator<Item = Code> + '_ {
        self.jobs.iter().filter_map(|(_, outcome)| match outcome {
            OtherOutcome::Fault { code, .. } => Code::try_from(i32::from(*code)).ok(),
            OtherOutcome::Output(_) => None,
        })
    }
}

/// Writes the answers to the jobs of a message: the answers of a submission in its order, and `others` at their
/// indices.
#[must_use]
pub fn write_answers<'a>(
    answers: impl ExactSizeIterator<Item = Result<&'a [u8], JobError>>,
    others: SeparateAnswers,
) -> proto::Results {
    let SeparateAnswers { mut jobs, faults } = others;
    // Partial signatures were added in the order of their completion.
    jobs.sort_by_key(|(index, _)| *index);
    let mut columns = ResultWriter::new(answers.len() + jobs.len(), faults);
    let mut jobs = jobs.into_iter().peekable();
    for answer in answers {
        while let Some((_, other)) = jobs.next_if(|(index, _)| *index as usize == columns.codes.len()) {
            columns.push_other(&other);
        }
        match answer {
            Ok(output) => columns.push(Code::Done as u8, output, 0),
            Err(JobError::Rejected) => columns.push(Code::Rejected as u8, &[], 0),
            Err(error) => columns.push_error(error),
        }
    }
    jobs.for_each(|(_, other)| columns.push_other(&other));
    columns.finish()
}

struct ResultWriter {
    codes: Vec<u8>,
    lens: Vec<u32>,
    outputs: BytesMut,
    fault_of: Vec<u8>,
    faults: FaultTable,
    /// The error of the last job that failed, with its code and the number of its fault: neighbours often fail alike.
    last: Option<(JobError, u8, u8)>,
}

impl ResultWriter {
    fn new(count: usize, faults: FaultTable) -> Self {
        Self {
            codes: Vec::with_capacity(count),
            lens: Vec::with_capacity(count),
            outputs: BytesMut::new(),
            fault_of: Vec::with_capacity(count),
            faults,
            last: None,
        }
    }

    #[inline]
    fn push(&mut self, code: u8, output: &[u8], fault: u8) {
        self.codes.push(code);
        self.lens.push(output.len() as u32);
        self.outputs.extend_from_slice(output);
        self.fault_of.push(fault);
    }

    fn push_other(&mut self, other: &OtherOutcome) {
        match other {
            OtherOutcome::Output(output) => self.push(Code::Done as u8, output, 0),
            OtherOutcome::Fault { code, number } => self.push(*code, &[], *number),
        }
    }

    fn push_error(&mut self, error: JobError) {
        let index = self.codes.len() as u32;
        let (code, number) = match &self.last {
            Some((last, code, number)) if *last == error => (*code, *number),
            _ => {
                let fault = fault_of(index, &error);
                let (code, number) = (fault.code() as u8, self.faults.add(index, &fault));
                self.last = Some((error, code, number));
                (code, number)
            }
        };
        self.push(code, &[], number);
    }

    fn finish(self) -> proto::Results {
        // Verifications have no outputs, and a column of zeros would say the same in more bytes.
        let has_outputs = !self.outputs.is_empty();
        proto::Results {
            codes: write_bytes(&self.codes),
            output_lens: if has_outputs { write_numbers(self.lens.iter().copied()) } else { Bytes::new() },
            outputs: self.outputs.freeze(),
            fault_of: write_bytes(&self.fault_of),
            faults: self.faults.into_faults(),
            cpu_us: 0,
        }
    }
}

/// The columns of answers. They have been checked, so reading them cannot fail.
#[derive(Debug)]
pub struct ResultColumns<'a> {
    codes: WireBytes<'a>,
    output_lens: WireNumbers<'a>,
    outputs: &'a [u8],
    faults: &'a [proto::Fault],
    fault_of: WireBytes<'a>,
    count: usize,
}

impl<'a> ResultColumns<'a> {
    /// Reads and checks the answers to `count` jobs.
    ///
    /// # Errors
    /// A column does not fit the count.
    pub fn read(message: &'a proto::Results, count: usize) -> Result<Self, WireError> {
        let codes = WireBytes::read(&message.codes, count, "codes")?;
        let fault_of = WireBytes::read(&message.fault_of, count, "fault_of")?;
        if !fault_of.are_below(message.faults.len() + 1) {
            return Err(WireError::Index { what: "fault_of" });
        }
        let output_lens = WireNumbers::read(&message.output_lens, count, "output_lens")?;
        if output_lens.sum(count) != message.outputs.len() as u64 {
            let expected = format!("{} bytes, the sum of their lengths", output_lens.sum(count));
            return Err(WireError::Column { what: "outputs", expected, found: message.outputs.len() });
        }
        Ok(Self { codes, output_lens, outputs: &message.outputs, faults: &message.faults, fault_of, count })
    }

    /// Returns the answers in order. `server` is the server's name in errors.
    pub fn iter(&self, server: &'a str) -> impl Iterator<Item = Result<&'a [u8], JobError>> + '_ {
        let mut outputs = self.outputs;
        (0..self.count).map(move |index| {
            let output = split_prefix(&mut outputs, self.output_lens.at(index));
            // The numbers of faults start at 1, because 0 means no fault.
            let fault_index = usize::from(self.fault_of.at(index)).checked_sub(1);
            let fault = fault_index.and_then(|index| self.faults.get(index));
            match Code::try_from(i32::from(self.codes.at(index))) {
                Ok(Code::Done) => Ok(output),
                Ok(Code::Rejected) => Err(JobError::Rejected),
                code => {
                    let code = code.unwrap_or(Code::Failed);
                    let without_reason = proto::Fault {
                        code: code.into(),
                        message: format!("{} without a reason", code.as_str_name()),
                        ..Default::default()
                    };
                    Err(crate::fault::error_of(fault.unwrap_or(&without_reason), server))
                }
            }
        })
    }
}
