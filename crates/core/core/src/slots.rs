//! Secret slots: results that later records read and no caller sees.

use std::fmt;

use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::Span;

/// Secret results that stay in memory of the engines. Each slot has a fixed place, and all of them are zeroized on
/// drop.
#[derive(Clone, Default)]
pub struct SecretSlots {
    // Never grows: a reallocation would leave a copy of the secrets in freed memory.
    arena: Zeroizing<Vec<u8>>,
    spans: Vec<Span>,
    /// The bytes in use, or `None` if nothing has filled the slot.
    filled: Vec<Option<u32>>,
}

impl SecretSlots {
    /// Creates empty slots of these capacities, or returns `None` if they exceed 4 GiB together.
    #[must_use]
    pub fn with_capacities(capacities: &[u32]) -> Option<Self> {
        let mut spans = Vec::with_capacity(capacities.len());
        let mut end = 0;
        for capacity in capacities {
            spans.push(Span::new(end, *capacity as usize)?);
            end += *capacity as usize;
        }
        Some(Self { arena: Zeroizing::new(vec![0; end]), filled: vec![None; spans.len()], spans })
    }

    /// Returns the number of slots.
    #[must_use]
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// True if there is no slot.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Returns the number of bytes that fit into a slot, or `None` if there is no such slot.
    #[must_use]
    pub fn capacity(&self, slot: u32) -> Option<usize> {
        self.spans.get(slot as usize).map(|span| span.len as usize)
    }

    /// Returns the secret in a slot, or `None` if nothing has filled it.
    #[must_use]
    #[inline]
    pub fn get(&self, slot: u32) -> Option<&[u8]> {
        let len = (*self.filled.get(slot as usize)?)?;
        Span { len, ..*self.spans.get(slot as usize)? }.slice(&self.arena)
    }

    /// Marks `len` bytes of a slot as filled and returns them for writing, or `None` if they do not fit.
    pub fn fill(&mut self, slot: u32, len: usize) -> Option<&mut [u8]> {
        let span = *self.spans.get(slot as usize)?;
        let len = u32::try_from(len).ok().filter(|len| *len <= span.len)?;
        self.filled[slot as usize] = Some(len);
        Span { len, ..span }.slice_mut(&mut self.arena)
    }

    /// Zeroizes a slot and marks it as unfilled.
    pub fn clear(&mut self, slot: u32) {
        if let Some(bytes) = self.spans.get(slot as usize).and_then(|span| span.slice_mut(&mut self.arena)) {
            zeroize::Zeroize::zeroize(bytes);
            self.filled[slot as usize] = None;
        }
    }

    /// Returns slots of the same spans, all unfilled.
    #[must_use]
    pub fn emptied(&self) -> Self {
        Self {
            arena: Zeroizing::new(vec![0; self.arena.len()]),
            filled: vec![None; self.spans.len()],
            spans: self.spans.clone(),
        }
    }

    /// Copies every slot that `other` has filled.
    pub fn merge(&mut self, other: &Self) {
        for slot in (0..).take(other.len()) {
            if let Some(secret) = other.get(slot)
                && let Some(out) = self.fill(slot, secret.len())
            {
                out.copy_from_slice(secret);
            }
        }
    }
}

/// Compares secrets in constant time. The number of bytes in use is public.
impl PartialEq for SecretSlots {
    fn eq(&self, other: &Self) -> bool {
        let is_same = |slot| match (self.get(slot), other.get(slot)) {
            // Engines are compared by this. An early exit would reveal how many bytes of a secret agree.
            (Some(ours), Some(theirs)) => ours.ct_eq(theirs).into(),
            (ours, theirs) => ours.is_none() && theirs.is_none(),
        };
        self.spans == other.spans && (0..).take(self.len()).all(is_same)
    }
}

impl Eq for SecretSlots {}

impl fmt::Debug for SecretSlots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Slots({} of {} filled)", self.filled.iter().flatten().count(), self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_keep_their_places_and_forget_when_cleared() {
        let mut slots = SecretSlots::with_capacities(&[4, 8]).unwrap();
        assert!(slots.get(1).is_none() && slots.fill(1, 9).is_none() && slots.fill(2, 1).is_none());
        slots.fill(1, 3).unwrap().copy_from_slice(&[1, 2, 3]);
        let mut other = slots.emptied();
        other.merge(&slots);
        assert_eq!(other.get(1), Some(&[1, 2, 3][..]));
        other.clear(1);
        assert!(other.get(1).is_none() && other.arena.iter().all(|byte| *byte == 0));
    }
}
