//! The kernels: products and squares of elements of six limbs.

use super::program::{Memory, Operand, Program, Value};

const LIMBS: usize = 6;

/// Returns `2^exponent`.
fn power(exponent: i32) -> f64 {
    2_f64.powi(exponent)
}

/// The number that rounds to an integer.
fn round() -> f64 {
    1.5 * power(52)
}

/// The sums of the columns of a product.
struct ProductSums {
    start: Memory,
    high: Vec<Option<Value>>,
    low: Vec<Option<Value>>,
}

impl ProductSums {
    fn new(program: &mut Program, count: usize, start: f64) -> Self {
        Self { start: program.constant(start), high: vec![None; count], low: vec![None; count] }
    }

    /// Adds a product to a column with four instructions.
    fn add_product(&mut self, program: &mut Program, column: usize, a: Value, b: impl Into<Operand>) {
        let b = b.into();
        let before = self.high[column].unwrap_or_else(|| program.load(self.start));
        let high = program.times_plus(a, b, before);
        let difference = program.subtract(before, high);
        let rest = program.times_plus(a, b, difference);
        self.high[column] = Some(high);
        self.low[column] = Some(match self.low[column] {
            Some(low) => program.add(low, rest),
            None => rest,
        });
    }

    /// Returns the high sum of a column without the value from which it started.
    fn high(&self, program: &mut Program, column: usize) -> Value {
        let Some(high) = self.high[column] else { unreachable!("every column has a product") };
        program.subtract(high, self.start)
    }

    fn low(&self, column: usize) -> Value {
        let Some(low) = self.low[column] else { unreachable!("every column has a product") };
        low
    }
}

/// Returns the product, or the square, modulo 2^255 - 19 in limbs of 43 bits.
pub(super) fn of_25519(is_square: bool) -> Program {
    let mut program = Program::default();
    let p = &mut program;
    let fold = p.constant(152.0);
    let first: Vec<Value> = (0..LIMBS).map(|limb| p.load(Memory::First(limb))).collect();
    // 2^258 = 152: the limbs that wrap are multiplied once, and not every product.
    for (limb, value) in first.iter().enumerate().skip(1) {
        let factor = if is_square { *value } else { p.load(Memory::Second(limb)) };
        let folded = p.multiply(factor, fold);
        p.store(folded, Memory::Scratch(limb));
    }
    let second = |limb: usize, wraps: bool| match (wraps, is_square) {
        (true, _) => Memory::Scratch(limb),
        (false, true) => Memory::First(limb),
        (false, false) => Memory::Second(limb),
    };
    let mut columns = ProductSums::new(p, LIMBS, 1.5 * power(97));
    // Row by row, so that neighbouring products belong to different columns and do not wait for each other.
    for (i, value) in first.iter().enumerate() {
        let twice = (is_square && i + 1 < LIMBS).then(|| p.add(*value, *value));
        for j in if is_square { i } else { 0 }..LIMBS {
            let factor = if i == j { *value } else { twice.unwrap_or(*value) };
            columns.add_product(p, (i + j) % LIMBS, factor, second(j, i + j >= LIMBS));
        }
    }
    let down = p.constant(power(-43));
    // What the topmost column carries comes back times 152.
    let wrapped = p.constant(152.0 * power(-43));
    let highs: Vec<Value> = (0..LIMBS).map(|at| columns.high(p, (at + LIMBS - 1) % LIMBS)).collect();
    let values: Vec<Value> = (0..LIMBS)
        .map(|at| p.times_plus(highs[at], if at == 0 { wrapped } else { down }, columns.low(at)))
        .collect();
    let (rests, carries) = round_all(p, &values, 43);
    for at in (1..LIMBS).chain([0]) {
        let limb = match at {
            0 => p.times_plus(carries[LIMBS - 1], fold, rests[0]),
            _ => p.add(rests[at], carries[at - 1]),
        };
        p.store(limb, Memory::Result(at));
    }
    program
}

/// Rounds values to limbs, all at once. Returns the rests and the carries.
fn round_all(p: &mut Program, values: &[Value], bits: i32) -> (Vec<Value>, Vec<Value>) {
    let (down, up, round) = (p.constant(power(-bits)), p.constant(power(bits)), p.constant(round()));
    let rounded: Vec<Value> = values.iter().map(|value| p.times_plus(*value, down, round)).collect();
    let carries: Vec<Value> = rounded.iter().map(|value| p.subtract(*value, round)).collect();
    let rests = values.iter().zip(&carries).map(|(value, carry)| p.minus_times(*carry, up, *value));
    (rests.collect(), carries)
}

/// The products that a kernel of P-256 adds up.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Products {
    /// A product of two factors.
    One,
    /// The square of a factor.
    Square,
    /// The sum of two products.
    Two,
}

/// Returns the kernel of products divided by R = 2^264 modulo the prime of P-256, in limbs of 44 bits.
pub(super) fn of_p256(products: Products) -> Program {
    const COLUMNS: usize = 2 * LIMBS - 1;
    let mut program = Program::default();
    let p = &mut program;
    let first: Vec<Value> = (0..LIMBS).map(|limb| p.load(Memory::First(limb))).collect();
    let third: Vec<Value> = match products {
        Products::Two => (0..LIMBS).map(|limb| p.load(Memory::Third(limb))).collect(),
        _ => Vec::new(),
    };
    let twice: Vec<Value> = match products == Products::Square {
        true => (0..LIMBS - 1).map(|limb| p.add(first[limb], first[limb])).collect(),
        false => Vec::new(),
    };
    let mut columns = ProductSums::new(p, COLUMNS, 1.5 * power(96));
    // Row by row, so that neighbouring products belong to different columns and do not wait for each other.
    let fill = |p: &mut Program, columns: &mut ProductSums, i: usize| {
        for j in 0..LIMBS {
            match products {
                Products::Square if i < j => columns.add_product(p, i + j, twice[i], Memory::First(j)),
                Products::Square if i == j => columns.add_product(p, i + j, first[i], Memory::First(i)),
                Products::Square => {}
                _ => columns.add_product(p, i + j, first[i], Memory::Second(j)),
            }
        }
        if products == Products::Two {
            for j in 0..LIMBS {
                columns.add_product(p, i + j, third[i], Memory::Fourth(j));
            }
        }
    };
    fill(p, &mut columns, 0);
    let (down, up, round) = (p.constant(power(-44)), p.constant(power(44)), p.constant(round()));
    let (by_8, by_16, by_36) =
        (p.constant(power(8)), p.constant(power(16)), p.constant(power(36) - power(4)));
    // The digit of each row and the carry out of it.
    let (mut digits, mut carries): (Vec<Value>, Vec<Value>) = (Vec::new(), Vec::new());
    for column in 0..COLUMNS {
        let mut value = columns.low(column);
        if column > 0 {
            let high = columns.high(p, column - 1);
            value = p.times_plus(high, down, value);
        }
        // q 2^96. Last, because the digit of two rows before is the last value that is known.
        if (2..LIMBS + 2).contains(&column) {
            value = p.times_plus(digits[column - 2], by_8, value);
        }
        let rounded = p.times_plus(value, down, round);
        // The products of the next row, while the digit waits for its rounding.
        if column + 1 < LIMBS {
            fill(p, &mut columns, column + 1);
        }
        let carry = p.subtract(rounded, round);
        let rest = p.minus_times(carry, up, value);
        // The carry of the row before makes a limb or a digit larger by 2^8 at most, so no carry waits for another.
        let limb = match carries.last() {
            Some(before) => p.add(rest, *before),
            None => rest,
        };
        carries.push(carry);
        if column >= LIMBS {
            p.store(limb, Memory::Result(column - LIMBS));
            continue;
        }
        // -1/p = 1 mod 2^88, so the column itself is the digit q of its row, and -q cancels it. What is left of q p is
        // q 2^96, q 2^192, and q (2^256 - 2^224).
        digits.push(limb);
        columns.add_product(p, column + 4, limb, by_16);
        columns.add_product(p, column + 5, limb, by_36);
    }
    let high = columns.high(p, COLUMNS - 1);
    let topmost = p.times_plus(high, down, carries[COLUMNS - 1]);
    p.store(topmost, Memory::Result(LIMBS - 1));
    program
}
