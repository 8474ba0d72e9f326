//! Records whose keys live with a holder.

use std::fmt;
use std::sync::Arc;

use oarlock_core::{JobError, Key, KeyHome, Outcomes, Records, Shape};

/// A unit with symmetric keys of its own, such as a remote server. It is the counterpart of
/// [`Holder`](crate::engine_api::Holder) for records.
pub trait RecordHolder: fmt::Debug + Send + Sync {
    /// Returns the name that keys of this holder carry ([`KeyHome::Held`]).
    fn name(&self) -> &str;

    /// Computes records of one shape, and waits for them. All keys are this holder's.
    ///
    /// # Errors
    /// The holder failed or refused the records as a whole, or has no such shape. A bad record has a status and is no
    /// error.
    fn run_records(&self, shape: Shape, records: &Records<'_>) -> Result<Outcomes, JobError>;
}

/// Returns the holder of the keys of records, or `None` if they are local.
pub(super) fn find_holder<'h>(
    holders: &'h [Arc<dyn RecordHolder>],
    records: &Records<'_>,
) -> Result<Option<&'h dyn RecordHolder>, JobError> {
    // Without holders, every key goes to the engines, which know held keys as unusable.
    if holders.is_empty() {
        return Ok(None);
    }
    let Some(name) = records.keys.iter().find_map(holder_name) else { return Ok(None) };
    if records.keys.iter().any(|key| holder_name(key) != Some(name)) {
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

    use oarlock_core::{Fingerprint, KeyKind, MacAlg};
    use oarlock_keys::raw;

    use super::*;
    use crate::Accelerator;

    #[derive(Debug)]
    struct Refusing;

    impl RecordHolder for Refusing {
        fn name(&self) -> &str {
            "server"
        }

        fn run_records(&self, _: Shape, records: &Records<'_>) -> Result<Outcomes, JobError> {
            Err(JobError::HolderRefused {
                holder: "server".to_owned(),
                reason: records.keys.len().to_string(),
            })
        }
    }

    #[test]
    fn records_go_where_their_keys_are() {
        let builder = Accelerator::builder().engines(["scalar"]).lazy();
        let accelerator = builder.record_holder(Arc::new(Refusing)).build().unwrap();
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
    }
}
