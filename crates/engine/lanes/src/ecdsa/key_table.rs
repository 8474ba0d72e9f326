//! The table of a public key that recurs: odd multiples for every window, so that verifying needs no doubling.

use std::marker::PhantomData;

use oarlock_core::Key;
use oarlock_engine_kit::VerifyTable;

use super::comb::PublicComb;
use super::complete::{CurveGroup, ProjectivePoint};
use super::curve::CurveParams;
use super::field::{CoordinateField, CurveElement, CurveSimd};
use super::point::AffinePoint;
use super::recode::digits;
use super::verify::read_point;

/// The comb of a key.
#[derive(Debug)]
pub(crate) struct EcdsaKeyTable<S, C, const L: usize> {
    pub(crate) comb: PublicComb,
    simd: S,
    curve: PhantomData<C>,
}

impl<S: CurveSimd<C, L>, C: CurveParams<L>, const L: usize> EcdsaKeyTable<S, C, L> {
    /// Builds the table of an uncompressed point, or returns None if the point is not on the curve.
    pub(crate) fn new(simd: S, public: &[u8]) -> Option<Self> {
        // Tables are built on any thread.
        let _state = simd.run_state();
        let point = read_point::<S, C, L>(simd, public)?;
        let comb = PublicComb::new::<S, C, L>(simd, &point, C::KEY_WINDOW);
        Some(Self { comb, simd, curve: PhantomData })
    }
}

impl<S: CurveSimd<C, L>, C: CurveParams<L>, const L: usize> VerifyTable for EcdsaKeyTable<S, C, L> {
    const BYTES: usize = PublicComb::bytes(C::BITS, C::KEY_WINDOW, C::LINES);
    const USES: u32 = C::KEY_TABLE_USES;

    fn public(key: &Key) -> Option<&[u8]> {
        key.ec_public().filter(|(curve, _)| *curve == C::NAME).map(|(_, point)| point)
    }

    /// Checks the table by complete additions. The sum of all entries is the sum of (2 e + 1) 2^(w i) Q over all
    /// windows i and rows e. This equals 2^(2 w - 2) times the sum of 2^(w i) Q.
    fn is_right(&self, public: &[u8]) -> bool {
        let _state = self.simd.run_state();
        let Some([x, y]) = read_point::<S, C, L>(self.simd, public) else { return false };
        let group = CurveGroup::<S, C, L>::new(self.simd);
        let key = group.lift(&AffinePoint { x: group.f.splat(&x), y: group.f.splat(&y) });
        // One wrong entry changes the sum of all, so one comparison with a value that is computed otherwise suffices.
        let double = |point: ProjectivePoint<CurveElement<S, C, L, 1>>| group.sum(&point, &point);
        let mut expected = key;
        for _ in 1..digits(C::BITS, C::KEY_WINDOW) {
            expected = (0..C::KEY_WINDOW).fold(expected, |point, _| double(point));
            expected = group.sum(&expected, &key);
        }
        expected = (0..2 * C::KEY_WINDOW - 2).fold(expected, |point, _| double(point));
        let points = self.comb.points::<S, C, L>(self.simd);
        let all = points.iter().fold(group.infinity(), |sum, point| group.sum(&sum, &group.lift(point)));
        group.is_same(&group.sum_of_lanes(&all), &expected) == [u8::MAX]
    }
}
