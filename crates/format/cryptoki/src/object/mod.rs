//! Objects, the laws of their attributes, their keys, and the index that finds them.

mod der;
mod entity;
mod fault;
mod index;
mod laws;
mod material;
mod parameter_set;
mod permitted;

pub(crate) use self::der::{NamedCurve, unwrap_octets};
pub(crate) use self::entity::{Object, ObjectOrigin};
pub(crate) use self::index::ObjectIndex;
pub(crate) use self::laws::{
    CreationKind, TemplateContext, apply_template, change, complete, complete_copy, complete_derived,
    is_readable,
};
pub(crate) use self::material::{
    NewObject, asymmetric_type, is_secret_len, key_from_values, new_key_object, public_point,
};
pub use self::material::{private_values, public_values};
pub(crate) use self::parameter_set::ParameterSet;
