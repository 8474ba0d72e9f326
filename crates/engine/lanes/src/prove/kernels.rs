//! The kernels that are recorded.

use super::symbols::{SymbolSimd, SymbolWord};
use super::{Id, RecordedKernel};
use crate::curve25519::field::{FactorLimbs, LimbSum};
use crate::curve25519::scalar::ScalarLanes;
use crate::ecdsa::element::{Element, LooseElement};
use crate::ecdsa::interleaved::Interleaved;
use crate::ecdsa::ring::{FieldModulus, MontgomeryRing, OddModulus};
use crate::ecdsa::{p256, p384};

/// A kernel of one result.
type Record = fn() -> RecordedKernel;

const KERNELS: [(&str, Record); 22] = [
    ("p256 field multiply", multiply::<p256::field::FieldPrime, 5>),
    ("p256 field square", square::<p256::field::FieldPrime, 5>),
    ("p256 field leave", leave::<p256::field::FieldPrime, 5>),
    ("p256 field below modulus", below_modulus::<p256::field::FieldPrime, 5>),
    ("p256 field reduce weakly", reduce_weakly::<p256::field::FieldPrime, 5>),
    ("p256 order multiply", multiply::<p256::order::GroupOrder, 5>),
    ("p256 order square", square::<p256::order::GroupOrder, 5>),
    ("p256 order leave", leave::<p256::order::GroupOrder, 5>),
    ("p256 order below modulus", below_modulus::<p256::order::GroupOrder, 5>),
    ("p384 field multiply", multiply::<p384::field::FieldPrime, 8>),
    ("p384 field square", square::<p384::field::FieldPrime, 8>),
    ("p384 field below modulus", below_modulus::<p384::field::FieldPrime, 8>),
    ("p384 field reduce weakly", reduce_weakly::<p384::field::FieldPrime, 8>),
    ("p384 order multiply", multiply::<p384::order::GroupOrder, 8>),
    ("p384 order square", square::<p384::order::GroupOrder, 8>),
    ("25519 multiply", || of_factors(|[a, b]| a.times(SymbolSimd, &b).0)),
    ("25519 square", || of_factors(|[a]| a.square(SymbolSimd).0)),
    ("25519 times 121666", || of_factors(|[a]| a.times_small(SymbolSimd, 121_666).0)),
    ("25519 canonical", || of_factors(|[a]| a.canonical(SymbolSimd))),
    ("25519 reduce", || record(|[a]| LimbSum(a).reduce(SymbolSimd).0)),
    ("25519 minus", || record(|[a, b]| LimbSum(a).minus(SymbolSimd, &LimbSum(b)).0)),
    ("25519 scalar times plus", || {
        record(|[a, b, c]| {
            let [a, b, c] = [a, b, c].map(ScalarLanes::from_limbs);
            *a.times_plus(SymbolSimd, &b, &c).limbs()
        })
    }),
];

/// Returns the names of all kernels.
pub fn names() -> impl Iterator<Item = &'static str> {
    KERNELS.into_iter().map(|(name, _)| name)
}

/// Records a kernel.
pub fn kernel(name: &str) -> Option<RecordedKernel> {
    let (_, record) = KERNELS.into_iter().find(|(known, _)| *known == name)?;
    Some(record())
}

/// Records a function of `N` numbers of `L` limbs.
fn record<const N: usize, const L: usize, const M: usize>(
    kernel: impl FnOnce([[SymbolWord; L]; N]) -> [SymbolWord; M],
) -> RecordedKernel {
    let (instructions, (inputs, output)) = SymbolSimd::record(|simd| {
        let inputs = [(); N].map(|()| simd.inputs());
        (inputs, kernel(inputs))
    });
    let ids = |limbs: &[SymbolWord]| -> Vec<Id> { limbs.iter().map(|limb| limb.id()).collect() };
    let inputs = inputs.iter().map(|limbs| ids(limbs)).collect();
    RecordedKernel { instructions, inputs, output: ids(&output) }
}

fn of_factors<const N: usize>(
    kernel: impl FnOnce([FactorLimbs<SymbolWord>; N]) -> [SymbolWord; 5],
) -> RecordedKernel {
    record(|inputs| kernel(inputs.map(FactorLimbs)))
}

type Ring<M, const L: usize> = MontgomeryRing<SymbolSimd, M, L, 1>;

fn interleaved<const L: usize>(limbs: [SymbolWord; L]) -> [Interleaved<SymbolWord, 1>; L] {
    limbs.map(|limb| Interleaved([limb]))
}

fn limbs<const L: usize>(element: Element<SymbolWord, L, 1>) -> [SymbolWord; L] {
    element.0.map(|limb| limb.0[0])
}

fn multiply<M: OddModulus<L>, const L: usize>() -> RecordedKernel {
    record(|[a, b]| {
        let [a, b] = [a, b].map(|limbs| Element(interleaved(limbs)));
        limbs(Ring::<M, L>::new(SymbolSimd).mul(&a, &b))
    })
}

fn square<M: OddModulus<L>, const L: usize>() -> RecordedKernel {
    record(|[a]| limbs(Ring::<M, L>::new(SymbolSimd).sqr(&Element(interleaved(a)))))
}

fn leave<M: OddModulus<L>, const L: usize>() -> RecordedKernel {
    record(|[a]| limbs(Ring::<M, L>::new(SymbolSimd).leave(&Element(interleaved(a)))))
}

fn below_modulus<M: OddModulus<L>, const L: usize>() -> RecordedKernel {
    record(|[a]| limbs(Ring::<M, L>::new(SymbolSimd).below_modulus(&Element(interleaved(a)))))
}

fn reduce_weakly<M: FieldModulus<L>, const L: usize>() -> RecordedKernel {
    record(|[a]| limbs(Ring::<M, L>::new(SymbolSimd).reduce_weakly(LooseElement(interleaved(a)))))
}
