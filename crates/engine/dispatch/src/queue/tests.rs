//! Order, turns, bounds and counts.

#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::cell::Cell;
use std::rc::Rc;

use super::*;

#[derive(Clone, Debug)]
struct Tag(u32, Rc<Cell<bool>>);

impl ItemOwner for Tag {
    fn is_live(&self) -> bool {
        self.1.get()
    }
}

fn item(tag: u32, tenant: u64, count: u32) -> QueueItem<Tag> {
    QueueItem {
        owner: Tag(tag, Rc::new(Cell::new(true))),
        first: 0,
        count,
        bytes: count * 10,
        is_whole: false,
        tenant,
        enqueued: u64::from(tag),
        due: u64::from(tag) + 100,
        attempts: 0,
    }
}

fn queue() -> JobQueue<Tag> {
    JobQueue::new(QueueKey::Engines(Shape::X25519), Vec::new(), crate::probe::ProbeState::All)
}

fn push(queue: &mut JobQueue<Tag>, item: QueueItem<Tag>) {
    queue.push(item, usize::MAX).unwrap();
}

fn tenant_live(queue: &JobQueue<Tag>, tenant: u64) -> usize {
    queue.live_of(tenant)
}

fn tags(items: &[QueueItem<Tag>]) -> Vec<(u32, u32, u32)> {
    items.iter().map(|item| (item.owner.0, item.first, item.count)).collect()
}

#[test]
fn items_are_cut_in_order_and_nothing_is_lost() {
    let mut queue = queue();
    push(&mut queue, item(1, 0, 5));
    push(&mut queue, item(2, 0, 5));
    assert_eq!(tags(&queue.take(8, QueueEnd::Oldest)), [(1, 0, 5), (2, 0, 3)]);
    assert_eq!((queue.live(), tenant_live(&queue, 0)), (2, 2));
    assert_eq!(tags(&queue.take(8, QueueEnd::Oldest)), [(2, 3, 2)]);
    assert!(queue.live() == 0 && queue.take(8, QueueEnd::Oldest).is_empty());
}

#[test]
fn a_noisy_tenant_does_not_crowd_out_a_quiet_one() {
    let mut queue = queue();
    push(&mut queue, item(1, 7, 1000));
    push(&mut queue, item(2, 8, 2));
    assert_eq!(tags(&queue.take(8, QueueEnd::Oldest)), [(1, 0, 4), (2, 0, 2), (1, 4, 2)]);
}

#[test]
fn the_newest_end_leaves_the_oldest() {
    let mut queue = queue();
    push(&mut queue, item(1, 0, 4));
    push(&mut queue, item(2, 0, 4));
    assert_eq!(tags(&queue.take(6, QueueEnd::Newest)), [(2, 0, 4), (1, 2, 2)]);
    assert_eq!(tags(&queue.take(6, QueueEnd::Oldest)), [(1, 0, 2)]);
}

#[test]
fn whole_items_are_not_cut() {
    let mut queue = queue();
    for tag in 1..=2 {
        push(&mut queue, QueueItem { is_whole: true, ..item(tag, 0, 5) });
    }
    assert_eq!(tags(&queue.take(8, QueueEnd::Oldest)), [(1, 0, 5)]);
    assert_eq!(tags(&queue.take(2, QueueEnd::Oldest)), [(2, 0, 5)]);
    assert_eq!(queue.live(), 0);
}

#[test]
fn a_large_whole_item_is_not_passed_over_for_ever() {
    let mut queue = queue();
    push(&mut queue, QueueItem { is_whole: true, ..item(1, 7, 2) });
    push(&mut queue, QueueItem { is_whole: true, ..item(2, 7, 2) });
    push(&mut queue, QueueItem { is_whole: true, ..item(3, 8, 100) });
    assert_eq!(tags(&queue.take(4, QueueEnd::Oldest)), [(1, 0, 2)]);
    push(&mut queue, QueueItem { is_whole: true, ..item(4, 7, 2) });
    assert_eq!(
        tags(&queue.take(4, QueueEnd::Oldest)),
        [(3, 0, 100)],
        "it is its turn, and its size does not matter"
    );
    assert_eq!(tags(&queue.take(8, QueueEnd::Oldest)), [(2, 0, 2), (4, 0, 2)]);
}

#[test]
fn forgotten_items_leave_the_count_at_once_and_are_skipped() {
    let mut queue = queue();
    let gone = item(1, 0, 5);
    push(&mut queue, gone.clone());
    push(&mut queue, item(2, 0, 1));
    gone.owner.1.set(false);
    queue.forget(0, 5, 50);
    assert_eq!((queue.live(), tenant_live(&queue, 0)), (1, 1));
    assert_eq!(tags(&queue.take(8, QueueEnd::Oldest)), [(2, 0, 1)]);
}

#[test]
fn each_tenant_has_its_own_bound() {
    let mut queue = queue();
    assert_eq!(queue.push(item(1, 0, 10), 4), Ok(()), "larger than the bound, but nothing waits");
    assert_eq!(queue.push(item(2, 0, 1), 4), Err(10));
    assert_eq!((queue.push(item(3, 1, 4), 4), queue.push(item(4, 1, 1), 4)), (Ok(()), Err(4)));
    assert_eq!(queue.live(), 14);
}

#[test]
fn each_tenant_has_its_own_due_time() {
    let mut queue = queue();
    push(&mut queue, item(5, 0, 1));
    push(&mut queue, QueueItem { due: 7, ..item(9, 1, 1) });
    assert_eq!((queue.due_of(0), queue.due_of(1), queue.due_of(2)), (Some(105), Some(7), None));
}

#[test]
fn a_batch_of_a_tenant_is_filled_with_items_of_others() {
    let mut queue = queue();
    push(&mut queue, item(1, 7, 1000));
    push(&mut queue, item(2, 8, 2));
    push(&mut queue, item(3, 9, 1000));
    let taken = queue.take_with_others(8, 8, |tenant| tenant == 9);
    assert_eq!(tags(&taken), [(2, 0, 2), (3, 0, 6)], "its own items come first, and tenant 7 may not join");
    assert_eq!(tags(&queue.take_with_others(7, 8, |_| true)), [(1, 0, 8)], "it fills all lanes itself");
    assert_eq!((queue.live(), queue.live_of(8)), (992 + 994, 0));
    assert!(queue.take_with_others(8, 8, |_| true).is_empty(), "a tenant without items gets no batch");
}

#[test]
#[cfg_attr(miri, ignore = "thousands of tenants take minutes there")]
fn tenants_without_items_leave_the_queue() {
    let mut queue = queue();
    for tenant in 0..10_000 {
        push(&mut queue, item(1, tenant, 1));
        assert_eq!(queue.take_with_others(tenant, 1, |_| true).len(), 1);
    }
    assert!(queue.tenants.len() <= IDLE_TENANTS + 2 && queue.ring.len() <= IDLE_TENANTS + 2);
}

#[derive(Clone, Debug)]
struct Long(u16);

impl ItemOwner for Long {
    fn is_live(&self) -> bool {
        true
    }

    fn shape(&self) -> Option<Shape> {
        Some(Shape::RsaPrivate { bits: self.0 })
    }
}

#[test]
fn lengths_of_one_class_do_not_share_a_batch() {
    let queue_key = QueueKey::from_shape(Shape::RsaPrivate { bits: 2047 });
    let mut queue = JobQueue::new(queue_key, Vec::new(), crate::probe::ProbeState::All);
    let long = |bits, tenant| {
        let QueueItem { first, bytes, is_whole, enqueued, due, attempts, .. } = item(0, 0, 3);
        QueueItem { owner: Long(bits), first, count: 3, bytes, is_whole, tenant, enqueued, due, attempts }
    };
    for (bits, tenant) in [(2047, 0), (2046, 0), (2046, 1), (2047, 1)] {
        queue.push(long(bits, tenant), usize::MAX).unwrap();
    }
    let lens = |items: Vec<QueueItem<Long>>| items.iter().map(|item| item.owner.0).collect::<Vec<_>>();
    assert_eq!(lens(queue.take_with_others(0, 8, |_| true)), [2047]);
    assert_eq!(
        lens(queue.take_with_others(0, 8, |_| true)),
        [2046, 2046],
        "the next item of another tenant joins"
    );
    assert_eq!(lens(queue.take(usize::MAX, QueueEnd::Oldest)), [2047]);
    assert!(queue.is_empty());
}
