use super::circuit::{CircuitGate, VARIABLES};
use super::three::build::{self, SearchEffort};
use super::three::walk;
use super::*;

const QUICK: SearchEffort = SearchEffort { width: 1, tries: [1; 4] };

/// FIPS 46-3 describes S1 by this example: input 011011 gives row 1, column 13, and 5 there.
#[test]
fn truths_read_rows_and_columns_as_the_standard_does() {
    let truths = truths_of(&S_BOXES[0]);
    let output = truths.iter().fold(0, |bits, truth| bits << 1 | truth >> 0b01_1011 & 1);
    assert_eq!(output, 5);
}

#[test]
fn every_row_of_an_s_box_is_a_permutation() {
    for row in S_BOXES.iter().flat_map(|s_box| s_box.chunks(16)) {
        assert_eq!(row.iter().fold(0_u32, |seen, value| seen | 1 << value), 0xFFFF);
    }
}

#[test]
fn gates_number_their_rows_as_vpternlog_does() {
    for row in 0..8_usize {
        let gate = CircuitGate { table: 1 << row, operands: [0, 1, 2] };
        let is_one = |at: usize| if row >> (2 - at) & 1 == 1 { VARIABLES[at] } else { !VARIABLES[at] };
        assert_eq!(gate.apply(&VARIABLES), is_one(0) & is_one(1) & is_one(2));
    }
}

#[test]
fn every_stage_of_the_search_computes_the_s_box() {
    let truths = truths_of(&S_BOXES[2]);
    let mut random = SearchRandom::new(7);
    let built = build::build(&truths, QUICK, &mut random);
    assert_eq!(built.truths(), truths);
    let mut walked = built.clone();
    (0..20).for_each(|_| walk::step(&mut walked, &mut random));
    assert_eq!(walked.truths(), truths);
    assert!(walked.gates.len() <= built.gates.len());
    for is_overwriting in [false, true] {
        let ordered = order::ordered(&walked, is_overwriting);
        assert_eq!(ordered.truths(), truths);
        assert!(order::cost(&ordered, is_overwriting) <= order::cost(&walked, is_overwriting));
    }
}

#[test]
fn the_table_of_circuits_survives_writing_and_parsing() {
    let mut random = SearchRandom::new(1);
    let circuits: Vec<Circuit> =
        S_BOXES[..2].iter().map(|s_box| build::build(&truths_of(s_box), QUICK, &mut random)).collect();
    assert_eq!(file::parse(&file::text(&circuits, 3)), Ok(circuits));
}

#[test]
fn named_gates_compute_what_their_names_say() {
    let text = "s1\nand 0 1\nor 0 1\nxor 0 1\nandn 0 1\nnot 0\nout 6 7 8 9\n";
    let circuits = file::parse(text).unwrap();
    let [a, b, ..] = VARIABLES;
    assert_eq!(circuits[0].signals()[6..], [a & b, a | b, a ^ b, a & !b, !a]);
    assert_eq!(format!("s1\n{}", circuits[0]), text);
    let code = emit::rust(&circuits, "table", 2);
    for line in ["g1 = b1 & b2;", "g2 = b1 | b2;", "g3 = b1 ^ b2;", "g4 = b2.and_not(b1);", "g5 = !b1;"] {
        assert!(code.contains(line), "{line} in {code}");
    }
}

#[test]
fn an_invalid_table_of_circuits_reports_its_line() {
    for (text, line) in [
        ("s2", 1),
        ("s1\nand 0", 2),
        ("s1\nnot 0 1", 2),
        ("s1\nxor 0 6", 2),
        ("s1\nxy 0 1 2", 2),
        ("s1\n00 0 1 6", 2),
        ("s1\n\nout 0 1 2", 3),
    ] {
        assert_eq!(file::parse(text), Err(line), "{text}");
    }
}
