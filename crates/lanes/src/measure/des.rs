//! DES: its parts, and whole runs of records.

use oarlock_core::*;

use super::Bench;
use crate::LaneEngine;
use crate::des::measure as parts;
use crate::simd::Simd;

pub(crate) fn run<S: Simd>(bench: &Bench<'_>, simd: S) {
    let mut rows = [simd.splat(7); 64];
    bench.plain("des transpose, 512 blocks", 1, || parts::transpose(simd, &mut rows));
    parts::cipher(simd, |cipher| bench.plain("des sixteen rounds, 512 blocks", 1, cipher));
    let Some(engine) = LaneEngine::detect() else { return };
    for alg in [BlockCipher::Des, BlockCipher::Tdes3] {
        for direction in Direction::ALL {
            let shape = Shape::Cipher { alg, mode: CipherMode::Cbc, direction };
            for count in [512, 4096, 65_536] {
                whole(bench, &engine, shape, &format!("{shape} 40 B, {count} records"), &vec![40; count]);
            }
            let mixed: Vec<usize> = (0..65_536_usize).map(|at| 8 + 8 * (at * 7919 % 10)).collect();
            whole(bench, &engine, shape, &format!("{shape} 8-80 B, 65536 records"), &mixed);
        }
    }
}

/// A run of records of these lengths, other key and IV each, the 1,024 keys in random order: nanoseconds per record.
fn whole(bench: &Bench<'_>, engine: &LaneEngine, shape: Shape, name: &str, lens: &[usize]) {
    let Shape::Cipher { alg, .. } = shape else { return };
    if !bench.wants(name) {
        return;
    }
    let (block, count) = (alg.block_len(), lens.len());
    let key = |at: usize| {
        let bytes = (0..alg.key_len()).map(|byte| (at * 31 + byte * 7) as u8).collect();
        Key::local(KeyParts::Secret(SecretBytes::new(bytes)), Fingerprint::new([0; 32]))
    };
    let starts: Vec<usize> = lens
        .iter()
        .scan(0, |end, len| {
            *end += len;
            Some(*end - len)
        })
        .collect();
    let total: usize = lens.iter().sum();
    let span = |start, len| Span::new(start, len).unwrap_or_default();
    let spans = starts.iter().zip(lens);
    let records = Records {
        len: count,
        keys: (0..1024).map(key).collect::<Vec<_>>().into(),
        data: vec![0x5A; block * count + total].into(),
        output_len: total,
        key: Column::Each((0..count).map(|at| KeySource::Table((at * 40_503 % 1024) as u32)).collect()),
        iv: Column::Each((0..count).map(|at| span(block * at, block)).collect()),
        input: Column::Each(
            spans.clone().map(|(at, len)| Source::Data(span(block * count + at, *len))).collect(),
        ),
        output: Column::Each(spans.map(|(at, len)| Sink::Output(span(*at, *len))).collect()),
        ..Records::default()
    };
    let parts = [&records];
    let jobs = Jobs::Records(shape, &parts);
    let mut out = Outcomes::for_jobs(&jobs);
    bench.plain(name, count, || {
        out.reset(&jobs);
        engine.run(&jobs, &mut out).unwrap_or_default();
    });
}
