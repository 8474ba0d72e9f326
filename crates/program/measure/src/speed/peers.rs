//! The peers of one operation. Each is measured in every way that it has, and the best rate counts.

use oarlock::{Accelerator, JobError, Outcomes};

use super::error::SpeedError;
use super::measure::{SpeedContender, SpeedRate};
use super::public::{BareOperations, is_right};
use super::records::BareRecords;
use super::{BARE_BATCH, SpeedSession, SpeedWork};
use crate::operation::NamedOperation;
use crate::peer::{
    Libcrypto, PeerAlgorithm, PeerError, PeerTask, PreparedTask, aws_lc_version, prepare_aws_lc,
};

/// The work of the peers of one operation, prepared for each thread.
pub(super) struct SpeedPeers {
    /// Versions and work of the libraries; no work if one lacks the algorithm.
    libraries: Vec<(String, Option<Vec<PreparedTask>>)>,
    /// True if AWS-LC has the operation, so that the scalar engine only calls it.
    is_in_aws_lc: bool,
    /// AWS-LC's own functions with kept keys, if they save something beside the scalar engine.
    aws_lc: Option<Vec<PreparedTask>>,
}

impl SpeedPeers {
    /// Prepares the peers' work and checks its results. A peer that lacks the algorithm gets a note.
    pub(super) fn new(
        session: &SpeedSession<'_>,
        operation: NamedOperation,
        work: &SpeedWork,
    ) -> Result<Self, SpeedError> {
        let op = operation.to_string();
        let of_library = |library: &Libcrypto| {
            let version = library.version().to_owned();
            if PeerAlgorithm::of_operation(&op).is_none() {
                eprintln!(
                    "oarlock: {op}: no OpenSSL figure: {version} has nothing for it that is measured here"
                );
                return Ok((version, None));
            }
            let prepared = prepare(session, &op, work, &|task| library.prepare(task))?;
            let prepared =
                prepared.map_err(|absence| eprintln!("oarlock: {op}: no OpenSSL figure: {absence}"));
            Ok((version, prepared.ok()))
        };
        let libraries = session.libraries.iter().map(of_library).collect::<Result<_, SpeedError>>()?;
        let is_in_aws_lc = operation.is_in_aws_lc();
        if !is_in_aws_lc {
            eprintln!("oarlock: {op}: no AWS-LC figure: {} has no such operation", aws_lc_version());
        }
        let aws_lc = match work {
            SpeedWork::Records(_) if is_in_aws_lc && PeerAlgorithm::of_operation(&op).is_some() => {
                prepare(session, &op, work, &prepare_aws_lc)?.ok()
            }
            _ => None,
        };
        Ok(Self { libraries, is_in_aws_lc, aws_lc })
    }

    /// Adds the peers to the contenders of each thread.
    pub(super) fn join<'w>(
        &'w mut self,
        threads: &mut [Vec<Box<dyn SpeedContender + 'w>>],
        op: &'w str,
        work: &'w SpeedWork,
        accelerator: &'w Accelerator,
        batch: usize,
    ) -> Result<PeerPositions, SpeedError> {
        let mut positions = PeerPositions::default();
        let mut next = threads.first().map_or(0, Vec::len)..;
        if self.is_in_aws_lc {
            for thread in threads.iter_mut() {
                thread.push(bare(op, work, accelerator, batch)?);
            }
            positions.aws_lc.extend(next.next());
        }
        if let Some(prepared) = &mut self.aws_lc {
            add(threads, prepared, op, batch);
            positions.aws_lc.extend(next.next());
        }
        for (version, prepared) in &mut self.libraries {
            let index = prepared.as_mut().and_then(|prepared| {
                add(threads, prepared, op, batch);
                next.next()
            });
            positions.libraries.push((version.clone(), index));
        }
        Ok(positions)
    }
}

/// The positions of the peers among the contenders.
#[derive(Default)]
pub(super) struct PeerPositions {
    aws_lc: Vec<usize>,
    libraries: Vec<(String, Option<usize>)>,
}

impl PeerPositions {
    /// Picks the rates of the peers. `programs` has the rate of each library's `openssl speed`.
    pub(super) fn pick(self, rates: &[SpeedRate], programs: Vec<Option<f64>>) -> PeerRates {
        let rate = |index: usize| rates.get(index).map(|rate| rate.per_s);
        let libraries = self.libraries.into_iter().zip(programs).map(|((version, index), program)| {
            LibraryRate { version, in_process: index.and_then(rate), program }
        });
        PeerRates {
            aws_lc: self.aws_lc.into_iter().filter_map(rate).reduce(f64::max),
            libraries: libraries.collect(),
        }
    }
}

/// Operations per second of the peers of one operation.
#[derive(Clone, Debug, Default)]
pub(super) struct PeerRates {
    pub(super) aws_lc: Option<f64>,
    pub(super) libraries: Vec<LibraryRate>,
}

/// The rates of a library of OpenSSL.
#[derive(Clone, Debug)]
pub(super) struct LibraryRate {
    pub(super) version: String,
    /// In this process, in turns with Oarlock.
    pub(super) in_process: Option<f64>,
    /// By `openssl speed` of the same version.
    pub(super) program: Option<f64>,
}

impl LibraryRate {
    /// Returns the better rate.
    pub(super) fn best(&self) -> Option<f64> {
        [self.in_process, self.program].into_iter().flatten().reduce(f64::max)
    }
}

impl PeerRates {
    /// Returns name and rate of the fastest peer.
    pub(super) fn best(&self) -> Option<(String, f64)> {
        let aws_lc = self.aws_lc.map(|rate| (aws_lc_version(), rate));
        let libraries =
            self.libraries.iter().filter_map(|library| Some((library.version.clone(), library.best()?)));
        libraries.chain(aws_lc).max_by(|(_, one), (_, other)| one.total_cmp(other))
    }
}

/// Prepares a peer's work, one per thread, and checks its results. The inner error says what the peer lacks.
fn prepare(
    session: &SpeedSession<'_>,
    op: &str,
    work: &SpeedWork,
    prepare_one: &dyn Fn(PeerTask) -> Result<PreparedTask, PeerError>,
) -> Result<Result<Vec<PreparedTask>, PeerError>, SpeedError> {
    let fail = |error| SpeedError::Peer { op: op.to_owned(), error };
    let prepared = (0..session.threads).map(|_| prepare_one(work.task()?)).collect::<Result<Vec<_>, _>>();
    let mut prepared = match prepared {
        Err(error) if error.is_absence() => return Ok(Err(error)),
        prepared => prepared.map_err(fail)?,
    };
    let ours = match work {
        SpeedWork::Records(records) => records.results(&session.all)?,
        SpeedWork::Public(_) => Vec::new(),
    };
    let is_right = |item: usize, output: &[u8]| match work {
        SpeedWork::Records(_) => ours[item] == output,
        SpeedWork::Public(work) => is_right(&session.all, work, item, output),
    };
    // All threads have the same task, so the check of one is enough.
    prepared.first_mut().map_or(Ok(()), |first| first.check_all(is_right)).map_err(fail)?;
    Ok(Ok(prepared))
}

/// Returns AWS-LC as the scalar engine calls it, one operation at a time, without schemes and dispatcher.
fn bare<'w>(
    op: &'w str,
    work: &'w SpeedWork,
    accelerator: &'w Accelerator,
    batch: usize,
) -> Result<Box<dyn SpeedContender + 'w>, SpeedError> {
    let engine = accelerator.diagnostics().referee();
    Ok(match work {
        SpeedWork::Records(work) => {
            Box::new(BareRecords { engine, work: work.clone(), outcomes: Outcomes::default() })
        }
        SpeedWork::Public(work) => {
            let fail = |error: JobError| SpeedError::Job { op: op.to_owned(), error };
            Box::new(BareOperations::new(engine, op, &work.jobs(), batch.min(BARE_BATCH)).map_err(fail)?)
        }
    })
}

fn add<'w>(
    threads: &mut [Vec<Box<dyn SpeedContender + 'w>>],
    prepared: &'w mut [PreparedTask],
    op: &'w str,
    batch: usize,
) {
    for (thread, prepared) in threads.iter_mut().zip(prepared) {
        thread.push(Box::new(PreparedContender { op, prepared, batch }));
    }
}

/// A peer's prepared work as a contender.
struct PreparedContender<'a> {
    op: &'a str,
    prepared: &'a mut PreparedTask,
    batch: usize,
}

impl SpeedContender for PreparedContender<'_> {
    fn run(&mut self) -> Result<usize, SpeedError> {
        let ran = self.prepared.run(self.batch);
        ran.map_err(|error| SpeedError::Peer { op: self.op.to_owned(), error })?;
        Ok(self.batch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(per_s: f64) -> SpeedRate {
        SpeedRate { per_s, batch_us: 1.0 }
    }

    #[test]
    fn the_best_way_of_each_peer_counts() {
        let positions = PeerPositions {
            aws_lc: vec![1, 2],
            libraries: vec![("OpenSSL 3.0.19".into(), Some(3)), ("OpenSSL 4.0.3".into(), None)],
        };
        let rates = [900.0, 50.0, 70.0, 60.0].map(rate);
        let peers = positions.pick(&rates, vec![Some(65.0), None]);
        assert_eq!(peers.aws_lc, Some(70.0));
        let best: Vec<Option<f64>> = peers.libraries.iter().map(LibraryRate::best).collect();
        assert_eq!(
            best,
            [Some(65.0), None],
            "`openssl speed` was better, and the other has no such operation"
        );
        let (name, per_s) = peers.best().unwrap();
        assert!(name.starts_with("AWS-LC ") && per_s == 70.0, "{name}");
    }

    #[test]
    fn an_operation_that_no_peer_has_has_no_best() {
        let positions =
            PeerPositions { aws_lc: Vec::new(), libraries: vec![("OpenSSL 3.0.19".into(), None)] };
        assert!(positions.pick(&[rate(1.0)], vec![None]).best().is_none());
    }
}
