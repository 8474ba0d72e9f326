//! The statements that are proved of the kernels.

use num_bigint::BigInt;
use num_traits::Num;

use crate::dyadic::Dyadic;
use crate::interval::Interval;

/// The bits of a limb.
pub const LIMB_BITS: u32 = 52;

/// The bits of a limb as an exponent.
const LIMB: i64 = 52;

/// An input: a number of limbs.
#[derive(Clone, Debug)]
pub struct Number {
    /// The values of each limb, lowest first.
    pub limbs: Vec<Interval>,
    /// True if only the low 52 bits of each limb count, and the intervals are those of these bits.
    pub has_low_bits_only: bool,
    /// The values of the number.
    pub value: Option<Interval>,
}

/// The specification of a result. The inputs are a, b and c.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// The number a.
    Same,
    /// The product a b.
    Product,
    /// The square of a.
    Square,
    /// The product of a and a constant.
    Times(u64),
    /// The difference a - b.
    Difference,
    /// The sum a b + R c.
    ProductPlus,
}

/// A statement about a kernel: for all inputs within their bounds the result, times `2^scale`, is congruent to what is
/// expected, and in its bounds.
#[derive(Clone, Debug)]
pub struct Statement {
    /// The name of the kernel.
    pub kernel: &'static str,
    /// The numbers a, b and c, as many as the kernel has.
    pub inputs: Vec<Number>,
    /// The values of the product of the first two inputs, or of the square of the only one.
    pub product: Option<Interval>,
    /// The number to which the result is congruent.
    pub expected: Expected,
    /// The exponent of the R of Montgomery's reduction.
    pub scale: i64,
    /// The odd modulus.
    pub modulus: BigInt,
    /// The values of each limb of the result.
    pub limbs: Vec<Interval>,
    /// True if only the low 52 bits of each limb of the result count.
    pub has_low_bits_only: bool,
    /// The values of the result.
    pub value: Option<Interval>,
    /// True if carries of two possible values are cases.
    pub splits_carries: bool,
}

fn hex(digits: &str) -> BigInt {
    BigInt::from_str_radix(digits, 16).unwrap_or_default()
}

fn number(limbs: Vec<Interval>, value: Option<Interval>) -> Number {
    Number { limbs, has_low_bits_only: false, value }
}

/// A number whose limbs are below 2^52.
fn carried(limbs: usize, value: Option<Interval>) -> Number {
    number(vec![Interval::bits(LIMB_BITS); limbs], value)
}

/// Returns the statements about a ring modulo an odd m with L limbs. SP 800-186 3.2.1 has the moduli.
fn ring(names: &[&'static str; 5], limbs: usize, modulus: &BigInt) -> Vec<Statement> {
    let (scale, m) = (LIMB * limbs as i64, Dyadic::integer(modulus.clone()));
    let r = Dyadic::power(scale);
    let result = |kernel, inputs, expected| Statement {
        kernel,
        inputs,
        product: None,
        expected,
        scale,
        modulus: modulus.clone(),
        limbs: vec![Interval::bits(LIMB_BITS); limbs],
        has_low_bits_only: false,
        value: Some(Interval::below(&r)),
        splits_carries: false,
    };
    // (R (R - m) + (R - 1) m) / R is below R.
    let product = Some(Interval::new(Dyadic::zero(), &r * &(&r - &m)));
    let any = || carried(limbs, None);
    let twice = carried(limbs, Some(Interval::below(&m.scaled(1))));
    let below = Some(Interval::below(&m));
    let near = Interval::new(&m * &Dyadic::integer(-31), &m * &Dyadic::integer(31));
    let loose = number(vec![Interval::signed(60); limbs], Some(near));
    let slightly_above = &m + &m.scaled(-8);
    let [multiply, square, leave, below_modulus, reduce_weakly] = *names;
    let all = [
        Statement { product: product.clone(), ..result(multiply, vec![any(), any()], Expected::Product) },
        Statement { product, ..result(square, vec![any()], Expected::Square) },
        Statement { value: below.clone(), ..result(leave, vec![any()], Expected::Same) },
        Statement { value: below, scale: 0, ..result(below_modulus, vec![twice], Expected::Same) },
        Statement {
            value: Some(Interval::new(Dyadic::zero(), slightly_above)),
            scale: 0,
            ..result(reduce_weakly, vec![loose], Expected::Same)
        },
    ];
    all.into_iter().filter(|statement| !statement.kernel.is_empty()).collect()
}

/// Returns the statements about the field of 2^255 - 19. RFC 7748 4.1.
fn field_25519() -> Vec<Statement> {
    let modulus: BigInt = (BigInt::from(1) << 255) - 19;
    let p = Dyadic::integer(modulus.clone());
    // The type of factors: below 2^255 + 2^218.
    let top = &Dyadic::power(47) + &Dyadic::power(10);
    let mut limbs = vec![Interval::bits(LIMB_BITS); 5];
    limbs[4] = Interval::below(&top);
    let end = &Dyadic::power(255) + &Dyadic::power(218);
    let factor = Number { limbs, has_low_bits_only: true, value: Some(Interval::below(&end)) };
    let sum = |bits: &Dyadic| number(vec![Interval::below(bits); 5], None);
    let result = |kernel, inputs, expected, end: &Dyadic| Statement {
        kernel,
        inputs,
        product: None,
        expected,
        scale: 0,
        modulus: modulus.clone(),
        limbs: vec![Interval::below(end); 5],
        has_low_bits_only: false,
        value: None,
        splits_carries: false,
    };
    let limb = Dyadic::power(LIMB);
    let (product, small, wide) = (Dyadic::power(56), Dyadic::power(54), Dyadic::power(61));
    // 2^58 - 19 * 2^11 is the lowest limb of the multiple of p that a difference adds.
    let bias = &Dyadic::power(58) - &Dyadic::new(19, 11);
    let difference = &wide + &Dyadic::power(58);
    vec![
        result("25519 multiply", vec![factor.clone(), factor.clone()], Expected::Product, &product),
        result("25519 square", vec![factor.clone()], Expected::Square, &product),
        result("25519 times 121666", vec![factor.clone()], Expected::Times(121_666), &small),
        Statement {
            value: Some(Interval::below(&p)),
            splits_carries: true,
            ..result("25519 canonical", vec![factor], Expected::Same, &limb)
        },
        Statement {
            value: Some(Interval::below(&end)),
            has_low_bits_only: true,
            ..result("25519 reduce", vec![sum(&wide)], Expected::Same, &limb)
        },
        result("25519 minus", vec![sum(&wide), sum(&bias)], Expected::Difference, &difference),
    ]
}

/// Returns the statement about scalars modulo the order L of edwards25519. RFC 8032 5.1.
fn scalars_25519() -> Statement {
    let modulus: BigInt = (BigInt::from(1) << 252) + hex("14def9dea2f79cd65812631a5cf5d3ed");
    let order = Dyadic::integer(modulus.clone());
    let below = Interval::below(&order);
    Statement {
        kernel: "25519 scalar times plus",
        inputs: vec![carried(5, Some(below.clone())); 3],
        product: Some(below.product(&below)),
        expected: Expected::ProductPlus,
        scale: 5 * LIMB,
        modulus,
        limbs: vec![Interval::bits(LIMB_BITS); 5],
        has_low_bits_only: false,
        value: Some(below),
        splits_carries: false,
    }
}

/// Returns all statements.
pub fn all() -> Vec<Statement> {
    let p256 = hex("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff");
    let n256 = hex("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551");
    let p384 = hex(concat!(
        "ffffffffffffffffffffffffffffffffffffffffffffffff",
        "fffffffffffffffeffffffff0000000000000000ffffffff"
    ));
    let n384 = hex(concat!(
        "ffffffffffffffffffffffffffffffffffffffffffffffff",
        "c7634d81f4372ddf581a0db248b0a77aecec196accc52973"
    ));
    let fields = [
        (
            [
                "p256 field multiply",
                "p256 field square",
                "p256 field leave",
                "p256 field below modulus",
                "p256 field reduce weakly",
            ],
            5,
            p256,
        ),
        (
            ["p256 order multiply", "p256 order square", "p256 order leave", "p256 order below modulus", ""],
            5,
            n256,
        ),
        (
            [
                "p384 field multiply",
                "p384 field square",
                "",
                "p384 field below modulus",
                "p384 field reduce weakly",
            ],
            8,
            p384,
        ),
        (["p384 order multiply", "p384 order square", "", "", ""], 8, n384),
    ];
    let rings = fields.iter().flat_map(|(names, limbs, modulus)| ring(names, *limbs, modulus));
    rings.chain(field_25519()).chain([scalars_25519()]).collect()
}
