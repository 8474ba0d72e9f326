//! The load on a machine: the model, from traffic, from options, or in its worst case.

use oarlock_capacity::{DemandModel, ModelFunction, round_up_requirement};

use super::CapacityError;
use super::args::ModelArgs;
use super::inputs::ObservedTraffic;

/// The longest traffic, in seconds, whose lines go through seconds; longer traffic uses minutes.
const FEW_SECONDS: u64 = 600;

/// The load and the model.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoadQuestion {
    pub(super) queries_per_s: f64,
    /// True if Q was given and not observed.
    pub(super) is_by_hand: bool,
    pub(super) model: DemandModel,
    /// The interval of beta1 to beta4, in seconds.
    pub(super) interval_s: u64,
}

impl LoadQuestion {
    pub(super) fn new(args: &ModelArgs, observed: Option<&ObservedTraffic>) -> Result<Self, CapacityError> {
        let traffic = observed.map(|observed| &observed.traffic);
        let seconds = traffic.map_or(0, oarlock_capacity::Traffic::observed_s);
        let interval_s = args.interval.unwrap_or(if seconds <= FEW_SECONDS { 1 } else { 60 });
        let queries_per_s = match (args.queries_per_second, observed) {
            (Some(by_hand), _) => by_hand,
            (None, Some(observed)) => busiest(observed)?,
            (None, None) => return Err(CapacityError::NoLoad),
        };
        let measured = traffic.map_or([None; 4], |traffic| DemandModel::measured(traffic, interval_s));
        let model = model(args, measured)?;
        Ok(Self { queries_per_s, is_by_hand: args.queries_per_second.is_some(), model, interval_s })
    }

    /// Returns b per second.
    pub(super) fn b_per_s(&self) -> f64 {
        self.model.b_per_s(self.interval_s)
    }

    /// Returns S_v: the signatures to verify in the busiest second.
    pub(super) fn signatures_per_s(&self) -> f64 {
        self.model.signatures(self.queries_per_s, self.interval_s)
    }

    /// Returns S_v rounded up to one significant digit.
    pub(super) fn required_per_s(&self) -> f64 {
        round_up_requirement(self.signatures_per_s())
    }
}

fn busiest(observed: &ObservedTraffic) -> Result<f64, CapacityError> {
    let traffic = &observed.traffic;
    if traffic.totals().queries == 0 {
        // If a file could not be read, its fault explains best why there are no queries.
        return Err(match observed.first_fault() {
            Some((path, fault)) => CapacityError::Traffic { path: path.to_owned(), fault },
            None => CapacityError::NoQueries,
        });
    }
    let burst = traffic.burst().filter(|burst| burst.max > 0);
    burst.map(|burst| burst.max as f64).ok_or(CapacityError::NoTime)
}

/// Makes the model. Given values win over the worst case, and the worst case wins over measured values.
fn model(args: &ModelArgs, measured: [Option<ModelFunction>; 4]) -> Result<DemandModel, CapacityError> {
    let DemandModel { r, a_s, s, a_v, .. } = DemandModel::WORST_CASE;
    let given = [(args.r, r), (args.a_s, a_s), (args.s, s), (args.a_v, a_v)];
    let mut functions = [r; 4];
    let mut unknown = Vec::new();
    for (index, ((by_hand, worst), measured)) in given.into_iter().zip(measured).enumerate() {
        let worst = args.worst_case.then_some(worst);
        match by_hand.map(ModelFunction::by_hand).or(worst).or(measured) {
            Some(function) => functions[index] = function,
            None => unknown.push(NAMES[index]),
        }
    }
    if !unknown.is_empty() {
        return Err(CapacityError::Unknown(unknown.join(", ")));
    }
    let [r, a_s, s, a_v] = functions;
    Ok(DemandModel { r, a_s, s, a_v, b: args.b.or(args.worst_case.then_some(0.0)) })
}

const NAMES: [&str; 4] = ["--r", "--a-s", "--s", "--a-v"];
