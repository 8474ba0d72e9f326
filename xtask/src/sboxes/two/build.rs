//! Circuits built output by output in the manner of Kwan ("Reducing the gate count of bitslice DES", 2000): a function
//! is made of existing signals by at most two gates, or an input chooses between two simpler functions. The second of
//! them may use the gates of the first.

use super::signals::{Goal, MOST, SignalSet};
use crate::sboxes::circuit::{Circuit, INPUTS, OUTPUTS, Truth, VARIABLES};
use crate::sboxes::random::SearchRandom;

/// The numbers of inputs and of forms that are tried where six inputs are left, five, and so on.
const EFFORT: [(usize, usize); INPUTS] = [(3, 2), (2, 2), (2, 2), (1, 2), (1, 2), (1, 1)];

/// The number of tries for each output. The smallest one is kept.
const TRIES: usize = 4;

/// The form in which two functions become one. `side` is one where the chosen input has the value of the second
/// function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MergeForm {
    /// first ^ (side & second).
    Xor,
    /// first | (side & second).
    Or,
    /// first & (!side | second).
    And,
}

impl MergeForm {
    /// The goal of the first function.
    fn first(self, Goal { ones, zeros }: Goal, side: Truth) -> Goal {
        match self {
            Self::Xor => Goal { ones: ones & !side, zeros: zeros & !side },
            Self::Or => Goal { ones: ones & !side, zeros },
            Self::And => Goal { ones, zeros: zeros & !side },
        }
    }

    /// The goal of what is merged with the first function.
    fn rest(self, goal: Goal, first: Truth) -> Goal {
        match self {
            Self::Xor => goal.xor(first),
            Self::Or => Goal { ones: goal.ones & !first, zeros: goal.zeros },
            Self::And => Goal { ones: goal.ones, zeros: goal.zeros & first },
        }
    }
}

/// Builds a circuit for these outputs. Another state of `random` gives another circuit.
pub(super) fn build(truths: &[Truth; OUTPUTS], random: &mut SearchRandom) -> Circuit {
    loop {
        if let Some(circuit) = outputs_in_turn(truths, random) {
            return circuit.tidied();
        }
    }
}

/// Builds the outputs in random order. None if there are more signals than a set has.
fn outputs_in_turn(truths: &[Truth; OUTPUTS], random: &mut SearchRandom) -> Option<Circuit> {
    let mut order = [0, 1, 2, 3];
    random.shuffle(&mut order);
    let (mut built, mut outputs) = (SignalSet::new(&VARIABLES), [0; OUTPUTS]);
    for output in order {
        let goal = Goal::new(truths[output], Truth::MAX);
        let mut best: Option<(SignalSet, usize)> = None;
        for _ in 0..TRIES {
            let max = best.as_ref().map_or(MOST, |(best, _)| best.signals.len() - 1);
            best = make(&built, goal, max, &[0, 1, 2, 3, 4, 5], random).or(best);
        }
        (built, outputs[output]) = best?;
    }
    Some(Circuit { gates: built.gates, outputs })
}

/// Adds gates until a signal meets the goal. There are at most `max` signals. Only the inputs `left` may choose.
fn make(
    built: &SignalSet,
    goal: Goal,
    max: usize,
    left: &[usize],
    random: &mut SearchRandom,
) -> Option<(SignalSet, usize)> {
    let budget = max.checked_sub(built.signals.len())?;
    let mut more = built.clone();
    if let Some(found) = more.add_up_to(budget.min(2), goal, random) {
        return Some((more, found));
    }
    if budget < 4 || left.is_empty() {
        return None;
    }
    let (inputs, forms) = EFFORT[INPUTS - left.len()];
    let mut selects = left.to_vec();
    random.shuffle(&mut selects);
    let (mut best, mut max) = (None, max);
    for select in selects.into_iter().take(inputs) {
        let rest: Vec<usize> = left.iter().copied().filter(|input| *input != select).collect();
        for form in some_forms(forms, random) {
            if let Some((more, found)) = merge(built, goal, max, (select, form), &rest, random) {
                max = more.signals.len().saturating_sub(1);
                best = Some((more, found));
            }
        }
    }
    best
}

/// Returns XOR, which always ends, and others in random order.
fn some_forms(count: usize, random: &mut SearchRandom) -> impl Iterator<Item = MergeForm> + use<> {
    let mut others = [MergeForm::Or, MergeForm::And, MergeForm::Xor];
    random.shuffle(&mut others);
    [MergeForm::Xor].into_iter().chain(others).take(count)
}

/// Lets an input choose between two functions.
fn merge(
    built: &SignalSet,
    goal: Goal,
    max: usize,
    (select, form): (usize, MergeForm),
    rest: &[usize],
    random: &mut SearchRandom,
) -> Option<(SignalSet, usize)> {
    let side = if random.below(2) == 0 { built.signals[select] } else { !built.signals[select] };
    let (mut built, first) = make(built, form.first(goal, side), max.checked_sub(1)?, rest, random)?;
    let budget = max - built.signals.len();
    if goal.is_met(built.signals[first]) {
        return Some((built, first));
    }
    let few = (1..=budget.min(2)).find_map(|gates| built.add_above(first, gates, goal, random));
    if let Some(found) = few {
        return Some((built, found));
    }
    let goal_of_rest = form.rest(goal, built.signals[first]);
    let (mut built, second) = make(&built, goal_of_rest.within(side), max.checked_sub(2)?, rest, random)?;
    let chosen = built.push_fit([select, second], goal_of_rest, random);
    let found = built.push_fit([first, chosen], goal, random);
    Some((built, found))
}
