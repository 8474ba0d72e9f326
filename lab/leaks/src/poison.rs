//! Batches whose secrets Valgrind watches. It reports a branch or an address that depends on a secret as an error.
//!
//! Valgrind does not know AVX-512 and some other instructions. So the leaves that it knows run there, and those of
//! plain Rust. All share the algorithms, which are written once. [`crate::timing`] times every leaf.

use std::process::{Command, Output, Stdio};

use oarlock_lanes::{LaneEngine, Leaf};

use crate::LeakError;
use crate::report::PoisonRow;

/// The hidden command by which this program runs itself under Valgrind.
pub const WATCHED: &str = "watched";

/// Runs this program again under Valgrind, once for each leaf, on these subjects. Returns the findings and Valgrind's
/// output. `skip` is called with the name of each leaf that has instructions unknown to Valgrind.
///
/// # Errors
/// Valgrind is not installed, or it did not finish.
pub fn under_valgrind(
    subjects: &[String],
    mut skip: impl FnMut(&str),
) -> Result<(Vec<PoisonRow>, String), LeakError> {
    let (mut rows, mut said) = (Vec::new(), String::new());
    for leaf in Leaf::ALL.iter().copied().filter(|leaf| LaneEngine::of_leaf(*leaf).is_some()) {
        let output = run_leaf(leaf, subjects)?;
        let text = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            if text.contains(UNKNOWN_INSTRUCTION) && !leaf.is_portable() {
                skip(leaf.name());
                continue;
            }
            return Err(LeakError::Valgrind(format!("{}: {text}", output.status)));
        }
        let found: Vec<PoisonRow> = serde_json::from_slice(&output.stdout)
            .map_err(|error| LeakError::Valgrind(format!("{error}: {text}")))?;
        // Valgrind hides what it does not know from programs, so the leaf may be absent there.
        if found.is_empty() && !leaf.is_portable() {
            skip(leaf.name());
        }
        rows.extend(found);
        said += &text;
    }
    Ok((rows, said))
}

/// The words with which Valgrind ends a program that has an instruction unknown to it.
const UNKNOWN_INSTRUCTION: &str = "Illegal opcode";

fn run_leaf(leaf: Leaf, subjects: &[String]) -> Result<Output, LeakError> {
    let program = std::env::current_exe().map_err(|error| LeakError::Valgrind(error.to_string()))?;
    Command::new("valgrind")
        // The expensive checks avoid false reports about optimised comparisons. An error limit would end the count.
        .args(["--quiet", "--error-limit=no", "--num-callers=30", "--expensive-definedness-checks=yes"])
        .arg(program)
        .args([WATCHED, leaf.name()])
        .args(subjects)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| {
            LeakError::Valgrind(format!(
                "cannot be run ({error}); Debian and Ubuntu: apt-get install valgrind"
            ))
        })
}

/// Runs on a leaf each subject that it offers. With the portable leaf, one runs on the engine that leaks too. The
/// program must run under Valgrind.
///
/// # Errors
/// The program does not run under Valgrind, a key cannot be made, or a job was rejected.
#[cfg(feature = "valgrind")]
pub fn watched(leaf: &str, subjects: &[String]) -> Result<Vec<PoisonRow>, LeakError> {
    use oarlock_lanes::leak_check;

    use crate::leaves;
    use crate::planted::PlantedLeak;
    use crate::subject::Subject;

    if !leak_check::is_watched() {
        return Err(LeakError::Valgrind("this command only runs under Valgrind".into()));
    }
    let Some(engine) = leaves::of_name(leaf)? else { return Ok(Vec::new()) };
    let offered = Subject::names(&engine, u16::MAX);
    let mut rows = Vec::new();
    for name in subjects.iter().filter(|name| offered.contains(name)) {
        rows.push(run_subject(&engine, &mut Subject::with_one_key(name)?)?);
    }
    for name in crate::tls::NAMES {
        rows.extend(open_records(&engine, name, false)?);
    }
    if leaf == Leaf::Portable.name() {
        rows.extend(open_records(&engine, crate::tls::NAMES[0], true)?);
    }
    if let (Some(name), true) = (subjects.first(), leaf == Leaf::Portable.name()) {
        rows.push(run_subject(&PlantedLeak(&engine), &mut Subject::with_one_key(name)?)?);
    }
    Ok(rows)
}

/// Opens TLS records whose paddings are secret, because they are decrypted under secret keys. None if the engine does
/// not offer the shape. A planted leak branches on a byte of the key.
#[cfg(feature = "valgrind")]
fn open_records(
    engine: &dyn oarlock_core::Engine,
    name: &str,
    is_planted: bool,
) -> Result<Option<PoisonRow>, LeakError> {
    use oarlock_core::Outcomes;
    use oarlock_lanes::leak_check;

    use crate::timing::WallClock;
    use crate::tls::{BATCH, TlsSubject};

    let mut subject = TlsSubject::new(name, false)?;
    if engine.offers(subject.shape()).is_none() {
        return Ok(None);
    }
    let before = leak_check::errors();
    subject.secrets().for_each(leak_check::conceal);
    if is_planted && subject.secrets().flatten().any(|byte| std::hint::black_box(*byte) == 0) {
        std::hint::black_box(());
    }
    let mut out = Outcomes::default();
    let opened = subject.sample(engine, crate::welch::SampleClass::Random, &mut out, &mut WallClock);
    leak_check::reveal(out.bytes());
    subject.secrets().for_each(leak_check::reveal);
    opened?;
    let errors = leak_check::errors() - before;
    let leaf = engine.leaf(subject.shape()).map_or_else(|| engine.name(), |leaf| leaf.name);
    let leaf = if is_planted { "planted" } else { leaf };
    Ok(Some(PoisonRow { subject: name.into(), leaf: leaf.into(), jobs: BATCH, errors, leaks: errors > 0 }))
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
    // A single job takes other paths than a full batch, unless it fills the lanes by itself.
    let counts = if subject.shape().is_long() { &[1][..] } else { &[8, 1] };
    for &count in counts {
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
