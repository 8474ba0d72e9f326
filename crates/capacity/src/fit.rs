//! Linear regression, by least squares.

/// A line y = coefficient x + intercept through points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineFit {
    /// The line's slope.
    pub coefficient: f64,
    /// Where it meets x = 0.
    pub intercept: f64,
    /// The share of y's variance that the line explains, 0 to 1; 1 where y does not vary and the line meets it.
    pub r_squared: f64,
    /// The standard error of the coefficient.
    pub standard_error: f64,
    /// Points that it goes through.
    pub points: u64,
}

impl LineFit {
    /// The line through `points` and as many times (0, 0) as `zeros` says. `None` for fewer than three points, or where x is the
    /// same everywhere.
    pub(super) fn new(points: &[(f64, f64)], zeros: u64) -> Option<Self> {
        let all = points.len() as u64 + zeros;
        let (n, zeros) = (all as f64, zeros as f64);
        let mean_x = points.iter().map(|(x, _)| x).sum::<f64>() / n;
        let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / n;
        let sum = |term: &dyn Fn(f64, f64) -> f64| {
            points.iter().map(|&(x, y)| term(x, y)).sum::<f64>() + zeros * term(0.0, 0.0)
        };
        let sxx = sum(&|x, _| (x - mean_x).powi(2));
        let sxy = sum(&|x, y| (x - mean_x) * (y - mean_y));
        let syy = sum(&|_, y| (y - mean_y).powi(2));
        if all < 3 || sxx <= 0.0 {
            return None;
        }
        let coefficient = sxy / sxx;
        let intercept = mean_y - coefficient * mean_x;
        let residual = sum(&|x, y| (y - coefficient * x - intercept).powi(2));
        let r_squared = if syy > 0.0 { (1.0 - residual / syy).clamp(0.0, 1.0) } else { 1.0 };
        let standard_error = (residual / (n - 2.0) / sxx).sqrt();
        Some(Self { coefficient, intercept, r_squared, standard_error, points: all })
    }
}
