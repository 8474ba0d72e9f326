//! Accelerators with one engine.

use oarlock::{Accelerator, Curve, EngineReport, Shape};

/// Returns an accelerator with this engine alone. Lanes of some processors have no P-384: they get the scalar engine
/// beside them.
pub(crate) fn by_engine(name: &str) -> Accelerator {
    let with = |names: &[&str]| Accelerator::builder().engines(names.to_vec()).lazy().build().unwrap();
    let accelerator = with(&[name]);
    let curve = Curve::P384;
    // The referee is listed too, although it serves nothing here.
    let is_offered = |engine: &EngineReport| {
        engine.name == name && engine.shapes.iter().any(|shape| shape.verdict.is_ok())
    };
    let offers = |shape| accelerator.engines_of(shape).iter().any(is_offered);
    if offers(Shape::EcdsaSign { curve }) && offers(Shape::EcdsaVerify { curve }) {
        return accelerator;
    }
    with(&[name, "scalar"])
}
