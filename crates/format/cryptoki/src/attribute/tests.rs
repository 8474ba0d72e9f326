use super::*;
use crate::constants::{AttributeType, ObjectClass, ReturnCode};

fn number(value: usize) -> [u8; size_of::<usize>()] {
    value.to_ne_bytes()
}

#[test]
fn a_template_with_a_doubled_attribute_is_inconsistent() {
    let entry = TemplateEntry::new(AttributeType::LABEL, b"a");
    let doubled = parse(&[entry, entry], ObjectClass::DATA);
    assert_eq!(doubled.unwrap_err(), ReturnCode::TemplateInconsistent);
}

#[test]
fn a_value_of_a_wrong_length_is_invalid() {
    let invalid =
        |kind, value: &[u8]| parse(&[TemplateEntry::new(kind, value)], ObjectClass::SECRET_KEY).unwrap_err();
    assert_eq!(invalid(AttributeType::TOKEN, &[]), ReturnCode::AttributeValueInvalid);
    assert_eq!(invalid(AttributeType::TOKEN, &[1, 0]), ReturnCode::AttributeValueInvalid);
    assert_eq!(invalid(AttributeType::KEY_TYPE, &[1; 7]), ReturnCode::AttributeValueInvalid);
    assert_eq!(invalid(AttributeType::START_DATE, b"20261301"), ReturnCode::AttributeValueInvalid);
    assert_eq!(invalid(AttributeType::ALLOWED_MECHANISMS, &[1; 9]), ReturnCode::AttributeValueInvalid);
    assert_eq!(invalid(AttributeType(0x7777), &[]), ReturnCode::AttributeTypeInvalid);
    let null = TemplateEntry::null(AttributeType::LABEL);
    let parsed = parse(&[null], ObjectClass::SECRET_KEY);
    assert_eq!(parsed.unwrap_err(), ReturnCode::AttributeValueInvalid);
}

#[test]
fn values_are_read_and_written_alike() {
    let kinds = [number(0x1041), number(0x250)].concat();
    let class = number(4);
    let template = [
        TemplateEntry::new(AttributeType::CLASS, &class),
        TemplateEntry::new(AttributeType::ALLOWED_MECHANISMS, &kinds),
        TemplateEntry::new(AttributeType::VALUE, &[0, 7]),
        TemplateEntry::new(AttributeType::SIGN, &[5]),
    ];
    let set = parse(&template, ObjectClass::SECRET_KEY).unwrap();
    let encoded = |kind| set.get(kind).unwrap().encoded().to_vec();
    assert_eq!(encoded(AttributeType::CLASS), number(4));
    assert_eq!(encoded(AttributeType::ALLOWED_MECHANISMS), kinds);
    assert_eq!(encoded(AttributeType::VALUE), [0, 7]);
    assert_eq!(encoded(AttributeType::SIGN), [1]);
}

#[test]
fn no_value_is_shown_in_debug_output() {
    let set = parse(&[TemplateEntry::new(AttributeType::VALUE, b"secret")], ObjectClass::SECRET_KEY).unwrap();
    assert!(!format!("{set:?}").contains("secret\""));
    assert!(format!("{set:?}").contains("6 secret bytes"));
}

#[test]
fn an_integer_loses_its_leading_zeros() {
    let set =
        parse(&[TemplateEntry::new(AttributeType::MODULUS, &[0, 0, 9])], ObjectClass::PUBLIC_KEY).unwrap();
    assert_eq!(set.bytes(AttributeType::MODULUS), Some(&[9][..]));
}
