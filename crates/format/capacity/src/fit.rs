//! Linear regression, by least squares.

/// A line y = coefficient x + intercept through points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineFit {
    /// The slope of the line.
    pub coefficient: f64,
    /// The value of the line at x = 0.
    pub intercept: f64,
    /// The share of y's variance that the line explains, from 0 to 1. It is 1 if y does not vary.
    pub r_squared: f64,
    /// The standard error of the coefficient.
    pub standard_error: f64,
    /// The number of points.
    pub points: u64,
}

impl LineFit {
    /// Fits a line to `points` and to `zeros` points at (0, 0). Returns None for fewer than three points, and if all
    /// points have the same x.
    pub(super) fn new(points: &[(f64, f64)], zeros: u64) -> Option<Self> {
        let all = points.len() as u64 + zeros;
        let (n, zeros) = (all as f64, zeros as f64);
        let mean_x = points.iter().map(|(x, _)| x).sum::<f64>() / n;
        let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / n;
        let sum = |term: &dyn Fn(f64, f64) -> f64| {
            points.iter().map(|&(x, y)| term(x, y)).sum::<f64>() + zeros * term(0.0, 0.0)
        };
        // The sums use differences from the means: sums of squares would lose digits for large counts.
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
