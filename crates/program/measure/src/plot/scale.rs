//! From values to pixels, with ticks at round numbers.

/// The quotient of largest to smallest value above which a logarithmic scale reads better.
const LOG_FROM: f64 = 20.0;

/// A scale from a range of values to a range of pixels.
#[derive(Debug, Clone)]
pub(super) struct PixelScale {
    values: [f64; 2],
    pixels: [f64; 2],
    is_log: bool,
    ticks: Vec<f64>,
}

impl PixelScale {
    /// Makes a linear scale from zero to a round number at or above `max`.
    pub(super) fn from_zero(max: f64, pixels: [f64; 2]) -> Self {
        let max = if max.is_finite() && max > 0.0 { max } else { 1.0 };
        let step = round_step(max / 5.0);
        // A quotient that rounding has made a little too large must not give another tick.
        let count = (max / step - 1e-9).ceil().max(1.0);
        let ticks = (0..=count as u32).map(|tick| f64::from(tick) * step).collect();
        Self { values: [0.0, count * step], pixels, is_log: false, ticks }
    }

    /// Makes a logarithmic scale over whole steps of 1, 2, 5 around `min` and `max`, both positive.
    pub(super) fn log(min: f64, max: f64, pixels: [f64; 2]) -> Self {
        let usable = min.is_finite() && max.is_finite() && min > 0.0 && max >= min;
        let (min, max) = if usable { (min, max) } else { (1.0, 10.0) };
        let steps = log_steps(min, max);
        let first = steps.first().copied().unwrap_or(min);
        let last = steps.last().copied().unwrap_or(max);
        // Over so many decades, labels at 2 and 5 would have no space.
        let spans_decades = last / first > 2000.0;
        let ticks = steps.into_iter().filter(|tick| !spans_decades || is_decade(*tick)).collect();
        Self { values: [first, last], pixels, is_log: true, ticks }
    }

    /// Makes a linear scale, or a logarithmic one if small values would be invisible on a linear one.
    pub(super) fn fitting(values: impl Iterator<Item = f64>, pixels: [f64; 2]) -> Self {
        let (min, max) = bounds(values);
        // From below the smallest value, whose bar would have no length otherwise.
        if max / min > LOG_FROM { Self::log(min * 0.8, max, pixels) } else { Self::from_zero(max, pixels) }
    }

    pub(super) fn ticks(&self) -> &[f64] {
        &self.ticks
    }

    pub(super) fn is_log(&self) -> bool {
        self.is_log
    }

    /// Returns the pixel of `value`. Values outside the scale are put at its end.
    pub(super) fn pixel(&self, value: f64) -> f64 {
        let [low, high] = self.values.map(|value| self.measure(value));
        let share = ((self.measure(value) - low) / (high - low)).clamp(0.0, 1.0);
        let [from, to] = self.pixels;
        from + share * (to - from)
    }

    fn measure(&self, value: f64) -> f64 {
        // Zero has no logarithm. It is drawn at the lower end.
        if self.is_log { value.max(f64::MIN_POSITIVE).log10() } else { value }
    }
}

/// Returns the smallest and the largest positive finite value; (1, 1) if there are none.
pub(super) fn bounds(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let positive = values.filter(|value| value.is_finite() && *value > 0.0);
    let (min, max) =
        positive.fold((f64::INFINITY, 0.0), |(min, max), value| (value.min(min), value.max(max)));
    if max > 0.0 { (min, max) } else { (1.0, 1.0) }
}

/// Formats a tick without needless digits.
pub(super) fn tick_label(value: f64) -> String {
    if value.abs() >= 1000.0 {
        return oarlock_terminal::table::si(value).replace(".00", "").replace(".0", "");
    }
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Returns 1, 2 or 5 times a power of ten, at or above `min`.
fn round_step(min: f64) -> f64 {
    let decade = 10f64.powf(min.log10().floor());
    [1.0, 2.0, 5.0]
        .into_iter()
        .map(|step| step * decade)
        .find(|step| *step >= min * 0.999)
        .unwrap_or(decade * 10.0)
}

/// Returns 1, 2 and 5 times powers of ten, from the last at or below `min` to the first at or above `max`.
fn log_steps(min: f64, max: f64) -> Vec<f64> {
    let decades = (min.log10().floor() as i32)..=(max.log10().ceil() as i32);
    let all: Vec<f64> =
        decades.flat_map(|decade| [1.0, 2.0, 5.0].map(|step| step * 10f64.powi(decade))).collect();
    // `powi` and the factors round, so a step may differ a little from a value that is equal to it.
    let first = all.iter().rposition(|step| *step <= min * 1.0001).unwrap_or(0);
    let last = all.iter().position(|step| *step >= max * 0.9999).unwrap_or(all.len() - 1);
    all.into_iter().take(last.max(first + 1) + 1).skip(first).collect()
}

fn is_decade(value: f64) -> bool {
    (value.log10() - value.log10().round()).abs() < 1e-6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_ticks_are_round_and_cover() {
        let scale = PixelScale::from_zero(3.3, [100.0, 500.0]);
        assert_eq!(scale.ticks(), [0.0, 1.0, 2.0, 3.0, 4.0]);
        assert_eq!([scale.pixel(0.0), scale.pixel(2.0), scale.pixel(9.0)], [100.0, 300.0, 500.0]);
        assert_eq!(PixelScale::from_zero(0.0, [0.0, 1.0]).ticks().last(), Some(&1.0));
        assert_eq!(PixelScale::from_zero(f64::NAN, [0.0, 1.0]).ticks().last(), Some(&1.0));
    }

    #[test]
    fn log_ticks_cover_both_ends() {
        let scale = PixelScale::log(0.213, 10.85, [400.0, 0.0]);
        assert_eq!(scale.ticks().len(), 7);
        assert!(scale.pixel(0.2) > 399.9 && scale.pixel(20.0) < 0.1);
        let wide = PixelScale::log(0.1, 10_000.0, [0.0, 1.0]);
        assert_eq!(wide.ticks().len(), 6, "{:?}", wide.ticks());
        assert!(PixelScale::log(3.0, 3.0, [0.0, 1.0]).pixel(3.0).is_finite());
        assert!(PixelScale::log(-1.0, f64::NAN, [0.0, 1.0]).pixel(3.0).is_finite());
    }

    #[test]
    fn wide_ranges_become_logarithmic() {
        assert!(!PixelScale::fitting([0.95, 11.5].into_iter(), [0.0, 1.0]).is_log());
        assert!(PixelScale::fitting([0.95, 80.0].into_iter(), [0.0, 1.0]).is_log());
        assert!(!PixelScale::fitting(std::iter::empty(), [0.0, 1.0]).is_log());
    }

    #[test]
    fn labels_have_no_needless_digits() {
        let labels = [0.0, 0.05, 0.5, 1.0, 20.0, 1000.0, 2.5e6].map(tick_label);
        assert_eq!(labels, ["0", "0.05", "0.5", "1", "20", "1k", "2.50M"]);
    }
}
