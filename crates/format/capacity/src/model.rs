//! The model of the signatures that queries cause.

use super::{LineFit, Traffic, TrafficCounts};

/// The minimum number of intervals of a reliable line.
const MIN_POINTS: u64 = 10;
/// The minimum share of the variance that a reliable line explains.
const MIN_R_SQUARED: f64 = 0.5;

/// One of the functions f1 to f4: y = coefficient x + intercept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelFunction {
    /// The coefficient: r, a_s, s or a_v.
    pub coefficient: f64,
    /// The intercept beta.
    pub intercept: f64,
    /// The origin of both numbers.
    pub origin: FunctionOrigin,
}

/// The origin of a function of the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FunctionOrigin {
    /// A line through the intervals of the traffic.
    Fit(LineFit),
    /// The quotient of totals, because no line is reliable: there are fewer than ten intervals, the coefficient is
    /// not positive, or the line explains less than half of the variance.
    Ratio,
    /// A number of the caller; beta is 0.
    ByHand,
    /// The worst case of Blaauwendraad 2017, section 4.1; beta is 0.
    WorstCase,
}

/// The function f: S_v = a Q + b, as the composition of f1 to f4.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DemandModel {
    /// f1: responses per query.
    pub r: ModelFunction,
    /// f2: the share of responses with signatures.
    pub a_s: ModelFunction,
    /// f3: signatures per response with signatures.
    pub s: ModelFunction,
    /// f4: the share of signatures that are verified.
    pub a_v: ModelFunction,
    /// The b of the caller, which replaces the composed one.
    pub b: Option<f64>,
}

impl ModelFunction {
    /// Makes a function from a coefficient of the caller.
    #[must_use]
    pub fn by_hand(coefficient: f64) -> Self {
        Self { coefficient, intercept: 0.0, origin: FunctionOrigin::ByHand }
    }

    const fn worst_case(coefficient: f64) -> Self {
        Self { coefficient, intercept: 0.0, origin: FunctionOrigin::WorstCase }
    }

    /// Returns a reliable line through the intervals, or otherwise the quotient of the totals. Returns None if x is
    /// never counted.
    fn measured(
        traffic: &Traffic,
        interval_s: u64,
        x: fn(&TrafficCounts) -> u64,
        y: fn(&TrafficCounts) -> u64,
    ) -> Option<Self> {
        let totals = traffic.totals();
        if x(&totals) == 0 {
            return None;
        }
        let fit = traffic.fit(interval_s, x, y).filter(is_believed);
        Some(match fit {
            Some(fit) => Self {
                coefficient: fit.coefficient,
                intercept: fit.intercept,
                origin: FunctionOrigin::Fit(fit),
            },
            None => {
                let coefficient = y(&totals) as f64 / x(&totals) as f64;
                Self { coefficient, intercept: 0.0, origin: FunctionOrigin::Ratio }
            }
        })
    }
}

fn is_believed(fit: &LineFit) -> bool {
    fit.points >= MIN_POINTS && fit.coefficient > 0.0 && fit.r_squared >= MIN_R_SQUARED
}

impl DemandModel {
    /// The worst case: every query is answered, every response has three signatures, and each is verified.
    /// Blaauwendraad 2017, section 4.1.
    pub const WORST_CASE: Self = Self {
        r: ModelFunction::worst_case(1.0),
        a_s: ModelFunction::worst_case(1.0),
        s: ModelFunction::worst_case(3.0),
        a_v: ModelFunction::worst_case(1.0),
        b: None,
    };

    /// Derives f1 to f4 from traffic, in intervals of `interval_s` seconds. A function is None if the traffic lacks its
    /// input: a query log has no responses.
    #[must_use]
    pub fn measured(traffic: &Traffic, interval_s: u64) -> [Option<ModelFunction>; 4] {
        let measured = |x, y| ModelFunction::measured(traffic, interval_s, x, y);
        [
            measured(|counts| counts.queries, |counts| counts.responses)
                .filter(|_| traffic.totals().responses > 0),
            measured(|counts| counts.responses, |counts| counts.signed),
            measured(|counts| counts.signed, |counts| counts.signatures),
            measured(|counts| counts.signatures, |counts| counts.verified),
        ]
    }

    /// Returns a = a_v s a_s r.
    #[must_use]
    pub fn a(&self) -> f64 {
        self.a_v.coefficient * self.s.coefficient * self.a_s.coefficient * self.r.coefficient
    }

    /// Returns b = a_v (s (a_s beta1 + beta2) + beta3) + beta4, or the b of the caller.
    #[must_use]
    pub fn b(&self) -> f64 {
        let signed = self.a_s.coefficient * self.r.intercept + self.a_s.intercept;
        let signatures = self.s.coefficient * signed + self.s.intercept;
        self.b.unwrap_or(self.a_v.coefficient * signatures + self.a_v.intercept)
    }

    /// Returns b per second if the lines go through intervals of `interval_s` seconds. The b of the caller is per
    /// second already.
    #[must_use]
    pub fn b_per_s(&self, interval_s: u64) -> f64 {
        self.b.unwrap_or_else(|| self.b() / interval_s.max(1) as f64)
    }

    /// Returns the signatures to verify per second for this number of queries per second, at least zero.
    #[must_use]
    pub fn signatures(&self, queries_per_s: f64, interval_s: u64) -> f64 {
        (self.a() * queries_per_s + self.b_per_s(interval_s)).max(0.0)
    }
}

/// Rounds signatures per second up to one significant digit, such as 174 to 200. A relative error of 1e-12 does not
/// cause rounding up.
#[must_use]
pub fn round_up_requirement(signatures_per_s: f64) -> f64 {
    if !(signatures_per_s.is_finite() && signatures_per_s > 0.0) {
        return 0.0;
    }
    // Without the factor, a sum such as 0.1 + 0.2 + 9.7 could round up to the next ten.
    let whole = (signatures_per_s * (1.0 - 1e-12)).ceil();
    let unit = 10_f64.powi(whole.log10().floor() as i32);
    (whole / unit * (1.0 - 1e-12)).ceil() * unit
}
