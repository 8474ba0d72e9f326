//! The records that may run, and the key of each record in the table that the batch uses.

use std::sync::Arc;

use oarlock::{Column, KeySource, Shape};
use oarlock_keytable::{Batch, BatchTask, KeyTable};
use oarlock_wire::proto::{Blame, Code, Fault};
use smallvec::SmallVec;

use super::translation::TranslationJudge;
use crate::keyring::{ActiveGrant, ClientRights, ResidentKey};
use crate::session::admitted::Permitted;
use crate::session::faults::{denial, not_open, older_key, refusal, removed_key, replaced_key};
use crate::session::opened_key::{OpenedKey, OpenedSource};

/// The records that the grants of their keys do not allow, in order.
pub(super) type Denials = Vec<(usize, Arc<Fault>)>;

/// An index that no table has: a record under it fails alone.
const NO_KEY: u32 = (1 << 31) - 1;

/// The mark of a handle without a decision. No table has this index either.
const UNDECIDED: u32 = u32::MAX;

/// The records of a batch that may run.
pub(super) struct AuthorizedRecords<'b> {
    /// The batch with keys in place of handles.
    pub(super) batch: Batch<'b>,
    /// True if all keys are the stream's own, by their index in its table. Otherwise they are the server's, and own
    /// keys in the same batch are outside keys.
    pub(super) is_own: bool,
}

/// Replaces handles by keys of `table`. If no grant allows the task, or what it amounts to, the key becomes one that no
/// table has. If `verifies` is true, older versions of keys may make codes.
pub(super) fn authorize_records<'b>(
    handles: &[Option<OpenedKey>],
    table: &KeyTable,
    verifies: bool,
    mut batch: Batch<'b>,
) -> (Permitted<AuthorizedRecords<'b>>, Denials) {
    let mut authorizer = RecordAuthorizer::new(handles, verifies);
    let (tasks, len) = (batch.task.borrowed(), batch.records.len);
    let key = authorizer.authorize_column(&batch.records.key, &tasks, len);
    let mut columns = vec![key];
    // One task of all records is looked at once.
    let tasks_len = if matches!(tasks, Column::One(_)) { len.min(1) } else { len };
    if tasks.cursor().take(tasks_len).any(BatchTask::has_second_key) {
        columns.push(authorizer.authorize_second(&batch.records.second_key, &tasks, len));
        let keys = [&batch.records.key, &batch.records.second_key];
        let denials = TranslationJudge::new(handles, table).denials(keys, &tasks, len);
        if !denials.is_empty() {
            let mut allowed: Vec<KeySource> = columns[0].cursor().take(len).collect();
            denials.iter().for_each(|(index, _)| allowed[*index] = KeySource::Table(NO_KEY));
            columns[0] = Column::Each(allowed.into());
            authorizer.denials.extend(denials);
        }
        // A record may be denied for several reasons, and its answer has space for one.
        authorizer.denials.sort_by_key(|(index, _)| *index);
        authorizer.denials.dedup_by_key(|(index, _)| *index);
    }
    let is_own = authorizer.uses_own && !authorizer.uses_resident;
    let mut columns = columns.into_iter().map(|column| if is_own { own_indices(column) } else { column });
    if let Some(key) = columns.next() {
        batch.records.key = key;
    }
    if let Some(second) = columns.next() {
        batch.records.second_key = second;
    }
    let is_any = authorizer.denials.len() < len;
    (Permitted::new(AuthorizedRecords { batch, is_own }, is_any), authorizer.denials)
}

/// Returns outside keys as indices of the stream's own table.
fn own_indices(column: Column<'static, KeySource>) -> Column<'static, KeySource> {
    let own_index = |source| match (source, Batch::outside_key(0)) {
        (KeySource::Table(index), KeySource::Table(first)) if index >= first => {
            KeySource::Table(index - first)
        }
        (other, _) => other,
    };
    match column {
        Column::One(source) => Column::One(own_index(source)),
        each => Column::Each(each.cursor().map(own_index).collect()),
    }
}

struct RecordAuthorizer<'s> {
    handles: &'s [Option<OpenedKey>],
    verifies: bool,
    /// The decisions by handle, for each task. Most batches have one task and many keys, so neither tasks nor their
    /// names are allocated for each key.
    known: Vec<SmallVec<[(BatchTask, KeyDecision); 1]>>,
    /// The tasks of the batch with the names that grants have for them.
    names: Vec<(BatchTask, String)>,
    denials: Denials,
    uses_resident: bool,
    uses_own: bool,
}

/// The key that replaces a handle and the grant whose rate counts it, or the reason for a denial.
type KeyDecision = Result<(KeySource, Option<Arc<ActiveGrant>>), Arc<Fault>>;

impl<'s> RecordAuthorizer<'s> {
    fn new(handles: &'s [Option<OpenedKey>], verifies: bool) -> Self {
        let known = std::iter::repeat_with(SmallVec::new).take(handles.len()).collect();
        Self {
            handles,
            verifies,
            known,
            names: Vec::new(),
            denials: Vec::new(),
            uses_resident: false,
            uses_own: false,
        }
    }

    fn authorize_column(
        &mut self,
        column: &Column<'_, KeySource>,
        tasks: &Column<'_, BatchTask>,
        len: usize,
    ) -> Column<'static, KeySource> {
        if let (Column::One(source), Column::One(task)) = (column, tasks)
            // A counted grant must be charged once per record, so its column is decided record by record.
            && !self.is_counted(*source)
        {
            // One decision for all records.
            let before = self.denials.len();
            let key = self.authorize(*source, *task, 0);
            if let Some((_, fault)) = self.denials.get(before).cloned() {
                self.denials.extend((1..len).map(|index| (index, fault.clone())));
            }
            return Column::One(key);
        }
        if let Column::One(task) = tasks {
            return self.authorize_column_of_one_task(column, *task, len);
        }
        let each = column.cursor().zip(tasks.cursor()).take(len).enumerate();
        Column::Each(each.map(|(index, (source, task))| self.authorize(source, task, index)).collect())
    }

    /// Authorizes the second keys of translations. Other records have none, and what stands there is ignored.
    fn authorize_second(
        &mut self,
        column: &Column<'_, KeySource>,
        tasks: &Column<'_, BatchTask>,
        len: usize,
    ) -> Column<'static, KeySource> {
        if matches!(tasks, Column::One(_)) {
            return self.authorize_column(column, tasks, len);
        }
        let each = column.cursor().zip(tasks.cursor()).take(len).enumerate();
        let key = |(index, (source, task)): (usize, (KeySource, BatchTask))| match task.has_second_key() {
            true => self.authorize(source, task, index),
            false => KeySource::Table(NO_KEY),
        };
        Column::Each(each.map(key).collect())
    }

    /// Authorizes a column of records with one task. A handle that is allowed, and that no grant counts, has the same
    /// key wherever it occurs.
    fn authorize_column_of_one_task(
        &mut self,
        column: &Column<'_, KeySource>,
        task: BatchTask,
        len: usize,
    ) -> Column<'static, KeySource> {
        // One load per record: batches of a hundred thousand records with thousands of keys are common.
        let mut indices = self.own_keys_for(task);
        let mut authorize_one = |(index, source)| {
            let KeySource::Table(handle) = source else { return source };
            match indices.get(handle as usize) {
                Some(&known) if known != UNDECIDED => {
                    self.uses_own |= known >= Batch::FIRST_OUTSIDE;
                    return KeySource::Table(known);
                }
                _ => {}
            }
            let before = self.denials.len();
            let allowed = self.authorize(source, task, index);
            if let (KeySource::Table(known), true) =
                (allowed, self.denials.len() == before && !self.is_counted(source))
                && let Some(decided) = indices.get_mut(handle as usize)
            {
                *decided = known;
            }
            allowed
        };
        match column {
            Column::Each(sources) => {
                let sources = sources.iter().copied().take(len);
                Column::Each(sources.enumerate().map(&mut authorize_one).collect())
            }
            _ => Column::Each(column.cursor().take(len).enumerate().map(&mut authorize_one).collect()),
        }
    }

    /// Returns the decisions by handle that are known at once: symmetric keys that the client has brought may be used
    /// for every task with a key. Streams bring thousands of them, and each batch decides anew.
    fn own_keys_for(&self, task: BatchTask) -> Vec<u32> {
        let own_index = |opened: &Option<OpenedKey>| match opened {
            Some(OpenedKey {
                source: OpenedSource::OwnSymmetric(index), rights: ClientRights::Own, ..
            }) if task.has_key() => match Batch::outside_key(*index) {
                KeySource::Table(known) => known,
                KeySource::Slot(_) => UNDECIDED,
            },
            _ => UNDECIDED,
        };
        self.handles.iter().map(own_index).collect()
    }

    fn is_counted(&self, source: KeySource) -> bool {
        let KeySource::Table(handle) = source else { return false };
        let opened = self.handles.get(handle as usize).and_then(Option::as_ref);
        opened.is_some_and(|opened| opened.rights.is_counted())
    }

    #[inline]
    fn authorize(&mut self, source: KeySource, task: BatchTask, index: usize) -> KeySource {
        let KeySource::Table(handle) = source else { return source };
        if !task.has_key() {
            // A digest has no key, so its handle is not looked at.
            return KeySource::Table(0);
        }
        let Some(known) = self.known.get_mut(handle as usize) else {
            return self.deny(index, not_open(handle).into());
        };
        let at = known.iter().position(|(known_task, _)| *known_task == task).unwrap_or_else(|| {
            let name = task_name(&mut self.names, task);
            let opened = self.handles[handle as usize].as_ref();
            let (decision, is_own) = match opened {
                Some(opened) if opened.is_older && makes_codes(task) && !self.verifies => {
                    (Err(older_key(&opened.name).into()), false)
                }
                // Who may make codes may verify them.
                _ if makes_codes(task) && self.verifies => decide(opened, handle, &[name, &verifying(task)]),
                _ => decide(opened, handle, &[name]),
            };
            // Denied records run under NO_KEY and do not decide which table the batch uses.
            self.uses_own |= is_own && decision.is_ok();
            self.uses_resident |= !is_own && decision.is_ok();
            known.push((task, decision));
            known.len() - 1
        });
        match &known[at].1 {
            Ok((source, None)) => *source,
            Ok((source, Some(grant))) => match grant.take() {
                Ok(()) => *source,
                Err(reason) => self.deny(index, denial(reason, &task.to_string()).into()),
            },
            Err(fault) => {
                let fault = Arc::clone(fault);
                self.deny(index, fault)
            }
        }
    }

    fn deny(&mut self, index: usize, fault: Arc<Fault>) -> KeySource {
        self.denials.push((index, fault));
        KeySource::Table(NO_KEY)
    }
}

fn task_name(names: &mut Vec<(BatchTask, String)>, task: BatchTask) -> &str {
    let at = names.iter().position(|(known, _)| *known == task).unwrap_or_else(|| {
        names.push((task, task.to_string()));
        names.len() - 1
    });
    &names[at].1
}

/// True if a task makes message authentication codes.
fn makes_codes(task: BatchTask) -> bool {
    matches!(task, BatchTask::Do(Shape::Mac { .. }))
}

/// Returns the name of the verification of the codes that a task makes.
fn verifying(task: BatchTask) -> String {
    format!("{task}-verify")
}

/// Returns the name of a task for grants and the audit log. If `verifies` is true, codes are only compared.
pub(super) fn operation_name(task: BatchTask, verifies: bool) -> String {
    if verifies && makes_codes(task) { verifying(task) } else { task.to_string() }
}

/// Returns the decision about a handle, and true if its key is the stream's own. One of the operations must be granted.
fn decide(opened: Option<&OpenedKey>, handle: u32, operations: &[&str]) -> (KeyDecision, bool) {
    let Some(opened) = opened else { return (Err(not_open(handle).into()), false) };
    let mut grants = operations
        .iter()
        .map(|operation| opened.rights.allow(operation).map_err(|reason| denial(reason, operation)));
    let first = grants.next().unwrap_or(Ok(None));
    let grant = match grants.fold(first, Result::or) {
        Ok(grant) => grant.filter(|grant| grant.is_counted()).cloned(),
        Err(fault) => return (Err(fault.into()), false),
    };
    match opened.source {
        OpenedSource::Resident(ResidentKey::Symmetric(index)) => {
            (Ok((KeySource::Table(index), grant)), false)
        }
        OpenedSource::OwnSymmetric(index) => (Ok((Batch::outside_key(index), grant)), true),
        OpenedSource::Removed => (Err(removed_key().into()), false),
        OpenedSource::Replaced => (Err(replaced_key(&opened.name).into()), false),
        _ => {
            let message = "this is an asymmetric key: use it for jobs";
            (Err(refusal(Code::WrongKey, message, Blame::Caller).into()), false)
        }
    }
}
