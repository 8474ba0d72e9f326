//! Pieces of work on all threads, with results in order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// Runs `work` on each piece with `threads` threads, and gives the results to `take` in the order of the pieces.
///
/// # Errors
/// The first of `work` and `take`; the others then stop.
pub(super) fn run<P: Clone + Sync, T: Send, E: Send>(
    threads: usize,
    pieces: Vec<P>,
    work: impl Fn(P) -> Result<T, E> + Sync,
    mut take: impl FnMut(P, T) -> Result<(), E>,
) -> Result<(), E> {
    let next = AtomicUsize::new(0);
    let (work, all, next) = (&work, pieces.as_slice(), &next);
    std::thread::scope(|scope| {
        // The bound of the channel makes threads wait if too many results are not taken.
        let (sender, receiver) = mpsc::sync_channel(2 * threads);
        for _ in 0..threads.min(all.len()) {
            let sender = sender.clone();
            scope.spawn(move || {
                while let Some((index, piece)) = next_piece(all, next) {
                    if sender.send((index, work(piece))).is_err() {
                        return;
                    }
                }
            });
        }
        // Otherwise the loop below would wait for a sender that nobody uses.
        drop(sender);
        let mut waiting = BTreeMap::new();
        let mut taken = 0;
        for (index, done) in receiver {
            // An error leaves the loop and drops the receiver. Then the threads cannot send any more, and end.
            waiting.insert(index, done?);
            while let Some(done) = waiting.remove(&taken) {
                take(all[taken].clone(), done)?;
                taken += 1;
            }
        }
        Ok(())
    })
}

fn next_piece<P: Clone>(pieces: &[P], next: &AtomicUsize) -> Option<(usize, P)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    Some((index, pieces.get(index)?.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_in_the_order_of_the_pieces() {
        for threads in [1, 2, 7] {
            for count in [0, 1, 50] {
                let mut taken = Vec::new();
                let work = |piece: usize| Ok::<_, ()>(piece * 2);
                let result = run(threads, (0..count).collect(), work, |piece, done| {
                    taken.push((piece, done));
                    Ok(())
                });
                assert_eq!(result, Ok(()));
                assert_eq!(taken, (0..count).map(|piece| (piece, 2 * piece)).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn all_stop_at_an_error() {
        for threads in [1, 3] {
            let work = |piece: usize| if piece == 40 { Err("work") } else { Ok(piece) };
            assert_eq!(run(threads, (0..1000).collect(), work, |_, _| Ok(())), Err("work"));
            let take = |piece, _| if piece == 30 { Err("take") } else { Ok(()) };
            assert_eq!(run(threads, (0..1000).collect(), |piece: usize| Ok(piece), take), Err("take"));
        }
    }
}
