//! Batches whose keys live with a holder.

use std::sync::Arc;

use oarlock_core::{Batch, HeldOutcomes, Holder, JobError, Key, KeyHome, Outcomes, Records, Shape, Status};

/// Computes records of one shape at a holder.
pub(super) fn run_records(
    holder: &dyn Holder,
    shape: Shape,
    records: &Records<'_>,
) -> Result<Outcomes, JobError> {
    let HeldOutcomes { outcomes, refusals } = run_batch(holder, &Batch::uniform(shape, records.borrowed()))?;
    // A refusal concerns the key and the operation, which the records share. Only a key that does not fit is the fault
    // of single records.
    let concerns_all = |index: u32| outcomes.statuses().get(index as usize) != Some(&Status::BadKey);
    match refusals.iter().find(|(index, _)| concerns_all(*index)) {
        Some((_, error)) => Err(JobError::clone(error)),
        None => Ok(outcomes),
    }
}

/// Computes a batch at a holder.
pub(super) fn run_batch(holder: &dyn Holder, batch: &Batch<'_>) -> Result<HeldOutcomes, JobError> {
    let held = holder.run_batch(batch)?;
    let expected = (batch.records.len, batch.records.output_len);
    if (held.outcomes.len(), held.outcomes.bytes().len()) != expected {
        let reason = "it has other outcomes than there are records".to_owned();
        return Err(JobError::HolderFailed { holder: holder.name().to_owned(), reason });
    }
    Ok(held)
}

/// Returns the holder of keys, or `None` if they are local. The first key decides.
///
/// Without holders, every key goes to the engines, which know held keys as unusable.
pub(super) fn find_holder<'h>(
    holders: &'h [Arc<dyn Holder>],
    keys: &[Key],
) -> Result<Option<&'h dyn Holder>, JobError> {
    let first = keys.first().filter(|_| !holders.is_empty());
    let Some(name) = first.and_then(holder_name) else { return Ok(None) };
    if keys.iter().any(|key| holder_name(key) != Some(name)) {
        return Err(JobError::Malformed { what: "records of one call have keys of several homes" });
    }
    let found = holders.iter().find(|holder| holder.name() == name);
    let missing =
        || JobError::HolderFailed { holder: name.to_owned(), reason: "there is no such holder".to_owned() };
    found.map(|holder| Some(&**holder)).ok_or_else(missing)
}

fn holder_name(key: &Key) -> Option<&str> {
    match key.home() {
        KeyHome::Held { holder, .. } => Some(holder),
        KeyHome::Local => None,
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use oarlock_core::{Completion, Fingerprint, KeyKind, MacAlg, OwnedJobs};
    use oarlock_keys::raw;

    use super::*;
    use crate::Accelerator;

    #[derive(Debug)]
    struct Refusing;

    impl Holder for Refusing {
        fn name(&self) -> &str {
            "server"
        }

        fn start(&self, _: OwnedJobs, _: Completion) {}

        fn run_batch(&self, batch: &Batch<'_>) -> Result<HeldOutcomes, JobError> {
            Err(JobError::HolderRefused {
                holder: "server".to_owned(),
                reason: batch.records.keys.len().to_string(),
            })
        }
    }

    #[test]
    fn records_go_where_their_keys_are() {
        let builder = Accelerator::builder().engines(["scalar"]).lazy();
        let accelerator = builder.holder(Arc::new(Refusing)).build().unwrap();
        let held = |holder| Key::held(KeyKind::Secret(16), holder, "k", None, Fingerprint::new([7; 32]));
        let local = || raw::secret(vec![1; 16]).unwrap();
        let shape = Shape::Mac { alg: MacAlg::Aes128Cmac };
        let run = |keys: Vec<Key>| {
            let mut outcomes = Outcomes::default();
            let records = Records { keys: Cow::Owned(keys), ..Records::default() };
            let answers = [
                accelerator.records().run(shape, &records).map(drop),
                accelerator.records().run_into(shape, &records, &mut outcomes),
            ];
            assert_eq!(answers[0], answers[1]);
            answers[0].clone()
        };
        assert_eq!(run(vec![local()]), Ok(()));
        let refused = run(vec![held("server"), held("server")]);
        assert!(matches!(refused, Err(JobError::HolderRefused { reason, .. }) if reason == "2"));
        assert!(matches!(run(vec![held("another")]), Err(JobError::HolderFailed { .. })));
        for mixed in [vec![held("server"), local()], vec![held("server"), held("another")]] {
            assert!(matches!(run(mixed), Err(JobError::Malformed { .. })));
        }
        let batch = Batch::uniform(shape, Records { keys: vec![local()].into(), ..Records::default() });
        assert!(matches!(accelerator.records().run_held(&batch), Err(JobError::Malformed { .. })));
    }
}
