//! One message, through all stages at once.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use oarlock::{Accelerator, JobError, SubmitOptions};

use super::{VerifiedMessage, VerifyIntake};
use crate::key_answer::{KeyAnswer, KeyName};
use crate::message::ParsedMail;
use crate::policy::VerifyPolicy;

/// Verifies the signatures of one message, and its ARC chain if the policy asks for it.
///
/// `look_up` is called once for each key record that the message names, and its futures run side by side. Signatures
/// must be valid at `now_s`, in seconds since 1970. Hashes and signatures share batches with jobs that others submit to
/// the accelerator. [`VerifyIntake`] takes many messages at a time.
///
/// ```
/// # async fn example(mail: &[u8]) -> Result<(), Box<dyn std::error::Error>> {
/// use oarlock::Accelerator;
/// use oarlock_dkim::{KeyAnswer, MailLimits, ParsedMail, VerifyPolicy, best_verdict, verify_one};
///
/// # async fn txt_records(name: &str) -> Vec<String> { Vec::new() }
/// let accelerator = Accelerator::new()?;
/// let mail = ParsedMail::parse(mail, &MailLimits::default())?;
/// let look_up = async |name: oarlock_dkim::KeyName| KeyAnswer::from_records(txt_records(name.as_str()).await);
/// let verified = verify_one(&accelerator, &mail, &VerifyPolicy::default(), 1_700_000_000, look_up).await?;
/// println!("{:?}", best_verdict(&verified.signatures));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// The message exceeds 4 GiB, no engine could hash, or the queue is full. A signature that fails is a result.
pub async fn verify_one(
    accelerator: &Accelerator,
    mail: &ParsedMail<'_>,
    policy: &VerifyPolicy,
    now_s: u64,
    look_up: impl AsyncFn(KeyName) -> KeyAnswer,
) -> Result<VerifiedMessage, JobError> {
    let mut intake = VerifyIntake::new(policy, now_s);
    intake.push(mail)?;
    let hashed = intake.submit(accelerator, SubmitOptions::default()).await?;
    let names: Vec<KeyName> = hashed.queries().cloned().collect();
    let answers = join_all(names.iter().map(|name| look_up(name.clone()))).await;
    let find = |wanted: &KeyName| names.iter().zip(&answers).find(|(name, _)| *name == wanted);
    let keyed = hashed.answer(|name| match find(name) {
        Some((_, answer)) => answer.clone(),
        // unreachable because the queries are the names that need an answer
        None => KeyAnswer::NoRecord,
    });
    Ok(keyed.submit(accelerator, SubmitOptions::default()).await.pop().unwrap_or_default())
}

/// Runs futures side by side and returns their results in order.
async fn join_all<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut running: Vec<Pin<Box<F>>> = futures.map(Box::pin).collect();
    let mut results: Vec<Option<F::Output>> = running.iter().map(|_| None).collect();
    poll_fn(|context| {
        for (future, result) in running.iter_mut().zip(&mut results) {
            if result.is_none()
                && let Poll::Ready(output) = future.as_mut().poll(context)
            {
                *result = Some(output);
            }
        }
        if results.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    results.into_iter().flatten().collect()
}
