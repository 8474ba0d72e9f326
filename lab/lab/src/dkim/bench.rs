//! `oarlock dkim bench`.

use std::time::{Duration, Instant};

use cpu_time::ThreadTime;
use oarlock::Accelerator;
use oarlock_measure::statistics::{median_by, take_turns};
use oarlock_terminal::report::print_report;
use oarlock_terminal::{GlobalOptions, progress};

use super::args::MailBenchArgs;
use super::ours::{self, EngineMailWork};
use super::report::{self, MailRow};
use super::{MailBenchError, MailCorpus, MailInput, MailSizes, MailTask, MailWork};
#[cfg(feature = "mail-auth")]
use super::{SignatureKind, mail_auth};

/// The name of the peer.
pub(super) const PEER: &str = "mail-auth 0.13";

/// Measures, and prints a table or JSON.
///
/// # Errors
/// Engines that fail, or signatures that are wrong.
pub(super) fn run(global: &GlobalOptions, args: &MailBenchArgs) -> Result<(), MailBenchError> {
    let all = global.builder().lazy().build()?;
    global.warn_absent_engines(&all);
    if cfg!(not(feature = "mail-auth")) {
        eprintln!("oarlock: built without the feature mail-auth: there is no peer to compare with");
    }
    let engines = global.measured_engines(&all);
    let alone: Vec<Accelerator> =
        engines.iter().map(|engine| ours::alone(engine)).collect::<Result<_, _>>()?;
    let tasks = if args.tasks.is_empty() { &MailTask::USUAL[..] } else { &args.tasks };
    let steps = (MailSizes::ALL.len() * tasks.len()) as u64;
    let progress = progress::bar(steps, "{msg:20!} {wide_bar} {pos}/{len} rows{left}");
    let mut rows = Vec::new();
    for sizes in MailSizes::ALL {
        let corpus = MailCorpus::new(sizes, args.messages);
        for &task in tasks {
            progress.set_message(format!("{} {}", task.name(), sizes.name()));
            let input = MailInput::new(task, &corpus.messages, &all)?;
            let ours = alone.iter().map(|engine| EngineMailWork::new(engine, &input, args.batch));
            let mut ours: Vec<EngineMailWork> = ours.collect::<Result<_, _>>()?;
            let mut works: Vec<&mut dyn MailWork> = ours.iter_mut().map(|ours| ours as _).collect();
            let mut peer = peer(&input)?;
            works.extend(peer.iter_mut().map(|peer| &mut **peer as &mut dyn MailWork));
            let rates = turns(&mut works, args)?;
            let peer = rates.get(engines.len()).copied();
            let of_engines = engines.iter().zip(rates);
            rows.extend(of_engines.map(|(engine, rate)| MailRow::from_mail(engine, task, sizes, rate, peer)));
            progress.inc(1);
        }
    }
    progress.finish_and_clear();
    Ok(print_report(global.json, &rows, |in_colour| report::to_text(args, &rows, in_colour))?)
}

/// The peer, if one was built in and can do this task.
#[cfg(feature = "mail-auth")]
fn peer<'i>(input: &'i MailInput<'i>) -> Result<Option<Box<dyn MailWork + 'i>>, MailBenchError> {
    // It knows no SHA-1, and signs with no RSA key shorter than 2048 bits.
    let task = input.task;
    if task == MailTask::Sign(SignatureKind::Rsa1024)
        || matches!(task.kind(), SignatureKind::Rsa1024Sha1 | SignatureKind::Rsa2048Sha1)
    {
        return Ok(None);
    }
    Ok(Some(Box::new(mail_auth::MailAuth::new(input)?)))
}

#[cfg(not(feature = "mail-auth"))]
fn peer<'i>(_input: &'i MailInput<'i>) -> Result<Option<Box<dyn MailWork + 'i>>, MailBenchError> {
    Ok(None)
}

/// Messages per second of the clock and of CPU.
#[derive(Clone, Copy, Debug)]
pub(super) struct MailRate {
    pub(super) per_s: f64,
    pub(super) per_cpu_s: f64,
}

/// Lets the contenders take turns of equal length, and returns the median turn of each by CPU time.
fn turns(works: &mut [&mut dyn MailWork], args: &MailBenchArgs) -> Result<Vec<MailRate>, MailBenchError> {
    let length = Duration::from_secs_f64(args.seconds);
    // The first turn warms caches and builds tables of keys.
    take_turns(works, 1, |_, work| timed(*work, length))?;
    let rates = take_turns(works, args.turns, |_, work| timed(*work, length))?;
    Ok(rates.into_iter().filter_map(|rates| median_by(rates, |rate| rate.per_cpu_s)).collect())
}

fn timed(work: &mut dyn MailWork, length: Duration) -> Result<MailRate, MailBenchError> {
    let (began, cpu) = (Instant::now(), ThreadTime::now());
    let mut messages = 0;
    while began.elapsed() < length {
        messages += work.batch()?;
    }
    let rate = |time: Duration| messages as f64 / time.as_secs_f64().max(f64::EPSILON);
    Ok(MailRate { per_s: rate(began.elapsed()), per_cpu_s: rate(cpu.elapsed()) })
}
