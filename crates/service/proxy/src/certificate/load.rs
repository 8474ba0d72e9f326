//! Loading a whole table, by all cores.

use std::collections::HashMap;
use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::directory::{CertificateFiles, CertificateSource, list_certificates};
use super::error::{CertificateFault, CertificateTableError};
use super::keys::CertificateKeySources;
use super::read::CertificateEntry;
use super::{CertificateTable, UnknownNamePolicy};

/// The number of files that a thread takes at a time.
const CHUNK: usize = 16;

type EntryResult = Result<Arc<CertificateEntry>, CertificateFault>;

impl CertificateTable {
    /// Reads the certificates of a directory. Certificates of `before` whose files have not changed are not read again.
    ///
    /// # Errors
    /// All faults that were found: a table with a fault is not used.
    pub fn load(
        source: &CertificateSource,
        default: Option<&str>,
        unknown: UnknownNamePolicy,
        sources: &CertificateKeySources,
        before: Option<&Self>,
    ) -> Result<Self, CertificateTableError> {
        let listing = list_certificates(source)?;
        let known: HashMap<&Path, &Arc<CertificateEntry>> = before
            .iter()
            .flat_map(|table| table.entries())
            .map(|entry| (entry.files.chain(), entry))
            .collect();
        let read = |files: &CertificateFiles| match known.get(files.chain()) {
            Some(entry) if entry.files == *files => Ok(Arc::clone(entry)),
            _ => CertificateEntry::read(files.clone(), sources).map(Arc::new),
        };
        let (mut entries, mut faults) = (Vec::with_capacity(listing.len()), Vec::new());
        for result in read_in_parallel(&listing, &read) {
            match result {
                Ok(entry) => entries.push(entry),
                Err(fault) => faults.push(fault),
            }
        }
        if !faults.is_empty() {
            return Err(CertificateTableError { faults });
        }
        Ok(Self::build(entries, default, unknown)?)
    }
}

/// Reads all files, and returns the results in the order of the files.
fn read_in_parallel(
    listing: &[CertificateFiles],
    read: &(impl Fn(&CertificateFiles) -> EntryResult + Sync),
) -> Vec<EntryResult> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(listing.len()));
    let work = || {
        loop {
            let start = next.fetch_add(CHUNK, Ordering::Relaxed);
            let Some(rest) = listing.get(start..).filter(|rest| !rest.is_empty()) else { return };
            let read: Vec<(usize, EntryResult)> = (start..).zip(rest.iter().take(CHUNK).map(read)).collect();
            results.lock().unwrap_or_else(PoisonError::into_inner).extend(read);
        }
    };
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(listing.len().div_ceil(CHUNK));
    thread::scope(|scope| {
        for _ in 1..threads {
            // Without a thread there is one helper less.
            let _ = thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}
