//! Welch's t over two classes of samples: of all samples, and of the fast ones, because interruptions hide small
//! differences.

use serde::{Deserialize, Serialize};

/// The class of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleClass {
    /// The same secret in every batch.
    Fixed,
    /// Another secret in every batch.
    Random,
}

/// The mean and spread of one class, by Welford's recurrence.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
struct RunningMoments {
    count: u64,
    mean: f64,
    /// The sum of squared distances from the mean.
    squares: f64,
}

impl RunningMoments {
    fn add(&mut self, value: f64) {
        self.count += 1;
        let distance = value - self.mean;
        self.mean += distance / self.count as f64;
        self.squares += distance * (value - self.mean);
    }

    /// Returns the variance of the mean.
    fn error(&self) -> f64 {
        self.squares / (self.count as f64 - 1.0) / self.count as f64
    }
}

/// The samples of both classes.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
struct WelchTest {
    fixed: RunningMoments,
    random: RunningMoments,
}

/// The minimum number of samples in each class. With fewer, t is 0.
pub const MIN_SAMPLES: u64 = 1_000;

impl WelchTest {
    fn add(&mut self, class: SampleClass, value: f64) {
        match class {
            SampleClass::Fixed => self.fixed.add(value),
            SampleClass::Random => self.random.add(value),
        }
    }

    fn count(&self) -> u64 {
        self.fixed.count + self.random.count
    }
}

/// Returns the difference of the means in units of its standard error, or 0 for few samples. Each test compares within
/// one thread; a test of more samples weighs more. With a single test this is Welch's t.
fn t<'a>(tests: impl Iterator<Item = &'a WelchTest> + Clone) -> f64 {
    let is_enough = |test: &&WelchTest| test.fixed.count.min(test.random.count) >= MIN_SAMPLES;
    let tests = tests.filter(is_enough);
    let count: u64 = tests.clone().map(WelchTest::count).sum();
    let (mut difference, mut error) = (0.0, 0.0);
    for test in tests {
        let weight = test.count() as f64 / count as f64;
        difference += weight * (test.fixed.mean - test.random.mean);
        error += weight * weight * (test.fixed.error() + test.random.error());
    }
    // Without any spread the error is zero too, and 0 / 0 is not a number.
    if difference == 0.0 { 0.0 } else { difference / error.sqrt() }
}

/// The number of crops, from nearly half of the samples to nearly all.
const CROPS: i32 = 100;

/// The number of samples that decide the crops. They are not counted.
pub const PILOT: usize = 2_000;

/// The tests of all samples, and of the samples below each of a hundred percentiles.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct CroppedTests {
    #[serde(skip)]
    pilot: Vec<u64>,
    #[serde(skip)]
    pilot_len: usize,
    all: WelchTest,
    below: Vec<(f64, WelchTest)>,
}

impl CroppedTests {
    /// Makes tests that crop at percentiles of the first `pilot_len` samples.
    #[must_use]
    pub fn new(pilot_len: usize) -> Self {
        Self { pilot_len: pilot_len.max(1), ..Self::default() }
    }

    /// Adds a sample.
    pub fn add(&mut self, class: SampleClass, time: u64) {
        if self.below.is_empty() {
            self.pilot.push(time);
            if self.pilot.len() >= self.pilot_len {
                self.set_crops();
            }
            return;
        }
        let value = time as f64;
        self.all.add(class, value);
        for (_, welch) in self.below.iter_mut().filter(|(threshold, _)| value < *threshold) {
            welch.add(class, value);
        }
    }

    /// Sets the crops to the percentiles of dudect: 1 - 2^(-10 i / 100).
    fn set_crops(&mut self) {
        // Thresholds from samples that are not counted: thresholds from counted samples would bias the test.
        self.pilot.sort_unstable();
        let last = self.pilot.len() - 1;
        let threshold = |crop: i32| {
            let share = 1.0 - 0.5_f64.powf(10.0 * f64::from(crop) / f64::from(CROPS));
            self.pilot[(share * last as f64) as usize] as f64
        };
        self.below = (1..=CROPS).map(|crop| (threshold(crop), WelchTest::default())).collect();
    }

    /// Returns the number of counted samples.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.all.count()
    }

    /// Returns the means of both classes.
    #[must_use]
    pub fn means(&self) -> (f64, f64) {
        (self.all.fixed.mean, self.all.random.mean)
    }
}

/// Returns the largest |t| of all crops, over the tests of several threads.
#[must_use]
pub fn max_t(threads: &[CroppedTests]) -> f64 {
    let crop = |at: usize| t(threads.iter().filter_map(move |tests| Some(&tests.below.get(at)?.1))).abs();
    let all = t(threads.iter().map(|tests| &tests.all)).abs();
    (0..CROPS as usize).map(crop).fold(all, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::TestRandom;

    /// Simulates a noisy clock with interruptions. Random secrets take `leak` longer.
    fn simulated(leak: u64, interruptions: usize, samples: usize, seed: u64) -> CroppedTests {
        let mut dice = TestRandom::new(seed);
        let mut cropped = CroppedTests::new(2_000);
        for _ in 0..samples {
            let class = if dice.below(2) == 0 { SampleClass::Fixed } else { SampleClass::Random };
            let noise = dice.below(40) + dice.below(40) + if dice.below(20) == 0 { interruptions } else { 0 };
            let leak = if class == SampleClass::Random { leak } else { 0 };
            cropped.add(class, 1_000 + noise as u64 + leak);
        }
        cropped
    }

    fn t(leak: u64, interruptions: usize, samples: usize) -> f64 {
        max_t(&[simulated(leak, interruptions, samples, 7)])
    }

    #[test]
    fn reports_no_leak_for_noise() {
        for interruptions in [0, 50_000] {
            let t = t(0, interruptions, 100_000);
            assert!(t < 5.0, "{t}");
        }
    }

    #[test]
    fn finds_a_leak_of_one_part_in_a_thousand() {
        assert!(t(1, 0, 100_000) > 5.0);
    }

    #[test]
    fn cropping_finds_a_leak_under_interruptions() {
        assert!(t(1, 50_000, 100_000) > 5.0);
    }

    #[test]
    fn computes_the_t_of_the_textbook() {
        let mut welch = WelchTest::default();
        for n in 0..2_000 {
            welch.add(SampleClass::Fixed, f64::from(n % 2));
            welch.add(SampleClass::Random, f64::from(n % 4));
        }
        // Means 0.5 and 1.5, variances 0.25 and 1.25 times 2000/1999.
        let expected = -1.0 / ((0.25 + 1.25) / 1_999.0_f64).sqrt();
        let t = super::t([welch].iter());
        assert!((t - expected).abs() < 1e-9, "{t}");
        // Two equal tests are twice the samples.
        let twice = super::t([welch, welch].iter());
        assert!((twice - expected * 2.0_f64.sqrt()).abs() < 1e-9, "{twice}");
    }

    #[test]
    fn threads_find_together_what_is_too_small_for_each() {
        let threads: Vec<_> = (0..16).map(|seed| simulated(1, 0, 20_000, seed)).collect();
        assert!(max_t(&threads) > 5.0, "{}", max_t(&threads));
        assert!(threads.iter().all(|tests| max_t(std::slice::from_ref(tests)) < max_t(&threads)));
        let sound: Vec<_> = (0..16).map(|seed| simulated(0, 50_000, 20_000, seed)).collect();
        assert!(max_t(&sound) < 5.0, "{}", max_t(&sound));
    }

    #[test]
    fn a_slow_thread_is_compared_with_itself() {
        let mut threads = [simulated(0, 0, 20_000, 1), simulated(0, 0, 20_000, 2)];
        threads[0].all.fixed.mean += 1_000_000.0;
        threads[0].all.random.mean += 1_000_000.0;
        assert!(max_t(&threads) < 5.0, "{}", max_t(&threads));
    }

    #[test]
    fn few_samples_give_no_verdict() {
        let mut cropped = CroppedTests::new(10);
        (0..100)
            .for_each(|n| cropped.add(if n % 2 == 0 { SampleClass::Fixed } else { SampleClass::Random }, n));
        assert_eq!((max_t(&[cropped.clone()]), cropped.count()), (0.0, 90));
    }
}
