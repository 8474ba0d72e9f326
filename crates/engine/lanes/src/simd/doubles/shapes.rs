//! The sizes of numbers in limbs of doubles. `docs/math/fma.md` proves the bounds for each.

/// A size of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DoubleShape {
    /// The index in [`SHAPES`].
    pub(crate) number: usize,
    /// The number of limbs, a multiple of `tile`.
    pub(crate) limbs: usize,
    /// The columns of a block, whose sums stay in registers.
    pub(crate) tile: usize,
    /// The bits of a limb.
    pub(crate) limb_bits: u32,
}

/// Every size, smallest first: for primes of 512, 1024, 1536 and 2048 bits, and moduli of 3072 and 4096 bits.
pub(crate) const SHAPES: [DoubleShape; 6] = [
    DoubleShape { number: 0, limbs: 12, tile: 6, limb_bits: 44 },
    DoubleShape { number: 1, limbs: 21, tile: 7, limb_bits: 49 },
    DoubleShape { number: 2, limbs: 35, tile: 7, limb_bits: 45 },
    DoubleShape { number: 3, limbs: 45, tile: 5, limb_bits: 46 },
    DoubleShape { number: 4, limbs: 70, tile: 7, limb_bits: 44 },
    DoubleShape { number: 5, limbs: 91, tile: 7, limb_bits: 46 },
];

/// The chains into which the carry of the low half is divided. One chain would wait for the sum before at every step.
pub(crate) const CARRY_CHAINS: usize = 3;

/// The products of a block of rows and two neighbouring blocks of the other factor that belong to a block of columns.
/// Row r and column c have the product with limb `c - r` of the upper one of these two blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// All rows and columns: both blocks of the other factor.
    Full,
    /// Columns from the row on: the upper block.
    Low,
    /// Columns below the row: the lower block.
    High,
}

impl Piece {
    /// Returns true if a row has a product in a column.
    pub(crate) const fn has(self, row: usize, column: usize) -> bool {
        match self {
            Self::Full => true,
            Self::Low => column >= row,
            Self::High => column < row,
        }
    }
}

impl DoubleShape {
    /// Returns the products that a high sum holds before it has to be restarted. Each product is below `2^(2 W - 2)`,
    /// and the sum must stay within `2^(51 + W)` of its constant.
    pub(crate) const fn products_before_restart(&self) -> usize {
        (1 << (53 - self.limb_bits)) - 1
    }

    /// Returns the blocks of a number.
    pub(crate) const fn tiles(&self) -> usize {
        self.limbs / self.tile
    }

    /// Returns the limits of the chains of [`CARRY_CHAINS`], which differ by at most one limb in length.
    pub(crate) const fn chain(&self, at: usize) -> (usize, usize) {
        let (length, longer) = (self.limbs / CARRY_CHAINS, self.limbs % CARRY_CHAINS);
        let first = at * length + if at < longer { at } else { longer };
        (first, first + length + (at < longer) as usize)
    }

    /// Returns the vectors that a product needs besides its numbers: two between blocks, the saved sums of a block, the
    /// doubled multiplicand, the product of double length, and the multiplier of the modulus.
    pub(crate) const fn scratch_len(&self) -> usize {
        2 + self.tile + 4 * self.limbs
    }

    /// Returns the pieces of a block of columns of a square besides the product of a block with itself, each with its
    /// block of rows. The rows are doubled, so each pair of blocks occurs once.
    pub(crate) fn square_pieces(&self, block: usize) -> impl Iterator<Item = (Piece, usize)> {
        let tiles = self.tiles();
        (0..tiles.min(block)).filter_map(move |rows| {
            let other = block - rows;
            let has_low = rows < other && other < tiles;
            let has_high = rows + 1 < other && other <= tiles;
            let piece = match (has_low, has_high) {
                (true, true) => Piece::Full,
                (true, false) => Piece::Low,
                (false, true) => Piece::High,
                (false, false) => return None,
            };
            Some((piece, rows))
        })
    }

    /// Returns true if the high sums of a block of columns of a square restart after the product of a block with
    /// itself, which brings at most `tile + 1` of the products.
    pub(crate) const fn restarts_square(&self, block: usize) -> bool {
        let (tiles, tile) = (self.tiles(), self.tile);
        let blocks = if block < tiles { block + 1 } else { 2 * tiles - block };
        blocks * tile > self.products_before_restart()
    }
}
