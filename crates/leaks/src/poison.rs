//! Batches whose secrets Valgrind watches: a branch or an address that depends on one is an error that it reports.
//!
//! The portable leaf runs there, since Valgrind knows no AVX-512: the algorithms are the same, written once. The
//! kernels in `asm!` have their twins in it, and are looked at by the clock ([`crate::timing`]).

use std::process::{Command, Stdio};

use crate::LeakError;
use crate::report::PoisonRow;

/// The hidden command by which this program runs itself under Valgrind.
pub const WATCHED: &str = "watched";

/// Runs this program again under Valgrind, over these subjects; what it found, and what Valgrind wrote.
///
/// # Errors
/// No Valgrind, or it did not finish.
pub fn under_valgrind(subjects: &[String]) -> Result<(Vec<PoisonRow>, String), LeakError> {
    let fail = |what: String| LeakError::Valgrind(what);
    let program = std::env::current_exe().map_err(|error| fail(error.to_string()))?;
    let output = Command::new("valgrind")
        .args(["--quiet", "--error-limit=no", "--num-callers=30", "--expensive-definedness-checks=yes"])
        .arg(program)
        .arg(WATCHED)
        .args(subjects)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| {
            fail(format!("cannot be run ({error}); Debian and Ubuntu: apt-get install valgrind"))
        })?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        return Err(fail(format!("{}: {said}", output.status)));
    }
    let rows = serde_json::from_slice(&output.stdout).map_err(|error| fail(format!("{error}: {said}")))?;
    Ok((rows, said))
}

/// What the program does under Valgrind: runs each subject on the portable leaf, and one on the leaf that leaks.
///
/// # Errors
/// No Valgrind around, a key that cannot be made, a job that was refused.
#[cfg(feature = "valgrind")]
pub fn watched(subjects: &[String]) -> Result<Vec<PoisonRow>, LeakError> {
    use oarlock_lanes::{LaneEngine, leak_check};

    use crate::planted::Planted;
    use crate::subject::Subject;

    if !leak_check::is_watched() {
        return Err(LeakError::Valgrind("this runs under Valgrind alone".into()));
    }
    let engine = LaneEngine::portable();
    let mut rows = Vec::new();
    for name in subjects {
        rows.push(one(&engine, &mut Subject::with_one_key(name)?)?);
    }
    if let Some(name) = subjects.first() {
        rows.push(one(&Planted(engine), &mut Subject::with_one_key(name)?)?);
    }
    Ok(rows)
}

/// A full batch and one lane alone, under random secrets.
#[cfg(feature = "valgrind")]
fn one(
    engine: &dyn oarlock_core::Engine,
    subject: &mut crate::subject::Subject,
) -> Result<PoisonRow, LeakError> {
    use oarlock_core::Outcomes;
    use oarlock_lanes::leak_check;

    let before = leak_check::errors();
    let mut jobs = 0;
    for count in [8, 1] {
        let batch = subject.batch(crate::welch::Class::Random, count);
        batch.secrets().for_each(leak_check::conceal);
        let mut out = Outcomes::default();
        let is_done = batch.run(engine, &mut out)?;
        leak_check::reveal(out.bytes());
        batch.secrets().for_each(leak_check::reveal);
        if !is_done {
            return Err(LeakError::Refused { subject: subject.name().to_owned() });
        }
        jobs += count;
    }
    let errors = leak_check::errors() - before;
    Ok(PoisonRow {
        subject: subject.name().into(),
        engine: engine.name().into(),
        jobs,
        errors,
        leaks: errors > 0,
    })
}
