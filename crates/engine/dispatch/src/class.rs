//! Classes of shapes. RSA moduli of unusual lengths share queues, so that peers cannot create more queues than there
//! are classes.
//!
//! A class is named by a shape. A length that is a multiple of [`STEP`] is a class of its own. All lengths between
//! two multiples form one class, named by the longest of them. Operations of one class wait together, but a batch has
//! one length only.

use oarlock_core::Shape;

use crate::cost::EngineCost;

/// The number of bits from one class of lengths to the next.
const STEP: u16 = 256;

/// Returns the class of a shape.
pub(crate) fn class_of(shape: Shape) -> Shape {
    match shape {
        Shape::RsaPrivate { bits } => Shape::RsaPrivate { bits: longest(bits) },
        Shape::RsaPublic { bits, exponent } => Shape::RsaPublic { bits: longest(bits), exponent },
        Shape::ModExp { bits, exponent_bits } => {
            Shape::ModExp { bits: longest(bits), exponent_bits: longest(exponent_bits) }
        }
        other => other,
    }
}

/// Returns the shortest member of a class. An engine that offers the shortest and the longest member offers all
/// members.
pub(crate) fn shortest_of(class: Shape) -> Shape {
    match class {
        Shape::RsaPrivate { bits } => Shape::RsaPrivate { bits: shortest(bits) },
        Shape::RsaPublic { bits, exponent } => Shape::RsaPublic { bits: shortest(bits), exponent },
        Shape::ModExp { bits, exponent_bits } => {
            Shape::ModExp { bits: shortest(bits), exponent_bits: shortest(exponent_bits) }
        }
        other => other,
    }
}

/// True if operations of several lengths wait in the queue of a class.
pub(crate) fn is_mixed(class: Shape) -> bool {
    shortest_of(class) != class
}

/// Estimates the cost of an unmeasured shape from the measured cost of another length on the same engine. The time of
/// schoolbook products grows with the square of the length. An exponent as long as the modulus makes it the cube.
pub(crate) fn scaled(known: Shape, cost: EngineCost, shape: Shape) -> Option<EngineCost> {
    let ratio = |to: u16, from: u16| f64::from(to) / f64::from(from.max(1));
    let factor = match (known, shape) {
        (Shape::RsaPrivate { bits: from }, Shape::RsaPrivate { bits: to }) => cube(ratio(to, from)),
        (
            Shape::RsaPublic { bits: from, exponent: given },
            Shape::RsaPublic { bits: to, exponent: wanted },
        ) if given == wanted => square(ratio(to, from)),
        (
            Shape::ModExp { bits: from, exponent_bits: given },
            Shape::ModExp { bits: to, exponent_bits: wanted },
        ) => square(ratio(to, from)) * ratio(wanted, given),
        _ => return None,
    };
    Some(EngineCost { per_op_ns: cost.per_op_ns * factor, ..cost })
}

fn square(x: f64) -> f64 {
    x * x
}

fn cube(x: f64) -> f64 {
    x * x * x
}

/// Returns the modulus length of an RSA shape.
pub(crate) fn modulus_bits(shape: Shape) -> Option<u16> {
    match shape {
        Shape::RsaPrivate { bits } | Shape::RsaPublic { bits, .. } | Shape::ModExp { bits, .. } => Some(bits),
        _ => None,
    }
}

fn longest(bits: u16) -> u16 {
    // With a power of two as the step, setting the low bits gives the last length before the next multiple.
    if bits.is_multiple_of(STEP) { bits } else { bits | (STEP - 1) }
}

fn shortest(longest: u16) -> u16 {
    if longest.is_multiple_of(STEP) { longest } else { (longest & !(STEP - 1)) + 1 }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use oarlock_core::RsaExponent;

    use super::*;

    fn public(bits: u16) -> Shape {
        Shape::RsaPublic { bits, exponent: RsaExponent::F4 }
    }

    #[test]
    #[cfg_attr(miri, ignore = "thousands of lengths take minutes there")]
    fn usual_lengths_keep_their_own_class_and_the_others_share() {
        for bits in [512, 1024, 1280, 2048, 3072, 4096, 8192] {
            assert_eq!((class_of(public(bits)), is_mixed(public(bits))), (public(bits), false));
        }
        assert_eq!([2047, 1793, 2000].map(|bits| class_of(public(bits))), [public(2047); 3]);
        assert_eq!((shortest_of(public(2047)), is_mixed(public(2047))), (public(1793), true));
        let classes: BTreeSet<Shape> = (512..=8192).map(|bits| class_of(public(bits))).collect();
        assert_eq!(classes.len(), 61);
        assert!(classes.iter().all(|class| class_of(*class) == *class));
        assert_eq!(class_of(Shape::X25519), Shape::X25519);
    }

    #[test]
    fn unmeasured_lengths_cost_what_their_length_suggests() {
        let cost = EngineCost { per_batch_ns: 7.0, per_op_ns: 1000.0, per_byte_ns: 0.0 };
        let private = |bits| Shape::RsaPrivate { bits };
        assert_eq!(scaled(private(4096), cost, private(8192)).map(|cost| cost.per_op_ns), Some(8000.0));
        assert_eq!(scaled(public(4096), cost, public(8192)).map(|cost| cost.per_op_ns), Some(4000.0));
        assert_eq!(scaled(public(4096), cost, private(8192)), None);
        let part = |bits, exponent_bits| Shape::ModExp { bits, exponent_bits };
        assert_eq!(scaled(part(1024, 1024), cost, part(1024, 512)).map(|cost| cost.per_op_ns), Some(500.0));
    }
}
