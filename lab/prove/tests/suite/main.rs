//! Tests of the proofs: every kernel is proved, and errors that are planted are found.
#![allow(clippy::unwrap_used, reason = "tests")]

use oarlock_lanes::prove::{Id, Instruction, RecordedKernel, kernel, names};
use oarlock_prove::analysis::ProofError;
use oarlock_prove::interval::Interval;
use oarlock_prove::proof::{Proved, prove};
use oarlock_prove::statement::{self, Statement};

fn statement(kernel: &str) -> Statement {
    statement::all().into_iter().find(|statement| statement.kernel == kernel).unwrap()
}

fn proved(name: &str) -> Result<Proved, ProofError> {
    prove(&kernel(name).unwrap(), &statement(name))
}

#[test]
fn every_kernel_has_a_statement_and_is_proved() {
    let mut stated: Vec<_> = statement::all().iter().map(|statement| statement.kernel).collect();
    let mut recorded: Vec<_> = names().collect();
    stated.sort_unstable();
    recorded.sort_unstable();
    assert_eq!(stated, recorded);
    for name in recorded {
        let result = proved(name);
        assert!(result.as_ref().is_ok_and(|proved| proved.cases > 0), "{name}: {result:?}");
    }
}

/// Replaces one instruction after the other by what `plant` returns, and returns the numbers of those for which the
/// kernel is proved nevertheless.
fn survivors(name: &str, plant: impl Fn(&RecordedKernel, Id) -> Option<Instruction>) -> (Vec<Id>, usize) {
    let (kernel, statement) = (kernel(name).unwrap(), statement(name));
    let (mut survivors, mut planted) = (Vec::new(), 0);
    for at in 0..kernel.instructions.len() {
        let Some(wrong) = plant(&kernel, at) else { continue };
        planted += 1;
        let mut instructions = kernel.instructions.clone();
        instructions[at] = wrong;
        if prove(&RecordedKernel { instructions, ..kernel.clone() }, &statement).is_ok() {
            survivors.push(at);
        }
    }
    (survivors, planted)
}

/// The kernels of each kind of carry and reduction.
const VARIED: [&str; 8] = [
    "p256 field multiply",
    "p256 field square",
    "p256 field below modulus",
    "p256 field reduce weakly",
    "p256 order multiply",
    "25519 multiply",
    "25519 reduce",
    "25519 minus",
];

#[test]
fn a_carry_or_a_sum_that_is_dropped_is_found() {
    for name in VARIED {
        let (survivors, planted) = survivors(name, |kernel, at| match kernel.instructions[at] {
            Instruction::Add(a, b) if !is_zero(kernel, b) => Some(Instruction::Or(a, a)),
            _ => None,
        });
        assert!(planted > 0 && survivors.is_empty(), "{name}: {survivors:?} of {planted}");
    }
}

fn is_zero(kernel: &RecordedKernel, at: Id) -> bool {
    kernel.instructions[at] == Instruction::Constant(0)
}

#[test]
fn a_shift_by_one_bit_too_few_is_found() {
    for name in VARIED {
        let (survivors, planted) = survivors(name, |kernel, at| match kernel.instructions[at] {
            Instruction::ShiftLeft(a, bits) => Some(Instruction::ShiftLeft(a, bits - 1)),
            Instruction::ShiftRight(a, bits) => Some(Instruction::ShiftRight(a, bits - 1)),
            Instruction::ShiftRightSigned(a, bits) => Some(Instruction::ShiftRightSigned(a, bits - 1)),
            _ => None,
        });
        assert!(survivors.is_empty(), "{name}: {survivors:?} of {planted}");
    }
}

#[test]
fn a_swapped_limb_or_half_is_found() {
    for name in ["p256 field multiply", "25519 multiply"] {
        let inputs = &kernel(name).unwrap().inputs[0].clone();
        let next = |factor: Id| {
            inputs.iter().position(|limb| *limb == factor).map(|at| inputs[(at + 1) % inputs.len()])
        };
        let (limbs, planted) = survivors(name, |kernel, at| match kernel.instructions[at] {
            Instruction::MultiplyLow { sum, factors: [a, b] } => {
                Some(Instruction::MultiplyLow { sum, factors: [next(a)?, b] })
            }
            Instruction::MultiplyHigh { sum, factors: [a, b] } => {
                Some(Instruction::MultiplyHigh { sum, factors: [next(a)?, b] })
            }
            _ => None,
        });
        assert!(planted >= 50 && limbs.is_empty(), "{name}: {limbs:?} of {planted}");
        let (halves, _) = survivors(name, |kernel, at| match kernel.instructions[at] {
            Instruction::MultiplyLow { sum, factors } => Some(Instruction::MultiplyHigh { sum, factors }),
            Instruction::MultiplyHigh { sum, factors } => Some(Instruction::MultiplyLow { sum, factors }),
            _ => None,
        });
        assert!(halves.is_empty(), "{name}: {halves:?}");
    }
}

#[test]
fn a_wrong_constant_is_found() {
    // Weak reduction rounds its quotient down by an amount that may be a little more.
    for name in VARIED.into_iter().filter(|name| *name != "p256 field reduce weakly") {
        let (survivors, _) = survivors(name, |kernel, at| match kernel.instructions[at] {
            // A claim with a higher bound still holds, and not every zero is used.
            Instruction::Constant(word @ 1..) if !is_bound_of_claim(kernel, at) => {
                Some(Instruction::Constant(word ^ 1))
            }
            _ => None,
        });
        assert!(survivors.is_empty(), "{name}: {survivors:?}");
    }
}

fn is_bound_of_claim(kernel: &RecordedKernel, at: Id) -> bool {
    let is_claimed = |mask: Id| {
        kernel.instructions.iter().any(|other| matches!(other, Instruction::Claim(of, _) if *of == mask))
    };
    let all = kernel.instructions.iter().enumerate();
    all.into_iter()
        .any(|(mask, other)| matches!(other, Instruction::IsBelow(_, end) if *end == at) && is_claimed(mask))
}

#[test]
fn an_exchanged_selection_is_found() {
    for name in ["p256 field below modulus", "p384 field below modulus", "25519 scalar times plus"] {
        let (survivors, planted) = survivors(name, |kernel, at| match kernel.instructions[at] {
            Instruction::Select { mask, words: [no, yes] } => {
                Some(Instruction::Select { mask, words: [yes, no] })
            }
            _ => None,
        });
        assert!(planted > 0 && survivors.is_empty(), "{name}: {survivors:?} of {planted}");
    }
}

#[test]
fn inputs_beyond_what_a_kernel_holds_are_refused() {
    let with_limbs = |name: &str, interval: Interval| {
        let mut statement = statement(name);
        for limb in &mut statement.inputs[0].limbs {
            *limb = interval.clone();
        }
        prove(&kernel(name).unwrap(), &statement)
    };
    // Products read 52 bits.
    let error = with_limbs("p256 order multiply", Interval::bits(53)).unwrap_err();
    assert!(matches!(error, ProofError::Identity { .. } | ProofError::Claim { .. }), "{error}");
    let error = with_limbs("25519 reduce", Interval::bits(62)).unwrap_err();
    assert!(error.to_string().contains("a limb of a sum is below its bound"), "{error}");
    let error = with_limbs("p256 field reduce weakly", Interval::signed(64)).unwrap_err();
    assert!(matches!(error, ProofError::Overflow { .. }), "{error}");
}

#[test]
fn results_beyond_their_bounds_are_named() {
    let mut narrow = statement("25519 multiply");
    narrow.limbs[2] = Interval::bits(53);
    let error = prove(&kernel("25519 multiply").unwrap(), &narrow).unwrap_err();
    assert!(error.to_string().starts_with("limb 2 of the result may be anything in [0, "), "{error}");
}

#[test]
fn an_instruction_without_a_rule_is_named() {
    let mut kernel = kernel("25519 minus").unwrap();
    let at = kernel.output[0];
    kernel.instructions[at] = Instruction::Xor(kernel.inputs[0][0], kernel.inputs[1][0]);
    let error = prove(&kernel, &statement("25519 minus")).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("instruction {at}, Xor(0, 5): no rule says what it computes from these operands")
    );
}

#[test]
fn a_statement_about_no_input_proves_nothing() {
    let mut statement = statement("p256 field below modulus");
    statement.inputs[0].limbs[0] =
        Interval::new(oarlock_prove::dyadic::Dyadic::integer(1), oarlock_prove::dyadic::Dyadic::integer(0));
    let error = prove(&kernel("p256 field below modulus").unwrap(), &statement).unwrap_err();
    assert_eq!(error, ProofError::NoInput);
}
