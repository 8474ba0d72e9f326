//! Tests of the ways: what arrives opens to the file, and the counts are exact.

use super::args::{SealMethod, SocketFrames, SocketsBenchArgs};
use super::error::SocketsError;
use super::plan::{RowPlan, SampleFile, WayOutcome, WayRun, run};
use super::report::{SocketsRow, to_svg, to_text};
use super::seal::open_all;
use super::transfer::TransferSizes;
use oarlock::Accelerator;
use oarlock_measure::sockets::SocketSuite;
use oarlock_terminal::{CommandError, FailureKind};

fn args() -> SocketsBenchArgs {
    SocketsBenchArgs {
        ways: vec![SealMethod::User],
        sizes: vec![4096],
        bytes: 100_000,
        suite: vec![SocketSuite::Aes128Gcm],
        streams: vec![1],
        frames: vec![SocketFrames::Whole],
        records_per_call: vec![1],
        turns: 1,
        device_socket: None,
        plot: None,
    }
}

fn plan(
    way: SealMethod,
    size: usize,
    frames: SocketFrames,
    records_per_call: usize,
    streams: usize,
) -> RowPlan {
    let sizes = TransferSizes { size, frames, records_per_call };
    RowPlan { way, suite: SocketSuite::Aes128Gcm, streams, sizes }
}

fn accelerator() -> Accelerator {
    Accelerator::builder().lazy().build().unwrap()
}

fn done(outcome: WayOutcome) -> Option<WayRun> {
    match outcome {
        WayOutcome::Done(run) => Some(run),
        WayOutcome::Absent(reason) => {
            println!("SKIPPED: {reason}");
            None
        }
    }
}

#[test]
fn what_arrives_opens_to_the_file() {
    let mut file = SampleFile::new(100_000).unwrap();
    for way in
        [SealMethod::User, SealMethod::Device, SealMethod::Kernel, SealMethod::Sendfile, SealMethod::Plain]
    {
        for suite in SocketSuite::ALL {
            for (frames, size) in [
                (SocketFrames::Whole, 4096),
                (SocketFrames::Whole, 16_384),
                (SocketFrames::Piecemeal, 4096),
                (SocketFrames::Piecemeal, 5000),
            ] {
                let plan = RowPlan { suite, ..plan(way, size, frames, 1, 1) };
                let outcome = run(&accelerator(), &plan, &mut file, &args(), true);
                let Some(run) = done(outcome.unwrap()) else { continue };
                run.check_contents(&accelerator(), &plan, &file).unwrap();
                if way == SealMethod::User {
                    let kept = run.arrived[0].kept.clone();
                    let records = open_all(&accelerator(), suite, 0, kept).unwrap();
                    let first = if frames == SocketFrames::Whole { size } else { size * (16_384 / size) };
                    assert_eq!(records[0].len(), first, "{plan:?}");
                }
            }
        }
    }
}

#[test]
fn every_connection_gets_its_share() {
    let mut file = SampleFile::new(100_000).unwrap();
    let plan = plan(SealMethod::User, 4096, SocketFrames::Whole, 2, 3);
    let mut run = done(run(&accelerator(), &plan, &mut file, &args(), true).unwrap()).unwrap();
    run.check_contents(&accelerator(), &plan, &file).unwrap();
    let opened = |stream: usize| {
        open_all(&accelerator(), plan.suite, stream, run.arrived[stream].kept.clone()).unwrap().concat().len()
    };
    // 13 calls of up to 8192 bytes, in turn.
    assert_eq!([0, 1, 2].map(opened), [4 * 8192 + 1696, 4 * 8192, 4 * 8192]);
    // A byte that differs, records that are cut, and connections that are exchanged are found.
    let right = run.arrived.clone();
    run.arrived[1].kept[100] ^= 1;
    assert!(run.check_contents(&accelerator(), &plan, &file).is_err());
    run.arrived = right.clone();
    run.arrived[2].kept.pop();
    let error = run.check_contents(&accelerator(), &plan, &file).unwrap_err();
    assert!(error.to_string().starts_with("user: what arrived is not the file: "), "{error}");
    run.arrived = right;
    run.arrived.swap(0, 1);
    assert!(run.check_contents(&accelerator(), &plan, &file).is_err());
}

#[test]
fn calls_and_bytes_are_counted_exactly() {
    let mut file = SampleFile::new(1 << 20).unwrap();
    let mut calls =
        |plan| done(run(&accelerator(), &plan, &mut file, &args(), false).unwrap()).unwrap().result.calls;
    let whole = calls(plan(SealMethod::User, 4096, SocketFrames::Whole, 1, 1));
    assert_eq!((whole.read.calls, whole.sendto.calls, whole.sendmsg.calls), (256, 256, 0));
    assert_eq!((whole.read.bytes, whole.sendto.bytes), (1 << 20, (1 << 20) + 256 * 22));
    let batched = calls(plan(SealMethod::User, 4096, SocketFrames::Whole, 16, 1));
    assert_eq!((batched.read.calls, batched.sendto.calls), (16, 16));
    assert_eq!(batched.sendto.bytes, (1 << 20) + 256 * 22);
    let pieces = calls(plan(SealMethod::User, 4096, SocketFrames::Piecemeal, 1, 1));
    assert_eq!((pieces.read.calls, pieces.sendto.calls), (256, 64));
    assert_eq!(pieces.sendto.bytes, (1 << 20) + 64 * 22);
    let plain = calls(plan(SealMethod::Plain, 16_384, SocketFrames::Whole, 1, 4));
    assert_eq!((plain.calls(), plain.bytes()), (128, 2 << 20));
}

#[test]
fn a_way_that_is_not_there_is_a_row_with_a_reason() {
    let mut file = SampleFile::new(10_000).unwrap();
    let both = plan(SealMethod::User, 4096, SocketFrames::Piecemeal, 2, 1);
    assert!(
        matches!(run(&accelerator(), &both, &mut file, &args(), false).unwrap(), WayOutcome::Absent(reason) if reason.contains("alone"))
    );
    let batched = plan(SealMethod::Sendfile, 4096, SocketFrames::Whole, 2, 1);
    let WayOutcome::Absent(reason) = run(&accelerator(), &batched, &mut file, &args(), false).unwrap() else {
        panic!("sendfile has no buffers")
    };
    let absent = SocketsRow::absent(&batched, reason);
    let json = serde_json::to_value(&absent).unwrap();
    assert_eq!((json["available"].as_bool(), json["seconds"].as_f64()), (Some(false), None));
    assert!(json["why_not"].as_str().unwrap().contains("16k"));
    let text = to_text(&[absent], false);
    assert!(text.contains("not here") && text.contains("sendfile is not here: "), "{text}");
}

#[test]
fn the_tables_compare_with_the_paper() {
    let row = |way, calls: f64, border: f64, seconds: f64| SocketsRow {
        seconds: Some(seconds),
        cpu_seconds: Some(seconds),
        calls_per_buffer: Some(calls),
        border_bytes_per_byte: Some(border),
        copied_bytes_per_byte: Some(0.0),
        gb_per_cpu_s: Some(1.0),
        available: true,
        why_not: None,
        ..SocketsRow::absent(&plan(way, 4096, SocketFrames::Whole, 1, 1), String::new())
    };
    let rows = [
        row(SealMethod::User, 2.0, 2.0, 4.0),
        row(SealMethod::Device, 4.0, 4.0, 2.0),
        row(SealMethod::Kernel, 2.0, 2.0, 1.0),
    ];
    let text = to_text(&rows, false);
    let line = |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned();
    for (name, figures) in [
        ("seconds, kernel for user", "75.0 %     88 %"),
        ("seconds, kernel for device", "50.0 %      8 %"),
        ("calls, kernel for device", "50.0 %     50 %"),
        ("copies, kernel for device", "66.7 %     66 %"),
        ("calls, kernel for user", "0.0 %        -"),
    ] {
        let shown = line(name).split_whitespace().collect::<Vec<_>>().join(" ");
        let wanted = figures.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.ends_with(&wanted), "{name}: {text}");
    }
    let svg = to_svg(&rows);
    assert!(svg.starts_with("<svg") && svg.contains("kernel") && svg.contains("4 KiB"), "{svg}");
}

#[test]
fn wrong_values_are_errors_of_usage() {
    for (args, text) in [
        (SocketsBenchArgs { sizes: vec![4096, 0], ..args() }, "--sizes: expected 1 to 16k bytes"),
        (SocketsBenchArgs { sizes: vec![16_385], ..args() }, "found 16385"),
        (SocketsBenchArgs { bytes: 0, ..args() }, "--bytes: expected 1 to 4G, found 0"),
        (SocketsBenchArgs { bytes: 5 << 30, ..args() }, "--bytes: expected 1 to 4G"),
    ] {
        let error = args.check().unwrap_err();
        assert!(error.to_string().contains(text), "{error}");
        assert_eq!(error.kind(), FailureKind::Usage);
    }
    let lost = SocketsError::Lost { way: "user", arrived: 1, sent: 2 };
    assert_eq!(lost.kind(), FailureKind::Machine);
}
