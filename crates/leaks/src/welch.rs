//! Welch's t over two classes of samples: as they come, and cropped, because interruptions bury what fast samples show.

/// Which of two classes a sample belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Every secret is the same one.
    Fixed,
    /// Every secret is another one.
    Random,
}

/// Mean and spread of one class, kept by Welford's recurrence.
#[derive(Clone, Copy, Debug, Default)]
struct Moments {
    count: u64,
    mean: f64,
    /// Sum of squared distances from the mean.
    squares: f64,
}

impl Moments {
    fn add(&mut self, value: f64) {
        self.count += 1;
        let distance = value - self.mean;
        self.mean += distance / self.count as f64;
        self.squares += distance * (value - self.mean);
    }

    /// Variance of the mean.
    fn error(&self) -> f64 {
        self.squares / (self.count as f64 - 1.0) / self.count as f64
    }
}

/// Both classes.
#[derive(Clone, Copy, Debug, Default)]
struct Welch {
    fixed: Moments,
    random: Moments,
}

/// With fewer samples of a class no t is told.
const LEAST: u64 = 1_000;

impl Welch {
    fn add(&mut self, class: Class, value: f64) {
        match class {
            Class::Fixed => self.fixed.add(value),
            Class::Random => self.random.add(value),
        }
    }

    /// Difference of means in units of its standard error; 0 of few samples.
    fn t(&self) -> f64 {
        let error = self.fixed.error() + self.random.error();
        let difference = self.fixed.mean - self.random.mean;
        if self.fixed.count.min(self.random.count) < LEAST || difference == 0.0 {
            return 0.0;
        }
        difference / error.sqrt()
    }
}

/// So many crops, from nearly half of the samples to nearly all, denser where it matters.
const CROPS: i32 = 100;

/// So many samples decide where to crop, and are not counted.
pub const PILOT: usize = 10_000;

/// t over all samples and over those below each of a hundred percentiles.
#[derive(Clone, Debug, Default)]
pub struct Cropped {
    pilot: Vec<u64>,
    pilot_len: usize,
    all: Welch,
    below: Vec<(f64, Welch)>,
}

impl Cropped {
    /// Crops at percentiles of the first `pilot_len` samples.
    #[must_use]
    pub fn new(pilot_len: usize) -> Self {
        Self { pilot_len: pilot_len.max(1), ..Self::default() }
    }

    /// Takes a sample.
    pub fn add(&mut self, class: Class, time: u64) {
        if self.below.is_empty() {
            self.pilot.push(time);
            if self.pilot.len() >= self.pilot_len {
                self.decide();
            }
            return;
        }
        let value = time as f64;
        self.all.add(class, value);
        for (_, welch) in self.below.iter_mut().filter(|(threshold, _)| value < *threshold) {
            welch.add(class, value);
        }
    }

    /// Percentiles as dudect has them: 1 - 2^(-10 i / 100).
    fn decide(&mut self) {
        self.pilot.sort_unstable();
        let last = self.pilot.len() - 1;
        let threshold = |crop: i32| {
            let share = 1.0 - 0.5_f64.powf(10.0 * f64::from(crop) / f64::from(CROPS));
            self.pilot[(share * last as f64) as usize] as f64
        };
        self.below = (1..=CROPS).map(|crop| (threshold(crop), Welch::default())).collect();
    }

    /// The largest |t| of all crops.
    #[must_use]
    pub fn t(&self) -> f64 {
        let crops = self.below.iter().map(|(_, welch)| welch.t().abs());
        crops.fold(self.all.t().abs(), f64::max)
    }

    /// Samples that were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.all.fixed.count + self.all.random.count
    }

    /// Means of both classes.
    #[must_use]
    pub fn means(&self) -> (f64, f64) {
        (self.all.fixed.mean, self.all.random.mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::Dice;

    /// A noisy clock: some hundred, now and then an interruption; random secrets take `leak` longer.
    fn t(leak: u64, interruptions: usize, samples: usize) -> f64 {
        let mut dice = Dice::new(7);
        let mut cropped = Cropped::new(2_000);
        for _ in 0..samples {
            let class = if dice.below(2) == 0 { Class::Fixed } else { Class::Random };
            let noise = dice.below(40) + dice.below(40) + if dice.below(20) == 0 { interruptions } else { 0 };
            let leak = if class == Class::Random { leak } else { 0 };
            cropped.add(class, 1_000 + noise as u64 + leak);
        }
        cropped.t()
    }

    #[test]
    fn noise_is_no_leak() {
        for interruptions in [0, 50_000] {
            let t = t(0, interruptions, 100_000);
            assert!(t < 5.0, "{t}");
        }
    }

    #[test]
    fn a_leak_of_one_part_in_a_thousand_is_found() {
        assert!(t(1, 0, 100_000) > 5.0);
    }

    #[test]
    fn cropping_finds_what_interruptions_bury() {
        assert!(t(1, 50_000, 100_000) > 5.0);
    }

    #[test]
    fn t_is_that_of_the_textbook() {
        let mut welch = Welch::default();
        for n in 0..2_000 {
            welch.add(Class::Fixed, f64::from(n % 2));
            welch.add(Class::Random, f64::from(n % 4));
        }
        // Means 0.5 and 1.5, variances 0.25 and 1.25 times 2000/1999.
        let expected = -1.0 / ((0.25 + 1.25) / 1_999.0_f64).sqrt();
        assert!((welch.t() - expected).abs() < 1e-9, "{}", welch.t());
    }

    #[test]
    fn few_samples_say_nothing() {
        let mut cropped = Cropped::new(10);
        (0..100).for_each(|n| cropped.add(if n % 2 == 0 { Class::Fixed } else { Class::Random }, n));
        assert_eq!((cropped.t(), cropped.count()), (0.0, 90));
    }
}
