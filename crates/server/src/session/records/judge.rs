//! Which records may run, and under which key of which table.

use std::sync::Arc;

use oarlock::batch::{Batch, BatchTask};
use oarlock::{Column, KeySource, Shape};
use oarlock_wire::proto::{Blame, Code, Fault};
use smallvec::SmallVec;

use crate::keyring::{Granted, Resident};
use crate::session::verdicts::not_open;
use crate::session::{Opened, Source, another_key, denial, refusal};

/// Records that their key's grants do not allow, in order.
pub(super) type Denials = Vec<(usize, Arc<Fault>)>;

/// An index that no table has: a record under it fails alone.
const NOWHERE: u32 = (1 << 31) - 1;

/// A handle that has not been judged yet; no table has this index either.
const UNKNOWN: u32 = u32::MAX;

/// What came of judging a batch.
pub(super) struct Judged {
    pub(super) denials: Denials,
    /// The keys are the stream's own, by their place in its table; else the server's, and outside keys where a batch has both.
    pub(super) is_own: bool,
}

/// Puts keys in the place of handles, and one that is not there where no grant allows the task.
pub(super) fn judge(handles: &[Option<Opened>], batch: &mut Batch<'_>) -> Judged {
    let mut judge = Judge::new(handles);
    let (tasks, len) = (batch.task.borrowed(), batch.records.len);
    let key = judge.column(&batch.records.key, &tasks, len);
    let mut columns = vec![key];
    let is_translation = |task: BatchTask| matches!(task, BatchTask::Do(Shape::Translate { .. }));
    if tasks.cursor().take(len).any(is_translation) {
        columns.push(judge.column(&batch.records.second_key, &tasks, len));
        judge.denials.sort_by_key(|(index, _)| *index);
        judge.denials.dedup_by_key(|(index, _)| *index);
    }
    let is_own = judge.uses_own && !judge.uses_resident;
    let mut columns = columns.into_iter().map(|column| if is_own { within(column) } else { column });
    if let Some(key) = columns.next() {
        batch.records.key = key;
    }
    if let Some(second) = columns.next() {
        batch.records.second_key = second;
    }
    Judged { denials: judge.denials, is_own }
}

/// Keys of the stream as its own table has them.
fn within(column: Column<'static, KeySource>) -> Column<'static, KeySource> {
    let place = |source| match (source, Batch::outside_key(0)) {
        (KeySource::Table(index), KeySource::Table(first)) if index >= first => {
            KeySource::Table(index - first)
        }
        (other, _) => other,
    };
    match column {
        Column::One(source) => Column::One(place(source)),
        each => Column::Each(each.cursor().map(place).collect()),
    }
}

struct Judge<'s> {
    handles: &'s [Option<Opened>],
    /// By handle, for each task: what stands in its place and is counted by a grant, or why nothing does. Most batches have one
    /// task and many keys, so neither tasks nor their names are allocated for each.
    known: Vec<SmallVec<[(BatchTask, Verdict); 1]>>,
    /// Tasks of the batch, as grants name them.
    names: Vec<(BatchTask, String)>,
    denials: Denials,
    uses_resident: bool,
    uses_own: bool,
}

type Verdict = Result<(KeySource, Option<Arc<Granted>>), Arc<Fault>>;

impl<'s> Judge<'s> {
    fn new(handles: &'s [Option<Opened>]) -> Self {
        let known = std::iter::repeat_with(SmallVec::new).take(handles.len()).collect();
        Self { handles, known, names: Vec::new(), denials: Vec::new(), uses_resident: false, uses_own: false }
    }

    fn column(
        &mut self,
        column: &Column<'_, KeySource>,
        tasks: &Column<'_, BatchTask>,
        len: usize,
    ) -> Column<'static, KeySource> {
        if let (Column::One(source), Column::One(task)) = (column, tasks)
            && !self.is_counted(*source)
        {
            // One verdict for all.
            let before = self.denials.len();
            let key = self.allow(*source, *task, 0);
            if let Some((_, fault)) = self.denials.get(before).cloned() {
                self.denials.extend((1..len).map(|index| (index, fault.clone())));
            }
            return Column::One(key);
        }
        if let Column::One(task) = tasks {
            return self.column_of_one_task(column, *task, len);
        }
        let each = column.cursor().zip(tasks.cursor()).take(len).enumerate();
        Column::Each(each.map(|(index, (source, task))| self.allow(source, task, index)).collect())
    }

    /// With one task a handle that is allowed, and that no grant counts, stands for one index wherever it comes again.
    fn column_of_one_task(
        &mut self,
        column: &Column<'_, KeySource>,
        task: BatchTask,
        len: usize,
    ) -> Column<'static, KeySource> {
        let mut indices = vec![UNKNOWN; self.handles.len()];
        let mut one = |(index, source)| {
            let KeySource::Table(handle) = source else { return source };
            match indices.get(handle as usize) {
                Some(&known) if known != UNKNOWN => return KeySource::Table(known),
                _ => {}
            }
            let before = self.denials.len();
            let allowed = self.allow(source, task, index);
            if let (KeySource::Table(known), true) =
                (allowed, self.denials.len() == before && !self.is_counted(source))
                && let Some(place) = indices.get_mut(handle as usize)
            {
                *place = known;
            }
            allowed
        };
        Column::Each(column.cursor().take(len).enumerate().map(&mut one).collect())
    }

    fn is_counted(&self, source: KeySource) -> bool {
        let KeySource::Table(handle) = source else { return false };
        let opened = self.handles.get(handle as usize).and_then(Option::as_ref);
        opened.is_some_and(|opened| opened.rights.is_counted())
    }

    #[inline]
    fn allow(&mut self, source: KeySource, task: BatchTask, index: usize) -> KeySource {
        let KeySource::Table(handle) = source else { return source };
        if !has_key(task) {
            return KeySource::Table(0);
        }
        let Some(known) = self.known.get_mut(handle as usize) else {
            return self.deny(index, not_open(handle).into());
        };
        let at = known.iter().position(|(own, _)| *own == task).unwrap_or_else(|| {
            let name = name(&mut self.names, task);
            let (verdict, is_own) = verdict(self.handles[handle as usize].as_ref(), handle, name);
            self.uses_own |= is_own && verdict.is_ok();
            self.uses_resident |= !is_own && verdict.is_ok();
            known.push((task, verdict));
            known.len() - 1
        });
        match &known[at].1 {
            Ok((source, None)) => *source,
            Ok((source, Some(grant))) => match grant.take() {
                Ok(()) => *source,
                Err(denied) => self.deny(index, denial(denied, &task.to_string()).into()),
            },
            Err(fault) => {
                let fault = Arc::clone(fault);
                self.deny(index, fault)
            }
        }
    }

    fn deny(&mut self, index: usize, fault: Arc<Fault>) -> KeySource {
        self.denials.push((index, fault));
        KeySource::Table(NOWHERE)
    }
}

fn name(names: &mut Vec<(BatchTask, String)>, task: BatchTask) -> &str {
    let at = names.iter().position(|(known, _)| *known == task).unwrap_or_else(|| {
        names.push((task, task.to_string()));
        names.len() - 1
    });
    &names[at].1
}

/// What stands in a handle's place, and whether it is a key of the stream's own.
fn verdict(opened: Option<&Opened>, handle: u32, operation: &str) -> (Verdict, bool) {
    let Some(opened) = opened else { return (Err(not_open(handle).into()), false) };
    let grant = match opened.rights.allow(operation) {
        Ok(grant) => grant.filter(|grant| grant.is_counted()).cloned(),
        Err(denied) => return (Err(denial(denied, operation).into()), false),
    };
    match opened.source {
        Source::Resident(Resident::Symmetric(index)) => (Ok((KeySource::Table(index), grant)), false),
        Source::OwnSymmetric(index) => (Ok((Batch::outside_key(index), grant)), true),
        Source::Gone => {
            (Err(refusal(Code::NoSuchKey, "the server no longer has this key", Blame::Caller).into()), false)
        }
        Source::Another => (Err(another_key(&opened.name).into()), false),
        _ => (
            Err(refusal(Code::WrongKey, "this is an asymmetric key: it serves jobs", Blame::Caller).into()),
            false,
        ),
    }
}

pub(super) fn has_key(task: BatchTask) -> bool {
    !matches!(task, BatchTask::Do(Shape::Digest { .. } | Shape::DigestPart { .. }))
}
