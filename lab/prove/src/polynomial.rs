//! Polynomials with dyadic coefficients.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use num_bigint::BigInt;

use crate::dyadic::Dyadic;

/// The number of a variable.
pub type Variable = usize;

/// A product of variables, in ascending order. The empty product is 1.
pub type Monomial = Vec<Variable>;

/// A polynomial. Terms whose coefficient is zero are absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DyadicPolynomial(BTreeMap<Monomial, Dyadic>);

impl Hash for DyadicPolynomial {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for term in &self.0 {
            term.hash(state);
        }
    }
}

impl DyadicPolynomial {
    /// Returns a number.
    pub fn constant(number: Dyadic) -> Self {
        let mut polynomial = Self::default();
        polynomial.add_term(Monomial::new(), number);
        polynomial
    }

    /// Returns a variable.
    pub fn variable(variable: Variable) -> Self {
        let mut polynomial = Self::default();
        polynomial.add_term(vec![variable], Dyadic::integer(1));
        polynomial
    }

    /// Returns the terms.
    pub fn terms(&self) -> impl Iterator<Item = (&Monomial, &Dyadic)> {
        self.0.iter()
    }

    /// Returns the coefficient of a product of variables, unless it is zero.
    pub fn coefficient(&self, monomial: &Monomial) -> Option<&Dyadic> {
        self.0.get(monomial)
    }

    /// Returns the number, if there is no variable.
    pub fn as_constant(&self) -> Option<Dyadic> {
        match self.0.len() {
            0 => Some(Dyadic::zero()),
            1 => self.0.get(&Monomial::new()).cloned(),
            _ => None,
        }
    }

    /// Returns the variable, if there is nothing else.
    pub fn as_variable(&self) -> Option<Variable> {
        let mut terms = self.0.iter();
        match (terms.next(), terms.next()) {
            (Some((monomial, coefficient)), None) if *coefficient == Dyadic::integer(1) => {
                match monomial.as_slice() {
                    [variable] => Some(*variable),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn add_term(&mut self, monomial: Monomial, coefficient: Dyadic) {
        if coefficient.is_zero() {
            return;
        }
        match self.0.entry(monomial) {
            std::collections::btree_map::Entry::Vacant(entry) => {
                entry.insert(coefficient);
            }
            std::collections::btree_map::Entry::Occupied(mut entry) => {
                let sum = entry.get() + &coefficient;
                if sum.is_zero() {
                    entry.remove();
                } else {
                    entry.insert(sum);
                }
            }
        }
    }

    /// Returns the sum with `factor other`.
    pub fn plus(&self, factor: &Dyadic, other: &Self) -> Self {
        let mut sum = self.clone();
        for (monomial, coefficient) in &other.0 {
            sum.add_term(monomial.clone(), coefficient * factor);
        }
        sum
    }

    /// Returns the product with a number.
    pub fn times(&self, factor: &Dyadic) -> Self {
        Self::default().plus(factor, self)
    }

    /// Returns the product.
    pub fn product(&self, other: &Self) -> Self {
        let mut product = Self::default();
        for (left, a) in &self.0 {
            for (right, b) in &other.0 {
                let mut monomial = [left.as_slice(), right].concat();
                monomial.sort_unstable();
                product.add_term(monomial, a * b);
            }
        }
        product
    }

    /// Replaces a variable by a polynomial.
    pub fn replaced(&self, variable: Variable, by: &Self) -> Self {
        let mut result = Self::default();
        for (monomial, coefficient) in &self.0 {
            let mut term = Self::constant(coefficient.clone());
            let mut rest = Monomial::new();
            for factor in monomial {
                if *factor == variable {
                    term = term.product(by);
                } else {
                    rest.push(*factor);
                }
            }
            let mut others = Self::default();
            others.add_term(rest, Dyadic::integer(1));
            result = result.plus(&Dyadic::integer(1), &term.product(&others));
        }
        result
    }

    /// Returns the number of times that 2 divides every coefficient. Zero has none.
    pub fn twos(&self) -> Option<i64> {
        self.0.values().filter_map(Dyadic::twos).min()
    }

    /// Returns the polynomial without the coefficients that `2^bits` divides.
    pub fn modulo_power(&self, bits: u32) -> Self {
        let is_left = |coefficient: &Dyadic| coefficient.twos().is_some_and(|twos| twos < bits.into());
        let terms = self.0.iter().filter(|(_, coefficient)| is_left(coefficient));
        let reduced = terms.map(|(monomial, coefficient)| (monomial.clone(), reduced(coefficient, bits)));
        Self(reduced.filter(|(_, coefficient)| !coefficient.is_zero()).collect())
    }

    /// Returns the variables of all terms.
    pub fn variables(&self) -> impl Iterator<Item = Variable> {
        self.0.keys().flatten().copied()
    }

    /// Returns true if an odd integer divides every coefficient.
    pub fn is_multiple_of(&self, odd: &BigInt) -> bool {
        self.0.values().all(|coefficient| coefficient.is_multiple_of(odd))
    }

    /// Returns the term of the largest coefficient among those whose variables have a term in `other` too.
    pub fn leading(&self, other: &Self) -> Option<(&Monomial, &Dyadic)> {
        let size =
            |coefficient: &Dyadic| if coefficient.is_negative() { -coefficient } else { coefficient.clone() };
        let is_common = |monomial: &Monomial| !monomial.is_empty() && other.0.contains_key(monomial);
        let terms = self.0.iter().filter(|(monomial, _)| is_common(monomial));
        terms.max_by_key(|(_, coefficient)| size(coefficient))
    }
}

/// Returns an integer coefficient modulo `2^bits`; a fraction as it is.
fn reduced(coefficient: &Dyadic, bits: u32) -> Dyadic {
    if coefficient.twos().is_some_and(|twos| twos < 0) {
        return coefficient.clone();
    }
    let modulus = BigInt::from(1) << bits;
    let value = coefficient.rounded_down() % &modulus;
    Dyadic::integer((value + &modulus) % modulus)
}
