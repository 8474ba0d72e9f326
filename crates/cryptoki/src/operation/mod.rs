//! Operations in steps, and many operations in one call.

mod many;

pub use self::many::{ManyAnswers, ManyInputs, ManyIvs, ManySpans};
