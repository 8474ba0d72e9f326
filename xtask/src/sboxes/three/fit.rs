//! Gates of existing signals that agree with a function where it matters.

use crate::sboxes::circuit::{CircuitGate, Truth};

/// Finds every three signals of which some function agrees with `truth` where `care` is set.
pub(super) fn fits(signals: &[Truth], truth: Truth, care: Truth) -> Vec<[usize; 3]> {
    let (ones, zeros) = (truth & care, !truth & care);
    let mut found = Vec::new();
    for (a, one) in signals.iter().enumerate() {
        let by_one = [ones & one, ones & !one, zeros & one, zeros & !one];
        for (b, two) in signals.iter().enumerate().skip(a + 1) {
            let cells = [0, 1, 2, 3].map(|cell| {
                let side = if cell & 1 == 0 { *two } else { !two };
                (by_one[cell >> 1] & side, by_one[2 + (cell >> 1)] & side)
            });
            for (c, three) in signals.iter().enumerate().skip(b + 1) {
                let is_pure =
                    |part: Truth, (ones, zeros): (Truth, Truth)| ones & part == 0 || zeros & part == 0;
                if cells.iter().all(|cell| is_pure(*three, *cell) && is_pure(!three, *cell)) {
                    found.push([a, b, c]);
                }
            }
        }
    }
    found
}

/// Makes the gate of these operands that agrees with `truth` where `care` is set. Rows of its table that never matter
/// come from `spare`.
pub(super) fn fit(
    signals: &[Truth],
    operands: [usize; 3],
    truth: Truth,
    care: Truth,
    spare: u64,
) -> CircuitGate {
    let table = (0..8).fold(0, |table, row| {
        let side = |at: usize| {
            let signal = signals[operands[at]];
            if row >> (2 - at) & 1 == 1 { signal } else { !signal }
        };
        let cell = side(0) & side(1) & side(2) & care;
        let bit = if cell == 0 { spare >> row & 1 == 1 } else { cell & truth != 0 };
        table | u8::from(bit) << row
    });
    CircuitGate { table, operands }
}
