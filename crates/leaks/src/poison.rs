//! Batches whose secrets Valgrind watches. It reports a branch or an address that depends on a secret as an error.
//!
//! Valgrind does not know AVX-512. So the leaves that it knows run there, and those of plain Rust, which share the
//! algorithms, which are written once. [`crate::timing`] times every leaf.

use std::process::{Command, Stdio};

use crate::LeakError;
use crate::report::PoisonRow;

/// The hidden command by which this program runs itself under Valgrind.
pub const WATCHED: &str = "watched";

/// Runs this program again under Valgrind on these subjects. Returns the findings and Valgrind's output.
///
/// # Errors
/// Valgrind is not installed, or it did not finish.
pub fn under_valgrind(subjects: &[String]) -> Result<(Vec<PoisonRow>, String), LeakError> {
    let fail = |what: String| LeakError::Valgrind(what);
    let program = std::env::current_exe().map_err(|error| fail(error.to_string()))?;
    let output = Command::new("valgrind")
        // The expensive checks avoid false reports about optimised comparisons. An error limit would end the count.
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

/// Runs each subject on every leaf that runs here, and one on the engine that leaks. The program must run under
/// Valgrind.
///
/// # Errors
/// The program does not run under Valgrind, a key cannot be made, or a job was rejected.
#[cfg(feature = "valgrind")]
pub fn watched(subjects: &[String]) -> Result<Vec<PoisonRow>, LeakError> {
    use oarlock_lanes::{LaneEngine, leak_check};

    use crate::leaves::{self, CheckedLeaf};
    use crate::planted::PlantedLeak;
    use crate::subject::Subject;

    if !leak_check::is_watched() {
        return Err(LeakError::Valgrind("this command only runs under Valgrind".into()));
    }
    let mut rows = Vec::new();
    for CheckedLeaf { engine, subjects } in leaves::running(subjects) {
        for name in &subjects {
            rows.push(run_subject(&engine, &mut Subject::with_one_key(name)?)?);
        }
    }
    if let Some(name) = subjects.first() {
        let planted = PlantedLeak(LaneEngine::portable());
        rows.push(run_subject(&planted, &mut Subject::with_one_key(name)?)?);
    }
    Ok(rows)
}

/// Runs a full batch and a batch of one job under random secrets.
#[cfg(feature = "valgrind")]
fn run_subject(
    engine: &dyn oarlock_core::Engine,
    subject: &mut crate::subject::Subject,
) -> Result<PoisonRow, LeakError> {
    use oarlock_core::Outcomes;
    use oarlock_lanes::leak_check;

    let before = leak_check::errors();
    let mut jobs = 0;
    // A single job takes other paths than a full batch.
    for count in [8, 1] {
        let batch = subject.batch(crate::welch::SampleClass::Random, count);
        batch.secrets().for_each(leak_check::conceal);
        let mut out = Outcomes::default();
        let is_done = batch.run(engine, &mut out)?;
        // Results are public. Valgrind would otherwise report the comparison of statuses.
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
        leaf: crate::leaves::name_for(engine, subject).into(),
        jobs,
        errors,
        leaks: errors > 0,
    })
}
