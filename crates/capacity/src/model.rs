//! From queries to signatures to verify.

use super::{LineFit, Traffic, TrafficCounts};

/// Intervals that a line needs at least to be believed.
const FEWEST_POINTS: u64 = 10;
/// Share of the variance that a line has to explain to be believed.
const MIN_R_SQUARED: f64 = 0.5;

/// One of f1 to f4: y = coefficient x + intercept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelFunction {
    /// r, a_s, s or a_v.
    pub coefficient: f64,
    /// Its beta.
    pub intercept: f64,
    /// Where both come from.
    pub origin: FunctionOrigin,
}

/// Where a function of the model comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FunctionOrigin {
    /// A line through the intervals of the traffic.
    Fit(LineFit),
    /// The quotient of totals, because no line through the intervals can be believed: fewer than ten of them, a coefficient that
    /// is not positive, or less than half of the variance explained.
    Ratio,
    /// Given by whoever asks; beta is 0.
    ByHand,
    /// The worst case of Blaauwendraad 2017, section 4.1; beta is 0.
    WorstCase,
}

/// f: S_v = a Q + b, and what it is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DemandModel {
    /// f1: responses per query.
    pub r: ModelFunction,
    /// f2: the share of responses that have signatures.
    pub a_s: ModelFunction,
    /// f3: signatures per response that has some.
    pub s: ModelFunction,
    /// f4: the share of signatures that are verified.
    pub a_v: ModelFunction,
    /// b by hand, instead of the composition's.
    pub b: Option<f64>,
}

impl ModelFunction {
    /// A coefficient by hand.
    #[must_use]
    pub fn by_hand(coefficient: f64) -> Self {
        Self { coefficient, intercept: 0.0, origin: FunctionOrigin::ByHand }
    }

    const fn worst_case(coefficient: f64) -> Self {
        Self { coefficient, intercept: 0.0, origin: FunctionOrigin::WorstCase }
    }

    /// The line through the intervals where it can be believed, else the quotient of the totals; `None` where nothing was divided.
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
    fit.points >= FEWEST_POINTS && fit.coefficient > 0.0 && fit.r_squared >= MIN_R_SQUARED
}

impl DemandModel {
    /// Every query is answered, every response has three signatures, and each is verified. Blaauwendraad 2017, section 4.1.
    pub const WORST_CASE: Self = Self {
        r: ModelFunction::worst_case(1.0),
        a_s: ModelFunction::worst_case(1.0),
        s: ModelFunction::worst_case(3.0),
        a_v: ModelFunction::worst_case(1.0),
        b: None,
    };

    /// f1 to f4 from traffic, by intervals of so many seconds. `None` for what the traffic does not tell: a log of queries has no
    /// responses.
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

    /// a = a_v s a_s r.
    #[must_use]
    pub fn a(&self) -> f64 {
        self.a_v.coefficient * self.s.coefficient * self.a_s.coefficient * self.r.coefficient
    }

    /// b = a_v (s (a_s beta1 + beta2) + beta3) + beta4, or as given by hand.
    #[must_use]
    pub fn b(&self) -> f64 {
        let signed = self.a_s.coefficient * self.r.intercept + self.a_s.intercept;
        let signatures = self.s.coefficient * signed + self.s.intercept;
        self.b.unwrap_or(self.a_v.coefficient * signatures + self.a_v.intercept)
    }

    /// b of a second, where lines went through intervals of `interval_s` seconds. By hand it is of a second already.
    #[must_use]
    pub fn b_per_s(&self, interval_s: u64) -> f64 {
        self.b.unwrap_or_else(|| self.b() / interval_s.max(1) as f64)
    }

    /// Signatures to verify per second for so many queries per second, not below zero.
    #[must_use]
    pub fn signatures(&self, queries_per_s: f64, interval_s: u64) -> f64 {
        (self.a() * queries_per_s + self.b_per_s(interval_s)).max(0.0)
    }
}

/// Signatures per second, rounded up to one significant digit: 174 are 200. A trillionth of error is no reason to round up.
#[must_use]
pub fn round_up_requirement(signatures_per_s: f64) -> f64 {
    if !(signatures_per_s.is_finite() && signatures_per_s > 0.0) {
        return 0.0;
    }
    let whole = (signatures_per_s * (1.0 - 1e-12)).ceil();
    let unit = 10_f64.powi(whole.log10().floor() as i32);
    (whole / unit * (1.0 - 1e-12)).ceil() * unit
}
