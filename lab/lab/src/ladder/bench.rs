//! The engines, keys and tables that all steps share.

use std::sync::Arc;

use oarlock::Accelerator;
use oarlock::Direction;
use oarlock_keytable::KeyTable;
use oarlock_terminal::GlobalOptions;

use super::LadderError;
use super::args::LadderArgs;
use super::steps::ServedBy;
use super::workload::{KeyRing, cbc_shape};

/// The engines, keys and tables that all steps share.
pub(super) struct LadderBench {
    /// The scalar engine alone.
    referee: Accelerator,
    /// Every engine that is allowed, without checks.
    all: Accelerator,
    checked: Accelerator,
    pub(super) ring: Arc<KeyRing>,
    pub(super) table: KeyTable,
    /// Operations that fill the widest engine once.
    pub(super) group: usize,
    /// The engines that serve the cipher if all may.
    engines: Vec<&'static str>,
}

impl LadderBench {
    pub(super) fn new(global: &GlobalOptions, args: &LadderArgs) -> Result<Self, LadderError> {
        let checked = global.builder().lazy().build()?;
        let all = global.builder().cross_check(0.0).lazy().build()?;
        let referee = Accelerator::builder()
            .engines([all.diagnostics().referee().name()])
            .cross_check(0.0)
            .lazy()
            .build()?;
        let ring = Arc::new(KeyRing::new(all.diagnostics().referee(), args.cipher, args.keys as usize)?);
        let shape = cbc_shape(args.cipher.alg(), Direction::Encrypt);
        let allowed = global.measured_engines(&all);
        let mut group = 1;
        let mut engines = Vec::new();
        // Each accelerator tests and measures the shape now, so that no step pays for that.
        let _ = (referee.engines_of(shape), checked.engines_of(shape));
        for engine in all.engines_of(shape).into_iter().filter(|engine| allowed.contains(&engine.name)) {
            if let Some(proved) = engine.shapes.iter().find(|proved| proved.verdict.is_ok()) {
                engines.push(engine.name);
                group = group.max(proved.lanes.preferred);
            }
        }
        Ok(Self { table: ring.table()?, referee, all, checked, ring, group, engines })
    }

    pub(super) fn accelerator(&self, served_by: ServedBy) -> &Accelerator {
        match served_by {
            ServedBy::Referee => &self.referee,
            ServedBy::All => &self.all,
            ServedBy::AllChecked => &self.checked,
        }
    }

    /// The names of the engines that serve.
    pub(super) fn engines(&self, served_by: ServedBy) -> Vec<&'static str> {
        match served_by {
            ServedBy::Referee => vec![self.referee.diagnostics().referee().name()],
            ServedBy::All | ServedBy::AllChecked => self.engines.clone(),
        }
    }

    /// True if an engine computes several operations at a time.
    pub(super) fn has_lanes(&self) -> bool {
        self.group > 1
    }

    /// Returns the accelerator with every engine that is allowed.
    pub(super) fn all(&self) -> &Accelerator {
        &self.all
    }
}
