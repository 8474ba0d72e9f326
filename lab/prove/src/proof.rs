//! The proof of a statement about a kernel.

use oarlock_lanes::prove::RecordedKernel;

use crate::analysis::{Analysis, Cases, ProofError, Stop, Word};
use crate::dyadic::Dyadic;
use crate::interval::Interval;
use crate::polynomial::DyadicPolynomial;
use crate::statement::{Expected, LIMB_BITS, Number, Statement};

/// The cases that a proof has looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Proved {
    /// The cases that occur.
    pub cases: usize,
    /// The cases that were found to be impossible.
    pub impossible: usize,
}

/// Proves a statement about a kernel, in every case.
///
/// # Errors
/// An instruction may lose something, or the result is not as stated.
pub fn prove(kernel: &RecordedKernel, statement: &Statement) -> Result<Proved, ProofError> {
    let (mut cases, mut proved) = (Cases::default(), Proved::default());
    loop {
        match prove_case(kernel, statement, &mut cases) {
            Ok(()) => proved.cases += 1,
            Err(Stop::Impossible) => proved.impossible += 1,
            Err(Stop::Error(error)) => return Err(error),
        }
        if !cases.advance() {
            return if proved.cases > 0 { Ok(proved) } else { Err(ProofError::NoInput) };
        }
    }
}

fn prove_case(kernel: &RecordedKernel, statement: &Statement, cases: &mut Cases) -> Result<(), Stop> {
    let has_shape = kernel.inputs.len() == statement.inputs.len()
        && kernel.inputs.iter().zip(&statement.inputs).all(|(ids, number)| ids.len() == number.limbs.len())
        && kernel.output.len() == statement.limbs.len();
    if !has_shape {
        return Err(ProofError::Shape.into());
    }
    let mut analysis = Analysis::new(&kernel.instructions, cases, statement.splits_carries);
    let mut values = Vec::new();
    for (ids, number) in kernel.inputs.iter().zip(&statement.inputs) {
        values.push(set_number(&mut analysis, ids, number)?);
    }
    let one = Dyadic::integer(1);
    let expected = match (statement.expected, values.as_slice()) {
        (Expected::Same, [a]) => a.clone(),
        (Expected::Product, [a, b]) => a.product(b),
        (Expected::Square, [a]) => a.product(a),
        (Expected::Times(number), [a]) => a.times(&Dyadic::integer(number)),
        (Expected::Difference, [a, b]) => a.plus(&-&one, b),
        (Expected::ProductPlus, [a, b, c]) => a.product(b).plus(&Dyadic::power(statement.scale), c),
        _ => return Err(ProofError::Shape.into()),
    };
    if let Some(interval) = &statement.product {
        let product = match values.as_slice() {
            [a] => a.product(a),
            [a, b, ..] => a.product(b),
            [] => return Err(ProofError::Shape.into()),
        };
        analysis.add_fact(&product, interval.clone());
    }
    analysis.run()?;
    let result = result(&mut analysis, kernel, statement)?;
    let difference = result.times(&Dyadic::power(statement.scale)).plus(&-&one, &expected);
    if !analysis.expanded(&difference).is_multiple_of(&statement.modulus) {
        return Err(ProofError::Identity { expected: format!("{:?}", statement.expected) }.into());
    }
    if let Some(stated) = &statement.value {
        // Two ways: by the limbs, and as a whole.
        let bounds = analysis.bounds(&result);
        let limbs = kernel.output.iter().enumerate().map(|(at, _)| limb_values(&statement.limbs[at], at));
        let by_limbs = limbs.fold(Interval::point(Dyadic::zero()), |sum, limb| sum.plus(&limb));
        let found = bounds.common(&by_limbs);
        if found.is_empty() {
            return Err(Stop::Impossible);
        }
        check("the value", &found, stated)?;
    }
    Ok(())
}

fn limb_values(limb: &Interval, at: usize) -> Interval {
    limb.times(&Dyadic::power(i64::from(LIMB_BITS) * at as i64))
}

/// Sets the limbs of an input. Returns its value.
fn set_number(analysis: &mut Analysis<'_>, ids: &[usize], number: &Number) -> Result<DyadicPolynomial, Stop> {
    let mut value = DyadicPolynomial::default();
    for (at, (id, interval)) in ids.iter().zip(&number.limbs).enumerate() {
        let limb = if number.has_low_bits_only {
            analysis.set_input(*id, Interval::bits(64));
            analysis.low_bits(*id, LIMB_BITS, interval)?
        } else {
            analysis.set_input(*id, interval.clone())
        };
        value = value.plus(&Dyadic::power(i64::from(LIMB_BITS) * at as i64), &limb);
    }
    if let Some(interval) = &number.value {
        analysis.add_fact(&value, interval.clone());
    }
    Ok(value)
}

/// Checks the limbs of the result. Returns its value.
fn result(
    analysis: &mut Analysis<'_>,
    kernel: &RecordedKernel,
    statement: &Statement,
) -> Result<DyadicPolynomial, Stop> {
    let mut value = DyadicPolynomial::default();
    for (at, (id, stated)) in kernel.output.iter().zip(&statement.limbs).enumerate() {
        let limb = if statement.has_low_bits_only {
            analysis.low_bits(*id, LIMB_BITS, &Interval::bits(LIMB_BITS))?
        } else {
            let word: &Word = analysis.word(*id).ok_or(ProofError::Shape)?;
            let found = analysis.tight(word);
            if found.is_empty() {
                return Err(Stop::Impossible);
            }
            check(&format!("limb {at} of the result"), &found, stated)?;
            word.polynomial.clone()
        };
        value = value.plus(&Dyadic::power(i64::from(LIMB_BITS) * at as i64), &limb);
    }
    Ok(value)
}

fn check(what: &str, found: &Interval, stated: &Interval) -> Result<(), ProofError> {
    if found.is_within(stated) {
        return Ok(());
    }
    let (found, stated) = (found.to_string(), stated.to_string());
    Err(ProofError::Bound { what: what.to_owned(), found, stated })
}
