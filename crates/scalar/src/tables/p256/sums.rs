//! Many sums of points: one by one by mixed additions, or all at once by affine ones. An affine addition takes six products where a
//! mixed one takes ten, but divides; here every addition of a step divides by one inversion that all sums share.

use crrl::field::GFp256;

use super::Affine;

/// From so many sums on shared inversions cost less than four products per addition, by measurement: with 4 a signature takes 9.7 us and
/// not 9.5, with 5 it takes 9.1 and not 9.3.
const SHARING: usize = 5;

/// Terms of sums, sum after sum.
pub(super) struct PointSums {
    terms: Vec<Affine>,
    /// Where each sum's terms end.
    ends: Vec<usize>,
}

/// An x as a fraction, whose denominator is not zero.
pub(super) struct Abscissa {
    numerator: GFp256,
    denominator: GFp256,
}

impl Abscissa {
    pub(super) fn is(&self, x: GFp256) -> bool {
        self.numerator.equals(x * self.denominator) != 0
    }
}

impl PointSums {
    /// Room for `count` sums of up to `terms` terms.
    pub(super) fn with_capacity(count: usize, terms: usize) -> Self {
        Self { terms: Vec::with_capacity(count * terms), ends: Vec::with_capacity(count) }
    }

    /// Adds a term to the sum that has not ended.
    pub(super) fn add(&mut self, term: Affine) {
        self.terms.push(term);
    }

    /// Ends a sum.
    pub(super) fn end(&mut self) {
        self.ends.push(self.terms.len());
    }

    /// The x of every sum; None where there are no terms, or additions came upon two points with one x.
    pub(super) fn abscissas(self) -> Vec<Option<Abscissa>> {
        if self.ends.len() < SHARING { self.one_by_one() } else { HalvingSums::new(self).abscissas() }
    }

    fn one_by_one(&self) -> Vec<Option<Abscissa>> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        let abscissa = |(start, end): (usize, &usize)| {
            let (first, others) = self.terms[start..*end].split_first()?;
            others.iter().fold(MixedSum::from_affine(first), MixedSum::plus).abscissa()
        };
        starts.zip(&self.ends).map(abscissa).collect()
    }
}

/// A sum of points: x = X / ZZ, y = Y / ZZZ with ZZ^3 = ZZZ^2.
struct MixedSum {
    x: GFp256,
    y: GFp256,
    zz: GFp256,
    zzz: GFp256,
}

impl MixedSum {
    fn from_affine(point: &Affine) -> Self {
        Self { x: point.x, y: point.y, zz: GFp256::ONE, zzz: GFp256::ONE }
    }

    /// The mixed addition `madd-2008-s`. Where both points have one x, ZZ becomes zero and stays zero.
    fn plus(self, point: &Affine) -> Self {
        let p = point.x * self.zz - self.x;
        let r = point.y * self.zzz - self.y;
        let pp = p.square();
        let ppp = p * pp;
        let q = self.x * pp;
        let x = r.square() - ppp - q.mul2();
        let y = r * (q - x) - self.y * ppp;
        Self { x, y, zz: self.zz * pp, zzz: self.zzz * ppp }
    }

    fn abscissa(self) -> Option<Abscissa> {
        (self.zz.iszero() == 0).then_some(Abscissa { numerator: self.x, denominator: self.zz })
    }
}

/// Sums that become half as long in each step: neighbours are added.
struct HalvingSums {
    terms: Vec<Affine>,
    sums: Vec<PendingSum>,
    /// Of all additions in a step: by what the slope is to be divided, and the inverse of that.
    runs: Vec<GFp256>,
    inverses: Vec<GFp256>,
}

/// What is left of a sum.
struct PendingSum {
    start: usize,
    count: usize,
    /// Two points had one x.
    is_exceptional: bool,
}

impl HalvingSums {
    fn new(sums: PointSums) -> Self {
        let starts = [0].into_iter().chain(sums.ends.iter().copied());
        let left =
            |(start, end): (usize, &usize)| PendingSum { start, count: end - start, is_exceptional: false };
        let left = starts.zip(&sums.ends).map(left).collect();
        Self { terms: sums.terms, sums: left, runs: Vec::new(), inverses: Vec::new() }
    }

    fn abscissas(mut self) -> Vec<Option<Abscissa>> {
        while self.sums.iter().any(|sum| sum.count > 1) {
            self.invert_runs();
            self.halve();
        }
        let abscissa = |sum: &PendingSum| {
            let is_known = sum.count == 1 && !sum.is_exceptional;
            is_known.then(|| Abscissa { numerator: self.terms[sum.start].x, denominator: GFp256::ONE })
        };
        self.sums.iter().map(abscissa).collect()
    }

    /// The inverses of all differences of x by one inversion (Montgomery 1987, section 10.3.1): of their product, from which each is
    /// the inverse times the product of those before it, once those after it are taken off.
    fn invert_runs(&mut self) {
        self.runs.clear();
        self.inverses.clear();
        let mut product = GFp256::ONE;
        for sum in &mut self.sums {
            for pair in self.terms[sum.start..sum.start + sum.count].chunks_exact(2) {
                let mut run = pair[1].x - pair[0].x;
                if run.iszero() != 0 {
                    sum.is_exceptional = true;
                    run = GFp256::ONE;
                }
                self.inverses.push(product);
                self.runs.push(run);
                product *= run;
            }
        }
        let mut inverse = GFp256::ONE / product;
        for (before, run) in self.inverses.iter_mut().zip(&self.runs).rev() {
            *before *= inverse;
            inverse *= *run;
        }
    }

    /// Adds neighbours; a last term without one stays as it is.
    fn halve(&mut self) {
        let mut inverses = self.inverses.iter();
        for sum in &mut self.sums {
            let terms = &mut self.terms[sum.start..sum.start + sum.count];
            for (pair, inverse) in (0..sum.count / 2).zip(&mut inverses) {
                terms[pair] = plus(&terms[2 * pair], &terms[2 * pair + 1], inverse);
            }
            if sum.count % 2 == 1 {
                terms[sum.count / 2] = terms[sum.count - 1];
            }
            sum.count = sum.count.div_ceil(2);
        }
    }
}

/// The affine addition, given 1 / (x2 - x1).
fn plus(a: &Affine, b: &Affine, inverse: &GFp256) -> Affine {
    let slope = (b.y - a.y) * *inverse;
    let x = slope.square() - a.x - b.x;
    Affine { x, y: slope * (a.x - x) - a.y }
}

#[cfg(test)]
mod tests {
    use crrl::p256::Point;

    use super::*;

    /// Small multiples of the base point, negative ones too.
    fn point(multiple: i64) -> Point {
        let mut point = Point::BASE;
        point.set_mul_small(multiple.unsigned_abs());
        if multiple < 0 { -point } else { point }
    }

    fn affine(point: Point) -> Affine {
        let (x, y, _) = point.to_affine();
        Affine { x, y }
    }

    fn sums(all: &[Vec<i64>]) -> PointSums {
        let mut sums = PointSums::with_capacity(all.len(), 4);
        for multiples in all {
            multiples.iter().for_each(|multiple| sums.add(affine(point(*multiple))));
            sums.end();
        }
        sums
    }

    #[test]
    fn both_ways_find_the_same_x() {
        let all: Vec<Vec<i64>> = (1..40).map(|count| (0..count).map(|at| 1 << at).collect()).collect();
        let (one_by_one, shared) = (sums(&all).one_by_one(), HalvingSums::new(sums(&all)).abscissas());
        for ((multiples, one), shared) in all.iter().zip(one_by_one).zip(shared) {
            let expected = affine(point(multiples.iter().sum())).x;
            let (one, shared) = (one.unwrap(), shared.unwrap());
            assert!(one.is(expected) && shared.is(expected), "{} terms", multiples.len());
            assert!(!one.is(expected + GFp256::ONE) && !shared.is(expected + GFp256::ONE));
        }
    }

    /// Points that are added to themselves or their opposites, early and late, and sums of nothing, among others that are well.
    #[test]
    fn what_additions_cannot_tell_is_said() {
        let untold = [vec![], vec![3, 3], vec![3, -3], vec![1, 2, 3], vec![1, 2, -3]];
        let all: Vec<Vec<i64>> = untold.into_iter().flat_map(|multiples| [multiples, vec![1, 9]]).collect();
        let expected = affine(point(10)).x;
        for found in [sums(&all).one_by_one(), HalvingSums::new(sums(&all)).abscissas()] {
            for (at, found) in found.iter().enumerate() {
                assert_eq!(found.is_some(), at % 2 == 1, "{:?}", all[at]);
                assert!(found.as_ref().is_none_or(|found| found.is(expected)));
            }
        }
    }
}
