//! The assembly of the kernels, in the syntax of AT&T.
//!
//! | register | content |
//! |---|---|
//! | rdi, rsi, r13 | result, first and second factor, or the number of squares |
//! | rcx, r8 | modulus, and its inverse |
//! | r9 | scratch |
//! | r10, r11 | the row's limbs, the other factor's limbs |
//! | r12 | columns from which low sums start |
//! | r14 | constants, from 128 bytes before |
//! | rbx | the block of the result |
//! | rdx | what a block adds to its high sums at the end |

use std::fmt::Write;

use super::shapes::{CARRY_CHAINS, DoubleShape, Piece, SHAPES};

/// The bytes of a vector.
const VECTOR: usize = 32;

/// The entries of a table.
const ENTRIES: usize = 32;

/// The most limbs that are selected at a time.
const PICKED: usize = 12;

/// Constants by their distance from r14.
const CENTRE: &str = "-128(%r14)";
const MINUS_CENTRE: &str = "-96(%r14)";
const BELOW: &str = "-64(%r14)";
const RADIX: &str = "-32(%r14)";
const ROUNDING: &str = "(%r14)";
const MINUS_CENTRES: &str = "32(%r14)";

/// Returns the kernels of every shape.
pub(crate) fn kernels() -> String {
    let mut out = Assembly::default();
    out.text.push_str(
        "# Made by `cargo xtask fma`. Kernels of numbers in limbs of doubles: docs/math/fma.md.\n\
         # (result, a, b, modulus, inverse, scratch, kernel): square, product and look-up of each shape.\n",
    );
    out.dispatch();
    let mut tiles: Vec<usize> = SHAPES.iter().map(|shape| shape.tile).collect();
    tiles.sort_unstable();
    tiles.dedup();
    for tile in tiles {
        Pieces::new(&mut out, tile).emit();
    }
    for shape in &SHAPES {
        Kernel { out: &mut out, shape, scratch: ScratchLayout::new(shape) }.emit();
    }
    for shape in &SHAPES {
        out.constants(shape);
    }
    out.text
}

#[derive(Default)]
struct Assembly {
    text: String,
}

impl Assembly {
    fn line(&mut self, instruction: &str) {
        let _infallible = writeln!(self.text, "\t{instruction}");
    }

    fn label(&mut self, name: &str) {
        let _infallible = writeln!(self.text, "\t.p2align 6\n{name}:");
    }

    /// Jumps to the kernel whose number is the seventh argument.
    fn dispatch(&mut self) {
        self.line("mov 8(%rsp), %eax");
        self.line("lea .Lfma_table(%rip), %r10");
        self.line("movslq (%r10,%rax,4), %rax");
        self.line("add %r10, %rax");
        self.line("jmp *%rax");
        self.label(".Lfma_table");
        for shape in &SHAPES {
            for kernel in ["square", "product", "pick"] {
                self.line(&format!(".long .Lfma_{kernel}_{} - .Lfma_table", shape.limbs));
            }
        }
    }

    /// Writes the constants of a shape: C and -C, `2^-W`, `2^W`, the constant that rounds, and -C for each column.
    fn constants(&mut self, shape: &DoubleShape) {
        let bits = shape.limb_bits as i32;
        let centre = 1.5 * 2_f64.powi(52 + bits);
        let values = [centre, -centre, 2_f64.powi(-bits), 2_f64.powi(bits), 1.5 * 2_f64.powi(52)];
        self.label(&format!(".Lfma_constants_{}", shape.limbs));
        for value in values.into_iter().chain((0..shape.tile).map(|_| -centre)) {
            self.line(&format!(".quad {0:#x}, {0:#x}, {0:#x}, {0:#x}", value.to_bits()));
        }
    }
}

/// The pieces of code of blocks of one width, which all shapes with this width call.
struct Pieces<'a> {
    out: &'a mut Assembly,
    tile: usize,
    /// The columns that no product has been added to.
    fresh: Vec<bool>,
}

/// A product of the row's limb: its column, and the other factor in memory.
type ColumnProduct = (usize, String);

impl<'a> Pieces<'a> {
    fn new(out: &'a mut Assembly, tile: usize) -> Self {
        Self { out, tile, fresh: vec![false; tile] }
    }

    fn emit(mut self) {
        self.start("start", false);
        self.start("start_from", true);
        self.restart();
        for piece in [Piece::Full, Piece::Low, Piece::High] {
            self.rows(piece);
        }
        self.square_low();
        self.square_high();
        self.finish();
    }

    fn high(&self, column: usize) -> String {
        format!("%ymm{column}")
    }

    fn low(&self, column: usize) -> String {
        format!("%ymm{}", self.tile + column)
    }

    fn row(&self) -> String {
        format!("%ymm{}", 2 * self.tile)
    }

    fn begin(&mut self, name: &str) {
        self.out.label(&format!(".Lfma{}_{name}", self.tile));
    }

    fn line(&mut self, instruction: &str) {
        self.out.line(instruction);
    }

    /// Starts the sums of a block. Low sums are zero, or come from memory.
    fn start(&mut self, name: &str, from_memory: bool) {
        self.begin(name);
        self.line(&format!("lea {MINUS_CENTRES}, %rdx"));
        for column in 0..self.tile {
            let (high, low) = (self.high(column), self.low(column));
            match column {
                0 => self.line(&format!("vmovapd {CENTRE}, {high}")),
                _ => self.line(&format!("vmovapd %ymm0, {high}")),
            }
            match from_memory {
                true => self.line(&format!("vmovapd {}(%r12), {low}", VECTOR * column)),
                false => self.clear(&low),
            }
        }
        if from_memory {
            self.line(&format!("add ${}, %r12", VECTOR * self.tile));
        }
        self.line("ret");
    }

    fn clear(&mut self, register: &str) {
        let half = register.replace("ymm", "xmm");
        self.line(&format!("vxorpd {half}, {half}, {half}"));
    }

    /// Saves the high sums and starts them from -C.
    fn restart(&mut self) {
        self.begin("restart");
        for column in 0..self.tile {
            let high = self.high(column);
            self.line(&format!("vmovapd {high}, {}(%r9)", VECTOR * (2 + column)));
        }
        self.line(&format!("vmovapd {MINUS_CENTRE}, %ymm0"));
        for column in 1..self.tile {
            let high = self.high(column);
            self.line(&format!("vmovapd %ymm0, {high}"));
        }
        self.line(&format!("lea {}(%r9), %rdx", VECTOR * 2));
        self.line("ret");
    }

    /// Writes a piece that adds as many rows as a block has columns, once for a new block and once for a started one.
    fn rows(&mut self, piece: Piece) {
        for is_first in [false, true] {
            // Row 0 of the piece `high` is empty, and no block begins with it.
            if is_first && piece == Piece::High {
                continue;
            }
            self.begin(&format!("{}{}", piece.name(), if is_first { "_first" } else { "" }));
            if is_first {
                self.first();
            }
            for row in 0..self.tile {
                let columns = (0..self.tile).filter(|column| piece.has(row, *column));
                let products = columns.map(|column| (column, at("r11", column as isize - row as isize)));
                let products: Vec<ColumnProduct> = products.collect();
                self.add_row("r10", row, &products);
            }
            self.line("ret");
        }
    }

    fn first(&mut self) {
        self.fresh.fill(true);
        self.line(&format!("lea {MINUS_CENTRES}, %rdx"));
    }

    /// Adds the products of a block with itself to the columns of its lower half.
    fn square_low(&mut self) {
        self.begin("square_low");
        self.first();
        for row in 0..self.tile {
            let above = (2 * row + 1..self.tile).map(|column| (column, at("r11", (column - row) as isize)));
            let above: Vec<ColumnProduct> = above.collect();
            self.add_row("r10", row, &above);
            if 2 * row < self.tile {
                self.add_row("r11", row, &[(2 * row, at("r11", row as isize))]);
            }
        }
        self.line("ret");
    }

    /// Adds the products of a block with itself to the columns of its upper half.
    fn square_high(&mut self) {
        self.begin("square_high");
        self.first();
        for row in 0..self.tile {
            let columns = (0..self.tile).filter(|column| {
                let other = (column + self.tile).wrapping_sub(row);
                row < other && other < self.tile
            });
            let above = columns.map(|column| (column, at("r11", (column + self.tile - row) as isize)));
            let above: Vec<ColumnProduct> = above.collect();
            self.add_row("r10", row, &above);
            if (self.tile..2 * self.tile).contains(&(2 * row)) {
                self.add_row("r11", row, &[(2 * row - self.tile, at("r11", row as isize))]);
            }
        }
        for column in 0..self.tile {
            if self.fresh[column] {
                let (high, low) = (self.high(column), self.low(column));
                self.line(&format!("vmovapd {CENTRE}, {high}"));
                self.clear(&low);
            }
        }
        self.line("ret");
    }

    /// Adds products of one limb.
    fn add_row(&mut self, base: &str, row: usize, products: &[ColumnProduct]) {
        if products.is_empty() {
            return;
        }
        let limb = self.row();
        self.line(&format!("vmovapd {}, {limb}", at(base, row as isize)));
        let (fresh, started): (Vec<_>, Vec<_>) = products.iter().partition(|(column, _)| self.fresh[*column]);
        // As many products side by side as there are registers for their rests.
        for group in started.chunks(15 - 2 * self.tile) {
            self.add_products(group);
        }
        for (column, other) in fresh {
            self.set_product(*column, other);
        }
    }

    fn add_products(&mut self, products: &[&ColumnProduct]) {
        let limb = self.row();
        let rest = |at: usize, tile: usize| format!("%ymm{}", 2 * tile + 1 + at);
        for (at, (column, other)) in products.iter().enumerate() {
            let (high, rest) = (self.high(*column), rest(at, self.tile));
            self.line(&format!("vmovapd {high}, {rest}"));
            self.line(&format!("vfmadd231pd {other}, {limb}, {high}"));
        }
        for (at, (column, _)) in products.iter().enumerate() {
            let (high, rest) = (self.high(*column), rest(at, self.tile));
            self.line(&format!("vsubpd {high}, {rest}, {rest}"));
        }
        for (at, (_, other)) in products.iter().enumerate() {
            let rest = rest(at, self.tile);
            self.line(&format!("vfmadd231pd {other}, {limb}, {rest}"));
        }
        for (at, (column, _)) in products.iter().enumerate() {
            let (low, rest) = (self.low(*column), rest(at, self.tile));
            self.line(&format!("vaddpd {rest}, {low}, {low}"));
        }
    }

    /// Starts a column with its first product.
    fn set_product(&mut self, column: usize, other: &str) {
        let (high, low, limb) = (self.high(column), self.low(column), self.row());
        self.line(&format!("vmovapd {CENTRE}, {high}"));
        self.line(&format!("vmovapd {high}, {low}"));
        self.line(&format!("vfmadd231pd {other}, {limb}, {high}"));
        self.line(&format!("vsubpd {high}, {low}, {low}"));
        self.line(&format!("vfmadd231pd {other}, {limb}, {low}"));
        self.fresh[column] = false;
    }

    /// Carries a block and stores its limbs.
    fn finish(&mut self) {
        self.begin("finish");
        let row = self.row();
        self.line(&format!("vmovapd (%r9), {row}"));
        let (mut below, mut carry) = (row, format!("{VECTOR}(%r9)"));
        for column in 0..self.tile {
            let (high, low) = (self.high(column), self.low(column));
            self.line(&format!("vaddpd {}, {high}, {high}", at("rdx", column as isize)));
            self.line(&format!("vfmadd231pd {BELOW}, {below}, {low}"));
            self.line(&format!("vmulpd {BELOW}, {low}, {below}"));
            self.line(&format!("vroundpd $8, {below}, {below}"));
            self.line(&format!("vfnmadd231pd {RADIX}, {below}, {low}"));
            self.line(&format!("vaddpd {carry}, {low}, {low}"));
            self.line(&format!("vmovapd {low}, {}", at("rbx", column as isize)));
            (carry, below) = (below, high);
        }
        self.line(&format!("vmovapd {below}, (%r9)"));
        self.line(&format!("vmovapd {carry}, {VECTOR}(%r9)"));
        self.line(&format!("add ${}, %rbx", VECTOR * self.tile));
        self.line("ret");
    }
}

/// Returns the operand of a vector in memory.
fn at(base: &str, vector: isize) -> String {
    match vector * VECTOR as isize {
        0 => format!("(%{base})"),
        offset => format!("{offset}(%{base})"),
    }
}

/// The first vectors of the numbers in scratch memory. Before them are the high sum of the column below the next block,
/// the carry into that block, and the high sums of a block before their restart.
struct ScratchLayout {
    doubled: usize,
    product: usize,
    quotient: usize,
}

impl ScratchLayout {
    fn new(shape: &DoubleShape) -> Self {
        let doubled = 2 + shape.tile;
        let product = doubled + shape.limbs;
        let layout = Self { doubled, product, quotient: product + 2 * shape.limbs };
        assert_eq!(layout.quotient + shape.limbs, shape.scratch_len(), "the length of scratch memory");
        layout
    }
}

/// The kernels of one shape.
struct Kernel<'a> {
    out: &'a mut Assembly,
    shape: &'a DoubleShape,
    scratch: ScratchLayout,
}

impl Piece {
    fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Low => "low",
            Self::High => "high",
        }
    }
}

/// A number in memory: a register, and the number's first vector.
type NumberPlace = (&'static str, usize);

impl Kernel<'_> {
    fn emit(mut self) {
        let limbs = self.shape.limbs;
        for (name, is_square) in [("square", true), ("product", false)] {
            self.out.label(&format!(".Lfma_{name}_{limbs}"));
            for register in ["rbx", "r12", "r13", "r14"] {
                self.line(&format!("push %{register}"));
            }
            self.line("mov %rdx, %r13");
            self.line(&format!("lea .Lfma_constants_{limbs}+128(%rip), %r14"));
            if is_square {
                // The number of squares is in the place of the second factor.
                self.line("2:");
                self.square();
                self.reduce();
                self.line("mov %rdi, %rsi");
                self.line("dec %r13");
                self.line("jnz 2b");
            } else {
                self.product();
                self.reduce();
            }
            for register in ["r14", "r13", "r12", "rbx"] {
                self.line(&format!("pop %{register}"));
            }
            self.leave();
        }
        self.out.label(&format!(".Lfma_pick_{limbs}"));
        self.pick();
    }

    fn line(&mut self, instruction: &str) {
        self.out.line(instruction);
    }

    /// Returns to the caller. The next instruction of the old encoding of SSE would wait for dirty upper halves.
    fn leave(&mut self) {
        self.line("vzeroupper");
        self.line("ret");
    }

    fn call(&mut self, piece: &str) {
        self.line(&format!("call .Lfma{}_{piece}", self.shape.tile));
    }

    /// Calls a piece with the places of its rows and of the other factor.
    fn add(&mut self, piece: &str, (row, rows): NumberPlace, (other, others): NumberPlace) {
        self.line(&format!("lea {}, %r10", at(row, rows as isize)));
        self.line(&format!("lea {}, %r11", at(other, others as isize)));
        self.call(piece);
    }

    fn no_carry(&mut self) {
        self.line("vxorpd %xmm0, %xmm0, %xmm0");
        self.line("vmovapd %ymm0, (%r9)");
        self.line(&format!("vmovapd %ymm0, {VECTOR}(%r9)"));
    }

    /// Restarts the high sums if another block of rows would exceed what they hold, and counts the rows.
    fn reserve_tile(&mut self, products: &mut usize) {
        if *products + self.shape.tile > self.shape.products_before_restart() {
            self.call("restart");
            *products = 0;
        }
        *products += self.shape.tile;
    }

    /// Adds the columns of `a b` below R.
    fn lower(&mut self, a: NumberPlace, b: NumberPlace) {
        let tile = self.shape.tile;
        for block in 0..self.shape.tiles() {
            let mut products = 0;
            for at in 0..=block {
                self.reserve_tile(&mut products);
                let piece = if at == block { Piece::Low } else { Piece::Full };
                let first = if at == 0 { "_first" } else { "" };
                self.add(
                    &format!("{}{first}", piece.name()),
                    (a.0, a.1 + tile * at),
                    (b.0, b.1 + tile * (block - at)),
                );
            }
            self.call("finish");
        }
    }

    /// Adds the columns of `a b` from R on.
    fn upper(&mut self, a: NumberPlace, b: NumberPlace, start: &str) {
        let (tile, tiles) = (self.shape.tile, self.shape.tiles());
        for block in 0..tiles {
            self.call(start);
            let mut products = tile;
            self.add(Piece::High.name(), (a.0, a.1 + tile * block), (b.0, b.1 + tile * tiles));
            for at in block + 1..tiles {
                self.reserve_tile(&mut products);
                self.add(
                    Piece::Full.name(),
                    (a.0, a.1 + tile * at),
                    (b.0, b.1 + tile * (tiles + block - at)),
                );
            }
            self.call("finish");
        }
    }

    fn product(&mut self) {
        self.no_carry();
        self.line(&format!("lea {}, %rbx", at("r9", self.scratch.product as isize)));
        self.lower(("rsi", 0), ("r13", 0));
        self.upper(("rsi", 0), ("r13", 0), "start");
    }

    fn square(&mut self) {
        let (tile, tiles) = (self.shape.tile, self.shape.tiles());
        for limb in 0..self.shape.limbs {
            let register = format!("%ymm{}", limb % 4);
            self.line(&format!("vmovapd {}, {register}", at("rsi", limb as isize)));
            self.line(&format!("vaddpd {register}, {register}, {register}"));
            self.line(&format!("vmovapd {register}, {}", at("r9", (self.scratch.doubled + limb) as isize)));
        }
        self.no_carry();
        self.line(&format!("lea {}, %rbx", at("r9", self.scratch.product as isize)));
        let doubled = self.scratch.doubled;
        for block in 0..2 * tiles {
            let piece = if block % 2 == 0 { "square_low" } else { "square_high" };
            let at = tile * (block / 2);
            self.add(piece, ("r9", doubled + at), ("rsi", at));
            if self.shape.restarts_square(block) {
                self.call("restart");
            }
            for (piece, at) in self.shape.square_pieces(block) {
                self.add(piece.name(), ("r9", doubled + tile * at), ("rsi", tile * (block - at)));
            }
            self.call("finish");
        }
    }

    /// Computes the multiplier q of the modulus, the carry of the low half, and the high half of the sum.
    fn reduce(&mut self) {
        let product = self.scratch.product;
        let quotient = at("r9", self.scratch.quotient as isize);
        self.no_carry();
        self.line(&format!("lea {quotient}, %rbx"));
        self.lower(("r9", product), ("r8", 0));
        self.carry_of_low_half();
        self.line("mov %rdi, %rbx");
        self.line(&format!("lea {}, %r12", at("r9", (product + self.shape.limbs) as isize)));
        self.upper(("r9", self.scratch.quotient), ("rcx", 0), "start_from");
    }

    /// Computes the carry of the low half of `T + q n`, from its highest column and the high halves of the column
    /// below.
    fn carry_of_low_half(&mut self) {
        let shape = *self.shape;
        self.line(&format!("vmovapd {CENTRE}, %ymm0"));
        for register in 1..2 * CARRY_CHAINS {
            self.line(&format!("vmovapd %ymm0, %ymm{register}"));
        }
        let top = (self.scratch.product + shape.limbs - 1) as isize;
        self.line(&format!("vmovapd {}, %ymm6", at("r9", top)));
        self.line("vxorpd %xmm7, %xmm7, %xmm7");
        self.line("vxorpd %xmm8, %xmm8, %xmm8");
        self.line(&format!("lea {}, %r10", at("r9", self.scratch.quotient as isize)));
        self.line(&format!("lea {}, %r11", at("rcx", shape.limbs as isize - 1)));
        // All chains have this many limbs. The last limbs of the chains follow, because the last limb of all has no
        // product in the column below.
        let (first, end) = shape.chain(CARRY_CHAINS - 1);
        let rounds = end - first - 1;
        self.line(&format!("mov ${rounds}, %eax"));
        self.line("1:");
        for chain in 0..CARRY_CHAINS {
            self.carry_product(chain, 0, true);
        }
        self.line(&format!("add ${VECTOR}, %r10"));
        self.line(&format!("sub ${VECTOR}, %r11"));
        self.line("dec %eax");
        self.line("jnz 1b");
        for chain in 0..CARRY_CHAINS {
            let (first, end) = shape.chain(chain);
            for limb in first + rounds..end {
                self.carry_product(chain, limb - first - rounds, limb + 1 < shape.limbs);
            }
        }
        for register in 0..2 * CARRY_CHAINS {
            self.line(&format!("vsubpd {CENTRE}, %ymm{register}, %ymm{register}"));
        }
        for (from, to) in [(1, 0), (2, 0), (4, 3), (5, 3), (7, 6), (8, 6)] {
            self.line(&format!("vaddpd %ymm{from}, %ymm{to}, %ymm{to}"));
        }
        self.line(&format!("vfmadd231pd {BELOW}, %ymm3, %ymm6"));
        self.line(&format!("vmovapd {ROUNDING}, %ymm1"));
        self.line(&format!("vfmadd231pd {BELOW}, %ymm6, %ymm1"));
        self.line(&format!("vsubpd {ROUNDING}, %ymm1, %ymm1"));
        self.line("vmovapd %ymm0, (%r9)");
        self.line(&format!("vmovapd %ymm1, {VECTOR}(%r9)"));
    }

    /// Adds a product of one chain to the highest column, and its high half to the column below.
    fn carry_product(&mut self, chain: usize, step: usize, has_below: bool) {
        let offset = (self.shape.chain(chain).0 + step) as isize;
        let (limb, rest) = (format!("%ymm{}", 9 + chain), format!("%ymm{}", 12 + chain));
        let other = at("r11", -offset);
        self.line(&format!("vmovapd {}, {limb}", at("r10", offset)));
        self.line(&format!("vmovapd %ymm{chain}, {rest}"));
        self.line(&format!("vfmadd231pd {other}, {limb}, %ymm{chain}"));
        self.line(&format!("vsubpd %ymm{chain}, {rest}, {rest}"));
        self.line(&format!("vfmadd231pd {other}, {limb}, {rest}"));
        self.line(&format!("vaddpd {rest}, %ymm{0}, %ymm{0}", 6 + chain));
        if has_below {
            self.line(&format!("vfmadd231pd {}, {limb}, %ymm{}", at("r11", -offset - 1), 3 + chain));
        }
    }

    /// Copies an entry of a table (rsi) by the indices of the lanes (rdx). Reads all entries whole.
    fn pick(&mut self) {
        let limbs = self.shape.limbs;
        // The indices, a vector of ones and the number of the entry, in integers.
        self.line("vmovdqa (%rdx), %ymm15");
        self.line("vpcmpeqd %ymm14, %ymm14, %ymm14");
        let groups = limbs.div_ceil(PICKED);
        let size = limbs.div_ceil(groups);
        for first in (0..limbs).step_by(size) {
            let count = size.min(limbs - first);
            for limb in 0..count {
                self.line(&format!("vxorpd %xmm{limb}, %xmm{limb}, %xmm{limb}"));
            }
            self.line("vpxor %xmm13, %xmm13, %xmm13");
            self.line(&format!("lea {}, %r10", at("rsi", first as isize)));
            self.line(&format!("mov ${ENTRIES}, %eax"));
            self.line("1:");
            self.line("vpcmpeqq %ymm13, %ymm15, %ymm12");
            self.line("vpsubq %ymm14, %ymm13, %ymm13");
            for limb in 0..count {
                self.line(&format!("vblendvpd %ymm12, {}, %ymm{limb}, %ymm{limb}", at("r10", limb as isize)));
            }
            self.line(&format!("add ${}, %r10", VECTOR * limbs));
            self.line("dec %eax");
            self.line("jnz 1b");
            for limb in 0..count {
                self.line(&format!("vmovapd %ymm{limb}, {}", at("rdi", (first + limb) as isize)));
            }
        }
        self.leave();
    }
}
