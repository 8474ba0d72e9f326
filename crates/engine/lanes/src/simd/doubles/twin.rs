//! The kernels in plain Rust. Every double is the one that the assembly computes: the same products in the same order,
//! restarts of high sums included. Debug builds check the bounds.

use std::hint::black_box;

use zeroize::Zeroizing;

use super::shapes::{CARRY_CHAINS, DoubleShape, Piece};
use super::{DoubleModulus, DoubleVector, PICK_BITS};
use crate::simd::float::{ROUND, power_of_two};

/// The most columns of a block.
const WIDEST: usize = 7;

/// A number, or the double length of one.
type Number = Zeroizing<Vec<DoubleVector>>;

/// Returns `a b / R mod n`.
pub(crate) fn product(
    shape: &DoubleShape,
    a: &[DoubleVector],
    b: &[DoubleVector],
    modulus: DoubleModulus<'_>,
) -> Number {
    let mut below = BelowBlock::default();
    let mut product = lower(shape, a, b, &mut below);
    product.extend(upper(shape, a, b, None, &mut below).iter());
    reduce(shape, &product, modulus)
}

/// Returns `a^2 / R mod n`.
pub(crate) fn square(shape: &DoubleShape, a: &[DoubleVector], modulus: DoubleModulus<'_>) -> Number {
    let tile = shape.tile;
    let doubled: Number = Zeroizing::new(a.iter().map(|limb| *limb + *limb).collect());
    let mut below = BelowBlock::default();
    let mut out = Number::default();
    for block in 0..2 * shape.tiles() {
        let mut columns = ColumnBlock::new(shape, None);
        columns.add_square(block, &a[tile * (block / 2)..], &doubled[tile * (block / 2)..]);
        if shape.restarts_square(block) {
            columns.restart();
        }
        for (piece, rows) in shape.square_pieces(block) {
            columns.add(piece, &doubled[tile * rows..], a, tile * (block - rows));
        }
        columns.finish(&mut below, &mut out);
    }
    reduce(shape, &out, modulus)
}

/// Returns the entries whose numbers are in the bits of the lanes.
pub(crate) fn pick(shape: &DoubleShape, table: &[DoubleVector], index: DoubleVector) -> Number {
    let mut out = Zeroizing::new(vec![DoubleVector::ZERO; shape.limbs]);
    for (number, entry) in (0..1 << PICK_BITS).zip(table.chunks_exact(shape.limbs)) {
        // The compiler must not know that a mask has equal bits, or it could replace the selection by a branch.
        let masks = index.bits().map(|index| black_box(u64::from(index == number).wrapping_neg()));
        for (out, limb) in out.iter_mut().zip(entry) {
            let (kept, limb) = (out.bits(), limb.bits());
            *out = DoubleVector::from_bits(std::array::from_fn(|lane| {
                kept[lane] & !masks[lane] | limb[lane] & masks[lane]
            }));
        }
    }
    out
}

/// Returns the columns of `a b` below R, carried.
fn lower(shape: &DoubleShape, a: &[DoubleVector], b: &[DoubleVector], below: &mut BelowBlock) -> Number {
    let tile = shape.tile;
    let mut out = Number::default();
    for block in 0..shape.tiles() {
        let mut columns = ColumnBlock::new(shape, None);
        for rows in 0..=block {
            columns.reserve_tile();
            let piece = if rows == block { Piece::Low } else { Piece::Full };
            columns.add(piece, &a[tile * rows..], b, tile * (block - rows));
        }
        columns.finish(below, &mut out);
    }
    out
}

/// Returns the columns of `a b` from R on, added to others and carried.
fn upper(
    shape: &DoubleShape,
    a: &[DoubleVector],
    b: &[DoubleVector],
    start: Option<&[DoubleVector]>,
    below: &mut BelowBlock,
) -> Number {
    let (tile, tiles) = (shape.tile, shape.tiles());
    let mut out = Number::default();
    for block in 0..tiles {
        let mut columns = ColumnBlock::new(shape, start.map(|start| &start[tile * block..]));
        columns.products = tile;
        columns.add(Piece::High, &a[tile * block..], b, tile * tiles);
        for rows in block + 1..tiles {
            columns.reserve_tile();
            columns.add(Piece::Full, &a[tile * rows..], b, tile * (tiles + block - rows));
        }
        columns.finish(below, &mut out);
    }
    out
}

/// Returns `T / R mod n` of a product T.
fn reduce(shape: &DoubleShape, product: &[DoubleVector], modulus: DoubleModulus<'_>) -> Number {
    let (low, high) = product.split_at(shape.limbs);
    let quotient = lower(shape, low, modulus.inverse, &mut BelowBlock::default());
    let mut below = carry_of_low_half(shape, low[shape.limbs - 1], &quotient, modulus.n);
    upper(shape, &quotient, modulus.n, Some(high), &mut below)
}

/// Returns what the low half of `T + q n`, a multiple of R, carries into the high half.
fn carry_of_low_half(
    shape: &DoubleShape,
    top: DoubleVector,
    quotient: &[DoubleVector],
    n: &[DoubleVector],
) -> BelowBlock {
    let centre = DoubleVector::splat(centre(shape));
    let mut sums = [top, DoubleVector::ZERO, DoubleVector::ZERO];
    let (mut high, mut high_below) = ([centre; CARRY_CHAINS], [centre; CARRY_CHAINS]);
    for chain in 0..CARRY_CHAINS {
        let (first, end) = shape.chain(chain);
        for (at, limb) in (first..).zip(&quotient[first..end]) {
            let other = shape.limbs - 1 - at;
            let before = high[chain];
            high[chain] = limb.mul_add(n[other], before);
            sums[chain] = sums[chain] + limb.mul_add(n[other], before - high[chain]);
            if other > 0 {
                high_below[chain] = limb.mul_add(n[other - 1], high_below[chain]);
            }
        }
    }
    let sum_of = |chains: [DoubleVector; CARRY_CHAINS]| {
        let [first, second, third] = chains.map(|high| high - centre);
        first + second + third
    };
    let inverse = DoubleVector::splat(inverse_radix(shape));
    let column = sum_of(high_below).mul_add(inverse, sums[0] + sums[1] + sums[2]);
    // A bound beyond which rounding could matter; exactness is not needed here: docs/math/fma.md.
    debug_assert!(column.is_within(power_of_two(53) + 128.0), "the highest column");
    let rounding = DoubleVector::splat(ROUND);
    let carry = column.mul_add(inverse, rounding) - rounding;
    // The other columns below add less than 2^-30, and the sum of all is an integer.
    debug_assert!((column.scaled(inverse_radix(shape)) - carry).is_within(power_of_two(-30)));
    BelowBlock { high: sum_of(high), carry }
}

fn centre(shape: &DoubleShape) -> f64 {
    1.5 * power_of_two(52 + shape.limb_bits as i32)
}

fn inverse_radix(shape: &DoubleShape) -> f64 {
    power_of_two(-(shape.limb_bits as i32))
}

/// The high sum and the carry that a block of columns leaves to the block above.
#[derive(Default)]
struct BelowBlock {
    /// The high sum of the highest column, without its constant.
    high: DoubleVector,
    carry: DoubleVector,
}

impl Default for DoubleVector {
    fn default() -> Self {
        Self::ZERO
    }
}

/// A block of columns.
struct ColumnBlock<'a> {
    shape: &'a DoubleShape,
    high: [DoubleVector; WIDEST],
    low: [DoubleVector; WIDEST],
    /// The addends of the high sums at the end: minus the constant, or the sums before a restart.
    saved: [DoubleVector; WIDEST],
    /// The constant from which the high sums have started.
    start: f64,
    /// The products that a high sum may hold already.
    products: usize,
}

impl<'a> ColumnBlock<'a> {
    fn new(shape: &'a DoubleShape, low: Option<&[DoubleVector]>) -> Self {
        let start = centre(shape);
        let mut columns = Self {
            shape,
            high: [DoubleVector::splat(start); WIDEST],
            low: [DoubleVector::ZERO; WIDEST],
            saved: [DoubleVector::splat(-start); WIDEST],
            start,
            products: 0,
        };
        if let Some(low) = low {
            columns.low[..shape.tile].copy_from_slice(&low[..shape.tile]);
        }
        columns
    }

    /// Adds the products of a block of rows. Row 0 and column 0 meet at limb `first` of the other factor.
    fn add(&mut self, piece: Piece, rows: &[DoubleVector], other: &[DoubleVector], first: usize) {
        for (row, limb) in rows[..self.shape.tile].iter().enumerate() {
            for column in (0..self.shape.tile).filter(|column| piece.has(row, *column)) {
                self.add_product(column, *limb, other[first + column - row]);
            }
        }
    }

    /// Adds the products of a block with itself: of its lower half if the block of columns is even.
    fn add_square(&mut self, block: usize, limbs: &[DoubleVector], doubled: &[DoubleVector]) {
        let tile = self.shape.tile;
        let base = block % 2 * tile;
        for row in 0..tile {
            for column in 0..tile {
                let other = (column + base).wrapping_sub(row);
                if row < other && other < tile {
                    self.add_product(column, doubled[row], limbs[other]);
                }
            }
            if (base..base + tile).contains(&(2 * row)) {
                self.add_product(2 * row - base, limbs[row], limbs[row]);
            }
        }
    }

    fn add_product(&mut self, column: usize, a: DoubleVector, b: DoubleVector) {
        let before = self.high[column];
        self.high[column] = a.mul_add(b, before);
        // Exact: the unit in the last place of both is 2^W.
        let rest = a.mul_add(b, before - self.high[column]);
        self.low[column] = self.low[column] + rest;
        let half = power_of_two(self.shape.limb_bits as i32 - 1);
        debug_assert!(rest.is_within(half), "the rest of a product");
        debug_assert!(
            (self.high[column] - DoubleVector::splat(self.start))
                .is_within(power_of_two(51 + self.shape.limb_bits as i32)),
            "a high sum"
        );
    }

    /// Restarts the high sums if another block of rows would exceed what they hold.
    fn reserve_tile(&mut self) {
        if self.products + self.shape.tile > self.shape.products_before_restart() {
            self.restart();
            self.products = 0;
        }
        self.products += self.shape.tile;
    }

    fn restart(&mut self) {
        debug_assert!(self.start > 0.0, "one restart for each block");
        self.saved = self.high;
        self.start = -self.start;
        self.high = [DoubleVector::splat(self.start); WIDEST];
    }

    /// Appends the limbs.
    fn finish(self, below: &mut BelowBlock, out: &mut Number) {
        let (inverse, radix) = (inverse_radix(self.shape), power_of_two(self.shape.limb_bits as i32));
        for column in 0..self.shape.tile {
            let sum = below.high.mul_add(DoubleVector::splat(inverse), self.low[column]);
            debug_assert!(sum.is_within(power_of_two(53)), "a column");
            let carry = sum.scaled(inverse).rounded();
            let limb = DoubleVector::splat(-radix).mul_add(carry, sum) + below.carry;
            debug_assert!(limb.is_within(self.shape.limb_bound()), "a limb");
            out.push(limb);
            *below = BelowBlock { high: self.high[column] + self.saved[column], carry };
        }
    }
}
