use super::standard::S_BOXES;
use super::{sboxes, sboxes_two};
use crate::simd::{BlindSimd, PortableSimd, Vector};

/// Bit x of the words is the value for input x = 32 b1 + 16 b2 + 8 b3 + 4 b4 + 2 b5 + b6, so one run covers all
/// inputs.
#[test]
fn circuits_compute_the_s_boxes_of_the_standard() {
    let input = [5, 4, 3, 2, 1, 0]
        .map(|bit| PortableSimd::<8>.splat((0..64).fold(0, |word, x| word | (x >> bit & 1) << x)));
    let three = {
        use sboxes::*;
        [s1(input), s2(input), s3(input), s4(input), s5(input), s6(input), s7(input), s8(input)]
    };
    let two = {
        use sboxes_two::*;
        [s1(input), s2(input), s3(input), s4(input), s5(input), s6(input), s7(input), s8(input)]
    };
    for (table, output) in S_BOXES.iter().chain(&S_BOXES).zip(three.into_iter().chain(two)) {
        let output = output.map(|bit| bit.words()[0]);
        for x in 0..64 {
            let (row, column) = ((x >> 4 & 2) | (x & 1), x >> 1 & 15);
            let value = output.iter().fold(0, |value, bit| value << 1 | bit >> x & 1);
            assert_eq!(value, u64::from(table[16 * row + column]), "input {x}");
        }
    }
}
