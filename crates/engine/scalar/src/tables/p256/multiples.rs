//! The construction of a table, in all windows at once: one inversion serves many additions.

use std::iter::successors;

use crrl::field::GFp256;
use crrl::p256::Point;

use super::super::comb::PointComb;
use super::FinitePoint;

/// Returns the multiples of a point other than the neutral element. Each step goes from m multiples in each window
/// to 2 m, by adding the m-th to each. Only the last addition of a step meets a point twice: it doubles the m-th. No
/// other does, because the order is a prime far above 2 m.
pub(super) fn multiples<const W: usize>(point: Point) -> PointComb<FinitePoint, 256, W> {
    let bases = successors(Some(point), |base| Some(base.xdouble(W as u32)));
    let bases: Vec<Point> = bases.take(PointComb::<FinitePoint, 256, W>::WINDOWS).collect();
    let mut windows: Vec<Vec<FinitePoint>> = affine(&bases).into_iter().map(|base| vec![base]).collect();
    for known in successors(Some(1), |known| Some(2 * known)).take(W - 1) {
        let mut runs: Vec<GFp256> = windows.iter().flat_map(|window| runs(window)).collect();
        GFp256::batch_invert(&mut runs);
        for (window, inverses) in windows.iter_mut().zip(runs.chunks(known)) {
            let largest = window[known - 1];
            let more = |(at, inverse): (usize, &GFp256)| add(&window[at], &largest, *inverse);
            let more: Vec<FinitePoint> = inverses.iter().enumerate().map(more).collect();
            window.extend(more);
        }
    }
    PointComb::new(windows.concat())
}

/// Returns the denominators of the slopes from each multiple to the largest. The last is 2 y, for the tangent.
fn runs(window: &[FinitePoint]) -> impl Iterator<Item = GFp256> {
    let largest = window[window.len() - 1];
    let others = window[..window.len() - 1].iter().map(move |point| largest.x - point.x);
    others.chain([largest.y.mul2()])
}

/// Adds two points. `inverse` is that of the difference of their x, or of 2 y if the points are equal.
fn add(point: &FinitePoint, largest: &FinitePoint, inverse: GFp256) -> FinitePoint {
    let is_tangent = point.x.equals(largest.x) != 0;
    let rise = if is_tangent { point.x.square().mul3() - GFp256::from_u32(3) } else { largest.y - point.y };
    let slope = rise * inverse;
    let x = slope.square() - point.x - largest.x;
    FinitePoint { x, y: slope * (point.x - x) - point.y }
}

fn affine(points: &[Point]) -> Vec<FinitePoint> {
    let projective: Vec<_> = points.iter().map(|point| point.to_projective()).collect();
    let mut inverses: Vec<GFp256> = projective.iter().map(|(_, _, z)| *z).collect();
    GFp256::batch_invert(&mut inverses);
    projective.iter().zip(inverses).map(|((x, y, _), z)| FinitePoint { x: *x * z, y: *y * z }).collect()
}
