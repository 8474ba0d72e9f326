//! The contender that is the facade: the same work by the crate `oarlock`, called directly.

use std::borrow::Cow;
use std::time::Duration;

use oarlock::keys::generate;
use oarlock::{
    Accelerator, BlockCipher, CipherMode, Column, Curve, DigestAlg, Direction, Input, InputSource, Job, Key,
    MacAlg, OutputSink, Records, SchedulerConfig, Shape, SigningScheme, Span, SubmitOptions,
};

use crate::meter::{Turn, TurnLength, repeat};
use crate::plan::{BenchRow, BenchTask, SigningKey};
use crate::signer::{BLOCK, MESSAGE};

pub(crate) struct Facade {
    accelerator: Accelerator,
    rsa: Key,
    p256: Key,
    /// 16 bytes for AES, 32 for HMAC.
    aes: Key,
    hmac: Key,
}

/// The settings of the module: a caller that waits computes itself if nobody else does.
const CALLER_BUDGET: Duration = Duration::from_secs(1);

impl Facade {
    pub(crate) fn new(engine: Option<&str>) -> Self {
        let builder = Accelerator::builder()
            .config(SchedulerConfig::default().with_caller_budget(CALLER_BUDGET))
            .environment(true)
            .cost_cache(oarlock::default_cost_cache())
            .lazy();
        let builder = match engine {
            Some(engine) => builder.engines([engine]),
            None => builder,
        };
        Self {
            accelerator: builder.build().unwrap(),
            rsa: generate::rsa(2048).unwrap(),
            p256: generate::ec(Curve::P256).unwrap(),
            aes: generate::secret(16).unwrap(),
            hmac: generate::secret(32).unwrap(),
        }
    }

    pub(crate) fn run(&self, row: &BenchRow, threads: usize, length: TurnLength) -> Turn {
        match row.task {
            BenchTask::Sign(SigningKey::Hmac) => self.run_records(self.macs(1), threads, length),
            BenchTask::SignMany(SigningKey::Hmac) => self.run_records(self.macs(row.batch), threads, length),
            BenchTask::EncryptBlocks => self.run_records(self.blocks(row.batch), threads, length),
            BenchTask::Sign(key) => {
                let sign = || {
                    let answer = self.accelerator.submit(&self.job(key), SubmitOptions::default()).wait();
                    answer.unwrap();
                    1
                };
                repeat(length, &mut vec![sign; threads])
            }
            BenchTask::SignMany(key) | BenchTask::SignAsync(key) => {
                let jobs = vec![self.job(key); row.batch];
                repeat(
                    length,
                    &mut [|| {
                        let answers = self.accelerator.run_all(&jobs);
                        assert!(answers.iter().all(|answer| answer.is_ok()));
                        row.batch as u64
                    }],
                )
            }
            task => panic!("the facade has no {task:?}"),
        }
    }

    fn job(&self, key: SigningKey) -> Job<'_> {
        match key {
            SigningKey::Rsa2048 => {
                Job::sign(SigningScheme::rsa_pkcs1(DigestAlg::Sha256), &self.rsa, Input::Message(MESSAGE))
            }
            _ => Job::sign(SigningScheme::ECDSA_P256_SHA256_FIXED, &self.p256, Input::Digest(MESSAGE)),
        }
    }

    fn run_records(
        &self,
        (shape, records): (Shape, Records<'_>),
        threads: usize,
        length: TurnLength,
    ) -> Turn {
        let steps = if records.len == 1 { 64 } else { 1 };
        let run = || {
            for _ in 0..steps {
                let outcomes = self.accelerator.records().run(shape, &records).unwrap();
                assert!(outcomes.statuses().iter().all(|status| *status == oarlock::Status::Done));
            }
            steps * records.len as u64
        };
        repeat(length, &mut vec![run; threads])
    }

    fn macs(&self, count: usize) -> (Shape, Records<'_>) {
        let shape = Shape::Mac { alg: MacAlg::HmacSha256 };
        let mut records = columns(&self.hmac, count, MESSAGE.len(), 32);
        records.data = Cow::Owned(MESSAGE.repeat(count));
        (shape, records)
    }

    fn blocks(&self, count: usize) -> (Shape, Records<'_>) {
        let shape =
            Shape::Cipher { alg: BlockCipher::Aes128, mode: CipherMode::Cbc, direction: Direction::Encrypt };
        let mut records = columns(&self.aes, count, BLOCK, BLOCK);
        // The IV stands behind the inputs.
        records.iv = Column::One(span(count * BLOCK, BLOCK));
        records.data = Cow::Owned(vec![7; (count + 1) * BLOCK]);
        (shape, records)
    }
}

/// Returns records of one key whose inputs and outputs lie side by side.
fn columns(key: &Key, count: usize, input_len: usize, output_len: usize) -> Records<'_> {
    Records {
        len: count,
        keys: Cow::Borrowed(std::slice::from_ref(key)),
        output_len: count * output_len,
        input: Column::Stride { first: InputSource::Data(span(0, input_len)), stride: input_len as u32 },
        output: Column::Stride { first: OutputSink::Output(span(0, output_len)), stride: output_len as u32 },
        ..Records::default()
    }
}

fn span(start: usize, len: usize) -> Span {
    Span::new(start, len).unwrap()
}
