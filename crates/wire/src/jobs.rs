//! Public-key operations as columns.

use bytes::{Bytes, BytesMut};
use oarlock::Key;
use oarlock::{Input, Job, JobError};

use crate::column::{ByteColumn, NumberColumn, marks, numbers};
use crate::fault::{FaultTable, fault_of};
use crate::proto::{self, Code, Fault};
use crate::scheme::{self, WireScheme};
use crate::{MessageLimits, WireError};

/// A message of jobs whose columns have been checked: reading it cannot fail.
#[derive(Clone, Debug)]
pub struct JobColumns<'a> {
    count: usize,
    schemes: Vec<WireScheme>,
    scheme_of: ByteColumn<'a>,
    key_of: NumberColumn<'a>,
    inputs: &'a [u8],
    input_lens: NumberColumn<'a>,
    seconds: &'a [u8],
    second_lens: NumberColumn<'a>,
}

/// One job of a message.
#[derive(Clone, Copy)]
pub struct WireJob<'a> {
    /// The index of its scheme among those of the message.
    pub scheme_index: u8,
    /// What to do.
    pub scheme: WireScheme,
    /// The key's handle.
    pub handle: u32,
    /// The main input.
    pub input: Input<'a>,
    /// The signature to verify, or the label.
    pub second: &'a [u8],
}

impl<'a> JobColumns<'a> {
    /// Checks a message.
    ///
    /// # Errors
    /// A column does not fit the count, or more jobs than `limits` allow.
    pub fn read(message: &'a proto::Jobs, limits: &MessageLimits) -> Result<Self, WireError> {
        let count = limits.count("jobs", message.count)?;
        let schemes = message.schemes.iter().map(WireScheme::read).collect::<Result<Vec<_>, _>>()?;
        if count > 0 && schemes.is_empty() {
            return Err(WireError::Missing { what: "schemes" });
        }
        let scheme_of = ByteColumn::read(&message.scheme_of, count, "scheme_of")?;
        if count > 0 && !scheme_of.are_below(schemes.len()) {
            return Err(WireError::Place { what: "scheme_of" });
        }
        let input_lens = NumberColumn::read(&message.input_lens, count, "input_lens")?;
        let second_lens = NumberColumn::read(&message.second_lens, count, "second_lens")?;
        adds_up(&message.inputs, &input_lens, count, "inputs")?;
        adds_up(&message.seconds, &second_lens, count, "seconds")?;
        Ok(Self {
            count,
            schemes,
            scheme_of,
            key_of: NumberColumn::read(&message.key_of, count, "key_of")?,
            inputs: &message.inputs,
            input_lens,
            seconds: &message.seconds,
            second_lens,
        })
    }

    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// True where there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The jobs in order.
    pub fn iter(&self) -> impl Iterator<Item = WireJob<'a>> + '_ {
        let (mut inputs, mut seconds) = (self.inputs, self.seconds);
        (0..self.count).map(move |index| {
            let input = cut(&mut inputs, self.input_lens.at(index));
            let scheme_index = self.scheme_of.at(index);
            let scheme = self.schemes[usize::from(scheme_index)];
            WireJob {
                scheme_index,
                scheme,
                handle: self.key_of.at(index),
                input: if scheme.takes_digest() { Input::Digest(input) } else { Input::Message(input) },
                second: cut(&mut seconds, self.second_lens.at(index)),
            }
        })
    }
}

impl<'a> WireJob<'a> {
    /// The job under its key.
    #[must_use]
    pub fn with<'j>(&self, key: &'j Key) -> Job<'j>
    where
        'a: 'j,
    {
        Job::with_scheme(self.scheme.with(key.kind()), key, self.input, self.second)
    }
}

/// Shows the length of the input: it may be secret.
impl std::fmt::Debug for WireJob<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "JobRow({:?}, key {}, {:?})", self.scheme, self.handle, self.input)
    }
}

fn adds_up(bytes: &[u8], lens: &NumberColumn<'_>, count: usize, what: &'static str) -> Result<(), WireError> {
    let (sum, found) = (lens.sum(count), bytes.len());
    if sum == found as u64 {
        return Ok(());
    }
    Err(WireError::Column { what, expected: format!("{sum} bytes, the sum of their lengths"), found })
}

/// The next `len` bytes, or what is left of them.
fn cut<'a>(rest: &mut &'a [u8], len: u32) -> &'a [u8] {
    let (first, others) = rest.split_at(rest.len().min(len as usize));
    *rest = others;
    first
}

/// Writes jobs, whose keys' handles are given beside them.
///
/// # Errors
/// A scheme that the protocol does not have, or more than 256 of them.
pub fn write<'a>(
    jobs: impl ExactSizeIterator<Item = (Job<'a>, u32)> + Clone,
) -> Result<proto::Jobs, WireError> {
    let count = jobs.len();
    let bound = u64::from(u32::MAX);
    let count_field =
        u32::try_from(count).map_err(|_| WireError::TooMany { what: "jobs", found: count as u64, bound })?;
    let (mut schemes, mut scheme_of) = (Vec::new(), Vec::with_capacity(count));
    let (mut inputs, mut seconds) = (BytesMut::new(), BytesMut::new());
    for (job, _) in jobs.clone() {
        let (input, takes_digest) = match job.input {
            Input::Message(bytes) => (bytes, false),
            Input::Digest(bytes) => (bytes, true),
        };
        let scheme = proto::Scheme { takes_digest, ..scheme::write(job.scheme)? };
        scheme_of.push(place_of(scheme, &mut schemes)?);
        inputs.extend_from_slice(input);
        seconds.extend_from_slice(job.second);
    }
    Ok(proto::Jobs {
        count: count_field,
        schemes,
        scheme_of: marks(&scheme_of),
        key_of: numbers(jobs.clone().map(|(_, handle)| handle)),
        inputs: inputs.freeze(),
        input_lens: numbers(jobs.clone().map(|(job, _)| job.input.len() as u32)),
        second_lens: if seconds.is_empty() {
            Bytes::new()
        } else {
            numbers(jobs.map(|(job, _)| job.second.len() as u32))
        },
        seconds: seconds.freeze(),
        timeout_us: 0,
    })
}

/// The place of a scheme among those that occur, at the end where it is new.
fn place_of(scheme: proto::Scheme, schemes: &mut Vec<proto::Scheme>) -> Result<u8, WireError> {
    let place = schemes.iter().rposition(|own| *own == scheme).unwrap_or_else(|| {
        schemes.push(scheme);
        schemes.len() - 1
    });
    u8::try_from(place).map_err(|_| WireError::TooMany {
        what: "schemes",
        found: place as u64 + 1,
        bound: 256,
    })
}

/// Jobs that are not among the answers of a submission, and what came of them. A job takes 32 bytes here whatever its reason.
#[derive(Debug, Default)]
pub struct SeparateAnswers {
    jobs: Vec<(u32, OtherOutcome)>,
    faults: FaultTable,
}

#[derive(Debug)]
enum OtherOutcome {
    Output(Vec<u8>),
    Fault { code: u8, place: u8 },
}

impl SeparateAnswers {
    /// Notes what came of the job at `index`.
    pub fn add(&mut self, index: u32, answer: Result<Vec<u8>, Fault>) {
        match answer {
            Ok(output) => self.jobs.push((index, OtherOutcome::Output(output))),
            Err(fault) => self.refuse(index, &fault),
        }
    }

    /// Notes why the job at `index` was not done.
    pub fn refuse(&mut self, index: u32, fault: &Fault) {
        let place = self.faults.add(index, fault);
        self.jobs.push((index, OtherOutcome::Fault { code: fault.code() as u8, place }));
    }

    /// The codes of those that were not done.
    pub fn codes(&self) -> impl Iterator<Item = Code> + '_ {
        self.jobs.iter().filter_map(|(_, outcome)| match outcome {
            OtherOutcome::Fault { code, .. } => Code::try_from(i32::from(*code)).ok(),
            OtherOutcome::Output(_) => None,
        })
    }
}

/// Writes answers to the jobs of a message: those of a submission in its order, and `others` at their places.
#[must_use]
pub fn write_answers<'a>(
    answers: impl ExactSizeIterator<Item = Result<&'a [u8], JobError>>,
    others: SeparateAnswers,
) -> proto::Results {
    let SeparateAnswers { mut jobs, faults } = others;
    jobs.sort_by_key(|(index, _)| *index);
    let mut columns = ResultWriter::new(answers.len() + jobs.len(), faults);
    let mut jobs = jobs.into_iter().peekable();
    for answer in answers {
        while let Some((_, other)) = jobs.next_if(|(index, _)| *index as usize == columns.codes.len()) {
            columns.put_other(&other);
        }
        match answer {
            Ok(output) => columns.put(Code::Done as u8, output, 0),
            Err(JobError::Rejected) => columns.put(Code::Rejected as u8, &[], 0),
            Err(error) => columns.refuse(error),
        }
    }
    jobs.for_each(|(_, other)| columns.put_other(&other));
    columns.finish()
}

struct ResultWriter {
    codes: Vec<u8>,
    lens: Vec<u32>,
    outputs: BytesMut,
    fault_of: Vec<u8>,
    faults: FaultTable,
    /// The error of the last job that failed, its code and its place: neighbours often fail alike.
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
    fn put(&mut self, code: u8, output: &[u8], fault: u8) {
        self.codes.push(code);
        self.lens.push(output.len() as u32);
        self.outputs.extend_from_slice(output);
        self.fault_of.push(fault);
    }

    fn put_other(&mut self, other: &OtherOutcome) {
        match other {
            OtherOutcome::Output(output) => self.put(Code::Done as u8, output, 0),
            OtherOutcome::Fault { code, place } => self.put(*code, &[], *place),
        }
    }

    fn refuse(&mut self, error: JobError) {
        let index = self.codes.len() as u32;
        let (code, place) = match &self.last {
            Some((last, code, place)) if *last == error => (*code, *place),
            _ => {
                let fault = fault_of(index, &error);
                let (code, place) = (fault.code() as u8, self.faults.add(index, &fault));
                self.last = Some((error, code, place));
                (code, place)
            }
        };
        self.put(code, &[], place);
    }

    fn finish(self) -> proto::Results {
        let has_outputs = !self.outputs.is_empty();
        proto::Results {
            codes: marks(&self.codes),
            output_lens: if has_outputs { numbers(self.lens.iter().copied()) } else { Bytes::new() },
            outputs: self.outputs.freeze(),
            fault_of: marks(&self.fault_of),
            faults: self.faults.into_faults(),
        }
    }
}

/// Answers whose columns have been checked.
#[derive(Debug)]
pub struct ResultColumns<'a> {
    codes: ByteColumn<'a>,
    output_lens: NumberColumn<'a>,
    outputs: &'a [u8],
    faults: &'a [proto::Fault],
    fault_of: ByteColumn<'a>,
    count: usize,
}

impl<'a> ResultColumns<'a> {
    /// Checks the answers to `count` jobs.
    ///
    /// # Errors
    /// A column does not fit the count.
    pub fn read(message: &'a proto::Results, count: usize) -> Result<Self, WireError> {
        let codes = ByteColumn::read(&message.codes, count, "codes")?;
        let fault_of = ByteColumn::read(&message.fault_of, count, "fault_of")?;
        if !fault_of.are_below(message.faults.len() + 1) {
            return Err(WireError::Place { what: "fault_of" });
        }
        let output_lens = NumberColumn::read(&message.output_lens, count, "output_lens")?;
        if output_lens.sum(count) != message.outputs.len() as u64 {
            let expected = format!("{} bytes, the sum of their lengths", output_lens.sum(count));
            return Err(WireError::Column { what: "outputs", expected, found: message.outputs.len() });
        }
        Ok(Self { codes, output_lens, outputs: &message.outputs, faults: &message.faults, fault_of, count })
    }

    /// The answers in order, each with its code where there is none. `server` names it in errors.
    pub fn iter(&self, server: &'a str) -> impl Iterator<Item = Result<&'a [u8], JobError>> + '_ {
        let mut outputs = self.outputs;
        (0..self.count).map(move |index| {
            let output = cut(&mut outputs, self.output_lens.at(index));
            // Places count from 1.
            let place = usize::from(self.fault_of.at(index)).checked_sub(1);
            let fault = place.and_then(|place| self.faults.get(place));
            match Code::try_from(i32::from(self.codes.at(index))) {
                Ok(Code::Done) => Ok(output),
                Ok(Code::Rejected) => Err(JobError::Rejected),
                code => {
                    let code = code.unwrap_or(Code::Failed);
                    let plain = proto::Fault {
                        code: code.into(),
                        message: format!("{} without a reason", code.as_str_name()),
                        ..Default::default()
                    };
                    Err(crate::fault::error_of(fault.unwrap_or(&plain), server))
                }
            }
        })
    }
}
