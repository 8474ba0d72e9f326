//! What a batch of jobs leaves in the audit log.

use std::collections::HashMap;
use std::sync::Arc;

use oarlock::{Answers, Scheme};
use oarlock_wire::fault::code_of;
use oarlock_wire::jobs::Other;
use oarlock_wire::proto::Code;

use crate::audit::{Entry, now_ms};

/// Which job is of which key and scheme.
#[derive(Debug)]
pub(super) struct Trail {
    client: String,
    /// Key and scheme, by number.
    kinds: HashMap<u32, (Arc<str>, String)>,
    /// The number of each job of the submission.
    of_job: Vec<u32>,
    /// The numbers of the others, in the order of their places.
    of_other: Vec<u32>,
}

/// The number of jobs whose key the stream has not opened.
const UNKNOWN: u32 = u32::MAX;

impl Trail {
    pub(super) fn new(client: String) -> Self {
        Self { client, kinds: HashMap::new(), of_job: Vec::new(), of_other: Vec::new() }
    }

    /// The next job.
    pub(super) fn add<'k>(
        &mut self,
        kind: Option<u32>,
        is_submitted: bool,
        name: impl FnOnce(u32) -> Option<&'k (Arc<str>, Scheme)>,
    ) {
        let kind = kind.unwrap_or(UNKNOWN);
        let kinds = if is_submitted { &mut self.of_job } else { &mut self.of_other };
        kinds.push(kind);
        self.kinds.entry(kind).or_insert_with(|| match name(kind) {
            Some((key, scheme)) => (Arc::clone(key), scheme.to_string()),
            None => ("-".into(), "-".into()),
        });
    }

    /// One entry for each key, scheme and verdict.
    pub(super) fn entries(self, answers: &Answers, others: &[Other]) -> Vec<Entry> {
        let mut counts: HashMap<(u32, Code), u32> = HashMap::new();
        for (kind, answer) in self.of_job.iter().zip(answers.iter()) {
            let code = answer.as_ref().err().map_or(Code::Done, code_of);
            *counts.entry((*kind, code)).or_default() += 1;
        }
        for (kind, (_, other)) in self.of_other.iter().zip(others) {
            let code = other.as_ref().err().map_or(Code::Done, |fault| fault.code());
            *counts.entry((*kind, code)).or_default() += 1;
        }
        let time_ms = now_ms();
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_unstable_by_key(|((kind, code), _)| (*kind, *code as i32));
        let entry = |((kind, code), count): ((u32, Code), u32)| {
            let (key, operation) = self.kinds.get(&kind)?;
            let (client, key) = (self.client.clone(), key.to_string());
            let verdict = code.as_str_name();
            Some(Entry { time_ms, client, key, operation: operation.clone(), count, verdict })
        };
        counts.into_iter().filter_map(entry).collect()
    }
}
