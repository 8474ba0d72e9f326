//! Closed intervals.

use std::fmt;

use num_bigint::BigInt;

use crate::dyadic::Dyadic;

/// All numbers from `low` to `high`. It is empty if `low` is above `high`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The lowest number.
    pub low: Dyadic,
    /// The highest number.
    pub high: Dyadic,
}

impl Interval {
    /// Returns the numbers from `low` to `high`.
    pub fn new(low: Dyadic, high: Dyadic) -> Self {
        Self { low, high }
    }

    /// Returns one number.
    pub fn point(number: Dyadic) -> Self {
        Self::new(number.clone(), number)
    }

    /// Returns the integers from 0 to `2^bits - 1`.
    pub fn bits(bits: u32) -> Self {
        Self::below(&Dyadic::power(bits.into()))
    }

    /// Returns the integers from 0 to `end - 1`.
    pub fn below(end: &Dyadic) -> Self {
        Self::new(Dyadic::zero(), end - &Dyadic::integer(1))
    }

    /// Returns the integers from `-2^bits` to `2^bits - 1`.
    pub fn signed(bits: u32) -> Self {
        let end = Dyadic::power(bits.into());
        Self::new(-&end, &end - &Dyadic::integer(1))
    }

    /// Returns the sums.
    pub fn plus(&self, other: &Self) -> Self {
        Self::new(&self.low + &other.low, &self.high + &other.high)
    }

    /// Returns the products with a number.
    pub fn times(&self, factor: &Dyadic) -> Self {
        let (a, b) = (&self.low * factor, &self.high * factor);
        if factor.is_negative() { Self::new(b, a) } else { Self::new(a, b) }
    }

    /// Returns the products.
    pub fn product(&self, other: &Self) -> Self {
        let corners = [
            &self.low * &other.low,
            &self.low * &other.high,
            &self.high * &other.low,
            &self.high * &other.high,
        ];
        let low = corners.iter().min().cloned().unwrap_or_else(Dyadic::zero);
        let high = corners.into_iter().max().unwrap_or_else(Dyadic::zero);
        Self::new(low, high)
    }

    /// Returns the common numbers.
    pub fn common(&self, other: &Self) -> Self {
        Self::new((&self.low).max(&other.low).clone(), (&self.high).min(&other.high).clone())
    }

    /// Returns true if every number is in `other`.
    pub fn is_within(&self, other: &Self) -> bool {
        other.low <= self.low && self.high <= other.high
    }

    /// Returns true if there is no number.
    pub fn is_empty(&self) -> bool {
        self.high < self.low
    }

    /// Returns the quotients by `2^bits`, rounded down.
    pub fn quotients(&self, bits: u32) -> Self {
        let shift = -i64::from(bits);
        let quotient = |number: &Dyadic| Dyadic::integer(number.scaled(shift).rounded_down());
        Self::new(quotient(&self.low), quotient(&self.high))
    }

    /// Returns the only number, if there is one.
    pub fn only(&self) -> Option<&Dyadic> {
        (self.low == self.high).then_some(&self.low)
    }

    /// Returns the integers in the interval, if they are few.
    pub fn few(&self) -> Option<Vec<BigInt>> {
        let (mut number, high) = (self.low.rounded_down(), self.high.rounded_down());
        let mut all = Vec::new();
        while number <= high {
            all.push(number.clone());
            number += 1;
            if all.len() > 2 {
                return None;
            }
        }
        Some(all)
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, {}]", self.low, self.high)
    }
}
