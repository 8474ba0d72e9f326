//! Poly1305: one message at a time, and sixteen blocks of a long message side by side. RFC 8439 2.5.
//!
//! A number modulo `p = 2^130 - 5` has limbs of 44, 44 and 42 bits. A limb of a product that lies above the top one is
//! multiplied by 20: it counts `2^132`, which is 20 modulo p. `docs/math/poly1305.md` has the bounds.

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::simd::{BlindMulVector, BlindVector, LANES, LaneArray, MulSimd, MulVector, UnzipSimd, Vector};

/// The bytes of a block.
const BLOCK: usize = 16;

/// The bytes that the lanes absorb in a step: two vectors of eight blocks.
pub(super) const STRIDE: usize = 2 * LANES * BLOCK;

const LOW_44: u64 = (1 << 44) - 1;
const LOW_42: u64 = (1 << 42) - 1;

/// The bit after the last byte of a whole block, in the top limb.
const END_OF_BLOCK: u64 = 1 << 40;

/// The limbs of a number modulo p, the lowest first. All but the middle one are reduced; that one may be longer by a
/// bit.
type Limbs = [u64; 3];

/// A power of r with multiples of its limbs.
#[derive(Clone, Copy, Zeroize)]
struct Factor {
    limbs: Limbs,
    /// Twenty times the middle and the top limb.
    folded: [u64; 2],
}

/// The sum of a message under a one-time key.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(super) struct Poly1305 {
    factor: Factor,
    sum: Limbs,
    /// The second half of the key, which is added at the end.
    pad: u128,
}

impl Factor {
    #[inline(always)]
    fn new(limbs: Limbs) -> Self {
        Self { limbs, folded: [20 * limbs[1], 20 * limbs[2]] }
    }

    /// Returns the product with a number whose limbs are below `2^46`.
    #[inline(always)]
    fn times(&self, [a, b, c]: Limbs) -> Limbs {
        let Self { limbs: [r0, r1, r2], folded: [s1, s2] } = *self;
        let mul = |x: u64, y: u64| u128::from(x) * u128::from(y);
        let low = mul(a, r0) + mul(b, s2) + mul(c, s1);
        let middle = mul(a, r1) + mul(b, r0) + mul(c, s2) + (low >> 44);
        let top = mul(a, r2) + mul(b, r1) + mul(c, r0) + (middle >> 44);
        let low = (low as u64 & LOW_44) + 5 * (top >> 42) as u64;
        [low & LOW_44, (middle as u64 & LOW_44) + (low >> 44), top as u64 & LOW_42]
    }
}

/// Returns the limbs of a number below `2^128`, with a bit after its last byte.
#[inline(always)]
fn limbs(number: u128, end: u64) -> Limbs {
    [number as u64 & LOW_44, (number >> 44) as u64 & LOW_44, (number >> 88) as u64 | end]
}

impl Poly1305 {
    /// Starts a message under a one-time key: r and then s.
    pub(super) fn new(key: &[u8; 32]) -> Self {
        /// The bits that r may have. RFC 8439 2.5.
        const CLAMP: u128 = 0x0FFF_FFFC_0FFF_FFFC_0FFF_FFFC_0FFF_FFFF;
        let halves = key.as_chunks().0;
        let [r, s] = [halves[0], halves[1]].map(u128::from_le_bytes);
        Self { factor: Factor::new(limbs(r & CLAMP, 0)), sum: [0; 3], pad: s }
    }

    #[inline(always)]
    fn absorb_block(&mut self, block: Limbs) {
        let [a, b, c] = self.sum;
        self.sum = self.factor.times([a + block[0], b + block[1], c + block[2]]);
    }

    /// Absorbs bytes whose last block may be short: a bit follows the last byte, and then zeros.
    pub(super) fn absorb(&mut self, bytes: &[u8]) {
        let (blocks, rest) = bytes.as_chunks();
        for block in blocks {
            self.absorb_block(limbs(u128::from_le_bytes(*block), END_OF_BLOCK));
        }
        if !rest.is_empty() {
            self.absorb_block(limbs(short_block(rest) | 1 << (8 * rest.len()), 0));
        }
    }

    /// Absorbs bytes that are padded with zeros to whole blocks.
    pub(super) fn absorb_padded(&mut self, bytes: &[u8]) {
        let (blocks, rest) = bytes.as_chunks::<BLOCK>();
        self.absorb(blocks.as_flattened());
        if !rest.is_empty() {
            self.absorb_block(limbs(short_block(rest), END_OF_BLOCK));
        }
    }

    /// Absorbs the lengths of the associated data and of the ciphertext. RFC 8439 2.8.
    pub(super) fn absorb_lengths(&mut self, aad_len: usize, len: usize) {
        self.absorb_block(limbs(aad_len as u128 | (len as u128) << 64, END_OF_BLOCK));
    }

    /// Returns the tag.
    pub(super) fn tag(&self) -> [u8; BLOCK] {
        let [a, b, c] = self.sum;
        // Fully carried, the sum is below 2^130, so it needs at most one subtraction of p.
        let b = b + (a >> 44);
        let c = c + (b >> 44);
        let a = (a & LOW_44) + 5 * (c >> 42);
        let b = (b & LOW_44) + (a >> 44);
        let [a, c] = [a & LOW_44, (c & LOW_42) + (b >> 44)];
        let b = b & LOW_44;
        // Subtracts p by adding 5: the bit 2^130 tells if the sum is at least p.
        let carry = (((a + 5) >> 44) + b) >> 44;
        let is_above = (c + carry) >> 42;
        let number = u128::from(a) | u128::from(b) << 44 | u128::from(c) << 88;
        number.wrapping_add(u128::from(5 * is_above)).wrapping_add(self.pad).to_le_bytes()
    }

    /// Absorbs whole strides of [`STRIDE`] bytes, sixteen blocks at a time.
    #[inline(always)]
    pub(super) fn absorb_strides<S: UnzipSimd>(&mut self, simd: S, bytes: &[u8]) {
        let (pieces, _) = <S::V as Vector>::Bytes::chunks(bytes);
        let mut pieces = pieces.chunks_exact(STRIDE / S::V::BYTES);
        let Some(mut piece) = pieces.next() else { return };
        let powers = Powers::new(simd, &self.factor);
        let mut sums = [[simd.zero(); 3]; 2];
        // The sum so far belongs to the first block, which is in lane 0.
        for (lanes, limb) in sums[0].iter_mut().zip(self.sum) {
            *lanes = lanes.or_if(1, simd.splat(limb));
        }
        loop {
            for (sum, halves) in sums.iter_mut().zip(piece.as_chunks::<2>().0) {
                add_blocks(simd, sum, halves);
            }
            match pieces.next() {
                Some(next) => piece = next,
                None => break,
            }
            for sum in &mut sums {
                *sum = powers.sixteenth.times(simd, sum);
            }
        }
        let mut total = [simd.zero(); 3];
        for (sum, power) in sums.iter().zip(&powers.last) {
            for (limb, more) in total.iter_mut().zip(power.times(simd, sum)) {
                *limb = *limb + more;
            }
        }
        self.sum = carried(total.map(
            #[inline(always)]
            |limb| limb.words().iter().sum(),
        ));
    }
}

/// Returns the number of a block with fewer than 16 bytes.
fn short_block(bytes: &[u8]) -> u128 {
    let mut block = [0; BLOCK];
    block[..bytes.len()].copy_from_slice(bytes);
    let number = u128::from_le_bytes(block);
    block.zeroize();
    number
}

/// Returns limbs below `2^49` as those of a reduced number.
#[inline(always)]
fn carried([a, b, c]: Limbs) -> Limbs {
    let b = b + (a >> 44);
    let c = c + (b >> 44);
    let a = (a & LOW_44) + 5 * (c >> 42);
    [a & LOW_44, (b & LOW_44) + (a >> 44), c & LOW_42]
}

/// A [`Factor`] in each lane.
#[derive(Clone, Copy)]
struct LaneFactor<V> {
    limbs: [V; 3],
    folded: [V; 2],
}

/// The powers of r that the lanes need.
struct Powers<V> {
    /// r^16 in every lane.
    sixteenth: LaneFactor<V>,
    /// The power by which each block of the last step is multiplied, for both vectors of blocks.
    last: [LaneFactor<V>; 2],
}

impl<V: MulVector> LaneFactor<V> {
    /// Returns factors of limbs in the lanes. The middle limb is below `2^45`.
    #[inline(always)]
    fn new(limbs: [V; 3]) -> Self {
        let folded = [limbs[1], limbs[2]].map(
            #[inline(always)]
            |limb| limb.shl::<4>() + limb.shl::<2>(),
        );
        Self { limbs, folded }
    }

    /// Multiplies numbers whose limbs are below `2^46`.
    #[inline(always)]
    fn times<S: MulSimd<V = V>>(&self, simd: S, number: &[V; 3]) -> [V; 3] {
        let Self { limbs: [r0, r1, r2], folded: [s1, s2] } = *self;
        let (low_44, low_42) = (simd.splat(LOW_44), simd.splat(LOW_42));
        let [low, low_high] = column(simd.zero(), number, [r0, s2, s1]);
        let [middle, middle_high] = column(simd.zero(), number, [r1, r0, s2]);
        let [top, top_high] = column(simd.zero(), number, [r2, r1, r0]);
        // A high half counts 2^52 of its limb, which is 2^8 of the next one, and 2^10 times 2^130 for the top limb.
        let middle = middle + low_high.shl::<8>() + low.shr::<44>();
        let top = top + middle_high.shl::<8>() + middle.shr::<44>();
        let above = top.shr::<42>() + top_high.shl::<10>();
        let low = (low & low_44) + above + above.shl::<2>();
        [low & low_44, (middle & low_44) + low.shr::<44>(), top & low_42]
    }
}

/// Returns the low and the high 52 bits of a sum of three products, each half as a sum.
#[inline(always)]
fn column<V: MulVector>(zero: V, [a, b, c]: &[V; 3], [x, y, z]: [V; 3]) -> [V; 2] {
    [zero.madd_lo(*a, x).madd_lo(*b, y).madd_lo(*c, z), zero.madd_hi(*a, x).madd_hi(*b, y).madd_hi(*c, z)]
}

impl<V: MulVector> Powers<V> {
    #[inline(always)]
    fn new<S: MulSimd<V = V>>(simd: S, factor: &Factor) -> Self {
        let r = factor.limbs;
        let squared = Factor::new(factor.times(r));
        let fourth = Factor::new(squared.times(squared.limbs));
        let third = squared.times(r);
        let eighth = fourth.times(fourth.limbs);
        // r to r^8.
        let mut powers: [Limbs; LANES] = [
            r,
            squared.limbs,
            third,
            fourth.limbs,
            fourth.times(r),
            fourth.times(squared.limbs),
            fourth.times(third),
            eighth,
        ];
        let all = |limbs: Limbs| LaneFactor::new(limbs.map(|limb| simd.splat(limb)));
        // Block `i` of eight is in lane `order[i]`, and is multiplied by r^(8 - i) at the end.
        let mut of_lane = [[0; LANES]; 3];
        for lane in 0..LANES {
            let block = lane / 2 + LANES / 2 * (lane % 2);
            for (limb, words) in of_lane.iter_mut().enumerate() {
                words[lane] = powers[LANES - 1 - block][limb];
            }
        }
        let second = of_lane.map(|words| simd.load(&words));
        // A process that knows r can forge.
        powers.zeroize();
        of_lane.zeroize();
        let first = all(eighth).times(simd, &second);
        let sixteenth = all(Factor::new(eighth).times(eighth));
        let last = [LaneFactor::new(first), LaneFactor::new(second)];
        Self { sixteenth, last }
    }
}

/// Adds eight whole blocks. Lane `2 i` takes block `i`, and lane `2 i + 1` takes block `4 + i`.
#[inline(always)]
fn add_blocks<S: UnzipSimd>(simd: S, sum: &mut [S::V; 3], halves: &[<S::V as Vector>::Bytes; 2]) {
    let [first, second] = [&halves[0], &halves[1]].map(
        #[inline(always)]
        |bytes| simd.load_bytes(bytes),
    );
    let [low, high] = simd.unzip(first, second);
    let low_44 = simd.splat(LOW_44);
    sum[0] = sum[0] + (low & low_44);
    sum[1] = sum[1] + ((low.shr::<44>() | high.shl::<20>()) & low_44);
    sum[2] = sum[2] + (high.shr::<24>() | simd.splat(END_OF_BLOCK));
}
