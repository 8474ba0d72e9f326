//! A random walk among normal circuits of the same outputs or their inverses. A step replaces a gate, with up to four
//! gates that only it needs, by as many gates or fewer, and rarely a gate by two.

use super::normal::normal;
use super::signals::{Goal, MOST, SignalSet};
use crate::sboxes::circuit::{Circuit, INPUTS};
use crate::sboxes::random::SearchRandom;
use crate::sboxes::replace::Replacement;

/// The maximum number of gates that a step replaces.
const MAX_REPLACED: usize = 5;

/// One step in so many replaces a gate by two.
const GROWTH: usize = 10;

/// One search in so many is for three gates, if so many are replaced.
const RARE: usize = 16;

/// The number of tries to replace a gate by two.
const TRIES: usize = 8;

/// Takes one step to another circuit of at most `max` gates. None if the step fails.
pub(super) fn step(circuit: &Circuit, max: usize, random: &mut SearchRandom) -> Option<Circuit> {
    let signal = INPUTS + random.below(circuit.gates.len());
    let replacement = Replacement::new(circuit, signal, 1 + random.below(MAX_REPLACED));
    if replacement.free.len() + replacement.size >= MOST {
        return None;
    }
    let goal = Goal::new(replacement.truth, replacement.care);
    let mut signals = SignalSet::new(&replacement.values);
    let result = match replacement.size {
        1 if circuit.gates.len() < max && random.below(GROWTH) == 0 => {
            two_for_one(&mut signals, goal, random)
        }
        1 => another(&mut signals, &replacement, goal, random),
        // Three gates take sixty times as long as two to find.
        size if size > 2 && random.below(RARE) != 0 => signals.add_up_to(2, goal, random),
        size => signals.add_up_to(size.min(3), goal, random),
    };
    let next = normal(&replacement.grafted(&signals.gates, result?));
    (next.gates.len() <= max).then_some(next)
}

/// Finds a signal or another gate.
fn another(
    signals: &mut SignalSet,
    replacement: &Replacement<'_>,
    goal: Goal,
    random: &mut SearchRandom,
) -> Option<usize> {
    signals.add(0, goal, random).or_else(|| {
        let pair = signals.pair(goal, replacement.operands(), random)?;
        Some(signals.push_fit(pair, goal, random))
    })
}

/// Finds two gates below a random operand.
fn two_for_one(signals: &mut SignalSet, goal: Goal, random: &mut SearchRandom) -> Option<usize> {
    (0..TRIES).find_map(|_| signals.add_above(random.below(signals.signals.len()), 2, goal, random))
}
