//! Records in chunks. Reading them by itself, and then computing them, keeps the loops of both in registers.

/// The records of a chunk. Their keys and data fit into the first-level cache.
pub(super) const CHUNK: usize = 32;

/// Calls `compute` with the records of `next`, up to [`CHUNK`] at a time.
#[inline(always)]
pub(super) fn each<R: Copy>(idle: R, mut next: impl FnMut() -> Option<R>, mut compute: impl FnMut(&[R])) {
    let mut records = [idle; CHUNK];
    loop {
        let mut count = 0;
        while let Some(slot) = records.get_mut(count)
            && let Some(record) = next()
        {
            *slot = record;
            count += 1;
        }
        if count == 0 {
            return;
        }
        compute(&records[..count]);
    }
}
