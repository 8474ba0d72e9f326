//! The command's arguments, one small climb, and what is shown of it.

use clap::{Args, FromArgMatches};

use super::*;

fn args(words: &[&str]) -> Result<LadderArgs, clap::Error> {
    let command = LadderArgs::augment_args(clap::Command::new("ladder").no_binary_name(true));
    LadderArgs::from_arg_matches(&command.try_get_matches_from(words)?)
}

fn climb(words: &[&str]) -> (LadderArgs, Vec<LadderRow>) {
    let command = GlobalOptions::augment_args(clap::Command::new("oarlock"));
    let global = GlobalOptions::from_arg_matches(&command.get_matches_from(["oarlock"])).unwrap();
    let args = args(words).unwrap();
    let rows = measure_all(&LadderBench::new(&global, &args).unwrap(), &args).unwrap();
    (args, rows)
}

#[test]
fn the_defaults_are_the_papers() {
    let args = args(&[]).unwrap();
    assert_eq!(args.batches, [1, 10, 100, 1000, 10_000, 100_000]);
    assert_eq!(args.lengths, [OpLengths::Uniform, OpLengths::Fixed]);
    assert_eq!((args.cipher.to_string(), args.keys), ("des".into(), 1024));
}

#[test]
fn bad_words_say_what_was_expected() {
    let cases = [
        (["--cipher", "aes"], "des or tdes"),
        (["--batches", "0"], "0 is not in 1..=1000000"),
        (["--batches", "1,,2"], "empty string"),
        (["--lengths", "41"], "8-80 or 40"),
        (["--keys", "0"], "0 is not in 1..=65536"),
        (["--seconds", "0"], "above 0"),
        (["--seconds", "NaN"], "above 0"),
    ];
    for (words, said) in cases {
        let error = args(&words).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains(said), "{words:?}: {error}");
    }
}

#[test]
fn steps_are_the_papers_eight_in_order() {
    let experiments: Vec<&str> = STEPS.iter().filter(|step| !step.is_control()).map(|step| step.id).collect();
    assert_eq!(experiments, ["1", "2", "3", "4", "5", "6", "7", "8"]);
    for step in STEPS.iter().filter(|step| step.is_control()) {
        assert!(experiments.contains(&&step.id[..1]), "{}", step.id);
    }
}

#[test]
fn every_step_computes_what_the_scalar_engine_does() {
    for cipher in ["des", "tdes"] {
        // Beyond the 512 lanes of DES, and not a multiple of them.
        let (_, rows) =
            climb(&["--cipher", cipher, "--batches", "1,7,1100", "--keys", "5", "--seconds", "0.0001"]);
        assert_eq!(rows.len(), 2 * 3 * STEPS.len());
        for row in &rows {
            assert!(row.compared && row.kb_per_s > 0.0 && row.batch_us > 0.0, "{row:?}");
            let per_op = row.kb_per_s * 1e3 / row.ops_per_s;
            assert!((7.0..=81.0).contains(&per_op) && row.engines.contains(&"scalar"), "{row:?}");
        }
    }
}

#[test]
fn reports_are_within_a_page_and_well_formed() {
    let (args, rows) = climb(&["--batches", "1,10,100", "--keys", "3", "--seconds", "0.0001"]);
    let text = report::to_text(&args, &rows, false);
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert!(text.contains("known answers checked") && text.contains("near 5000"), "{text}");
    let json: serde_json::Value = serde_json::to_value(&rows).unwrap();
    let json = json.as_array().unwrap();
    assert_eq!(json.len(), rows.len());
    let first = json[0].as_object().unwrap();
    assert_eq!((&first["step"], &first["paper_max_kb_per_s"]), (&"1".into(), &12.into()));
    assert_eq!(first.len(), 15);
    let svg = report::to_svg(&args, &rows);
    assert!(svg.ends_with("</svg>\n") && !svg.contains("NaN"));
    assert_eq!(svg.matches("<circle").count(), 2 * 8 * 3);
}

#[test]
fn faults_are_told_from_mistakes() {
    let write = || std::io::Error::other("full");
    let kinds = [
        LadderError::Plot { path: "a.svg".into(), error: write() },
        LadderError::from(BuildError::NoEngine { known: Vec::new() }),
        LadderError::Differs { step: "6", at: 3 },
        LadderError::from(write()),
    ]
    .map(|error| error.kind());
    let (usage, machine) = (FailureKind::Usage, FailureKind::Machine);
    assert_eq!(kinds, [usage, usage, machine, machine]);
}
