//! The effects of translations: a client that can use one of the two keys by itself gets plaintexts of the other, or
//! encrypts under it.

use std::collections::HashMap;
use std::sync::Arc;

use oarlock::{BlockCipher, Column, KeySource, Shape};
use oarlock_keytable::{BatchTask, KeyAlgorithm, KeyOperation, KeyTable};
use oarlock_wire::proto::{Blame, Code, Fault};

use super::authorize::Denials;
use crate::keyring::ResidentKey;
use crate::session::faults::refusal;
use crate::session::opened_key::{OpenedKey, OpenedSource};

/// The operations that a client can do with data under one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct KeyReach {
    encrypts: bool,
    decrypts: bool,
}

/// The reach of a client that has the key, or of a batch that unwrapped it.
const WHOLE_REACH: KeyReach = KeyReach { encrypts: true, decrypts: true };

/// The keys of a translation, by handle or slot, and its task.
type Translation = (KeySource, KeySource, BatchTask);

/// Finds translations whose effect is an operation that the client may not do.
///
/// A translation from `first` to `second` decrypts `first` for a client that can decrypt under `second`. It encrypts
/// under `second` for a client that can encrypt under `first`. In both cases the client needs the same right to the
/// other key.
pub(super) struct TranslationJudge<'s> {
    handles: &'s [Option<OpenedKey>],
    table: &'s KeyTable,
    known: HashMap<(u32, BlockCipher), KeyReach>,
    /// The last verdict: neighbours are mostly alike.
    last: Option<(Translation, Option<Arc<Fault>>)>,
}

impl<'s> TranslationJudge<'s> {
    pub(super) fn new(handles: &'s [Option<OpenedKey>], table: &'s KeyTable) -> Self {
        Self { handles, table, known: HashMap::new(), last: None }
    }

    /// Returns the translations that are refused, in order. The columns name keys by handle.
    pub(super) fn denials(
        mut self,
        [first, second]: [&Column<'_, KeySource>; 2],
        tasks: &Column<'_, BatchTask>,
        len: usize,
    ) -> Denials {
        let records = first.cursor().zip(second.cursor()).zip(tasks.cursor()).take(len).enumerate();
        records
            .filter_map(|(index, ((first, second), task))| Some((index, self.judge((first, second, task))?)))
            .collect()
    }

    fn judge(&mut self, translation: Translation) -> Option<Arc<Fault>> {
        if let Some((last, verdict)) = &self.last
            && *last == translation
        {
            return verdict.clone();
        }
        let verdict = self.refusal(translation).map(Arc::new);
        self.last = Some((translation, verdict.clone()));
        verdict
    }

    fn refusal(&mut self, (first, second, task): Translation) -> Option<Fault> {
        let BatchTask::Do(Shape::Translate { from, to }) = task else { return None };
        let (reach, other) = (self.reach(first, from.alg), self.reach(second, to.alg));
        let (key, operation, verb) = if other.decrypts && !reach.decrypts {
            (first, BatchTask::decrypt(from.alg), "decrypt")
        } else if reach.encrypts && !other.encrypts {
            (second, BatchTask::encrypt(to.alg), "encrypt")
        } else {
            return None;
        };
        let message = format!(
            "{task}: this client can {verb} under the other key, so it needs the right to {operation} with {:?}, which its \
             grants or the policy of the key do not give",
            self.name(key)
        );
        Some(refusal(Code::PermissionDenied, &message, Blame::Caller))
    }

    fn reach(&mut self, key: KeySource, cipher: BlockCipher) -> KeyReach {
        match key {
            // The keys of the server unwrap none, so a key of the client did.
            KeySource::Slot(_) => WHOLE_REACH,
            KeySource::Table(handle) => match self.known.get(&(handle, cipher)) {
                Some(known) => *known,
                None => {
                    let reach = self.reach_of_handle(handle, cipher);
                    self.known.insert((handle, cipher), reach);
                    reach
                }
            },
        }
    }

    fn reach_of_handle(&self, handle: u32, cipher: BlockCipher) -> KeyReach {
        let none = KeyReach { encrypts: false, decrypts: false };
        let Some(opened) = self.opened(handle) else { return none };
        let policy = match opened.source {
            OpenedSource::OwnSymmetric(_) => return WHOLE_REACH,
            OpenedSource::Resident(ResidentKey::Symmetric(index)) => self.table.info(index),
            _ => None,
        };
        let Some(policy) = policy.map(|info| info.policy) else { return none };
        let may = |operation, task: BatchTask| {
            policy.allows(operation, KeyAlgorithm::Cbc) && opened.rights.allow(&task.to_string()).is_ok()
        };
        KeyReach {
            encrypts: may(KeyOperation::Encrypt, BatchTask::encrypt(cipher)),
            decrypts: may(KeyOperation::Decrypt, BatchTask::decrypt(cipher)),
        }
    }

    fn opened(&self, handle: u32) -> Option<&'s OpenedKey> {
        self.handles.get(handle as usize)?.as_ref()
    }

    fn name(&self, key: KeySource) -> &str {
        match key {
            KeySource::Table(handle) => self.opened(handle).map_or("-", |opened| &*opened.name),
            KeySource::Slot(_) => "slot",
        }
    }
}
