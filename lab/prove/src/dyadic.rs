//! Numbers `m 2^e` with integers m and e.

use std::cmp::Ordering;
use std::fmt;
use std::ops::{Add, Mul, Neg, Sub};

use num_bigint::{BigInt, Sign};
use num_integer::Integer;
use num_traits::{One, Zero};

/// A number `mantissa 2^exponent`. The mantissa is odd, or both are zero.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Dyadic {
    mantissa: BigInt,
    exponent: i64,
}

impl Dyadic {
    /// Returns `mantissa 2^exponent`.
    pub fn new(mantissa: impl Into<BigInt>, exponent: i64) -> Self {
        let mantissa = mantissa.into();
        let Some(zeros) = mantissa.trailing_zeros() else { return Self { mantissa, exponent: 0 } };
        Self { mantissa: mantissa >> zeros, exponent: exponent + zeros as i64 }
    }

    /// Returns an integer.
    pub fn integer(value: impl Into<BigInt>) -> Self {
        Self::new(value, 0)
    }

    /// Returns `2^exponent`.
    pub fn power(exponent: i64) -> Self {
        Self { mantissa: BigInt::one(), exponent }
    }

    /// Returns zero.
    pub fn zero() -> Self {
        Self::integer(0)
    }

    /// Returns true for zero.
    pub fn is_zero(&self) -> bool {
        self.mantissa.is_zero()
    }

    /// Returns true below zero.
    pub fn is_negative(&self) -> bool {
        self.mantissa.sign() == Sign::Minus
    }

    /// Returns the number of times that 2 divides the number; negative for a fraction. Zero has none.
    pub fn twos(&self) -> Option<i64> {
        (!self.is_zero()).then_some(self.exponent)
    }

    /// Multiplies by `2^by`.
    pub fn scaled(&self, by: i64) -> Self {
        Self::new(self.mantissa.clone(), self.exponent + by)
    }

    /// Rounds down to an integer.
    pub fn rounded_down(&self) -> BigInt {
        match u64::try_from(self.exponent) {
            Ok(shift) => &self.mantissa << shift,
            // The shift of a negative integer rounds down too.
            Err(_) => &self.mantissa >> self.exponent.unsigned_abs(),
        }
    }

    /// Returns the mantissa for an exponent that is not larger.
    fn mantissa_at(&self, exponent: i64) -> BigInt {
        &self.mantissa << (self.exponent - exponent).unsigned_abs()
    }

    /// Divides by another number, if the quotient is such a number again.
    pub fn divided(&self, by: &Self) -> Option<Self> {
        let (quotient, rest) = self.mantissa.div_rem(&by.mantissa);
        rest.is_zero().then(|| Self::new(quotient, self.exponent - by.exponent))
    }

    /// Returns true if an odd integer divides the number among such numbers.
    pub fn is_multiple_of(&self, odd: &BigInt) -> bool {
        self.mantissa.is_multiple_of(odd)
    }
}

impl Add for &Dyadic {
    type Output = Dyadic;

    fn add(self, other: Self) -> Dyadic {
        if self.is_zero() {
            return other.clone();
        }
        if other.is_zero() {
            return self.clone();
        }
        let exponent = self.exponent.min(other.exponent);
        Dyadic::new(self.mantissa_at(exponent) + other.mantissa_at(exponent), exponent)
    }
}

impl Neg for &Dyadic {
    type Output = Dyadic;

    fn neg(self) -> Dyadic {
        Dyadic { mantissa: -&self.mantissa, exponent: self.exponent }
    }
}

impl Sub for &Dyadic {
    type Output = Dyadic;

    fn sub(self, other: Self) -> Dyadic {
        self + &-other
    }
}

impl Mul for &Dyadic {
    type Output = Dyadic;

    fn mul(self, other: Self) -> Dyadic {
        Dyadic::new(&self.mantissa * &other.mantissa, self.exponent + other.exponent)
    }
}

impl Ord for Dyadic {
    fn cmp(&self, other: &Self) -> Ordering {
        (self - other).mantissa.cmp(&BigInt::zero())
    }
}

impl PartialOrd for Dyadic {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Dyadic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.exponent {
            0 => write!(f, "{}", self.mantissa),
            exponent => write!(f, "{} * 2^{exponent}", self.mantissa),
        }
    }
}
