//! Runs of records through the engine.

use oarlock_core::*;

use super::KernelBench;
use crate::LaneEngine;

/// The bytes of a record's parameters.
struct RecordSizes {
    key_len: usize,
    iv_len: usize,
    tag_len: usize,
}

impl RecordSizes {
    fn from_shape(shape: Shape) -> Option<Self> {
        Some(match shape {
            Shape::Cipher { alg, .. } => Self { key_len: alg.key_len(), iv_len: alg.block_len(), tag_len: 0 },
            Shape::Aead { alg, .. } => Self { key_len: alg.key_len(), iv_len: 12, tag_len: 16 },
            // HMAC takes keys of every length.
            Shape::Mac { alg } => {
                Self { key_len: alg.key_len().unwrap_or(32), iv_len: 0, tag_len: alg.tag_len() }
            }
            Shape::Digest { alg } => Self { key_len: 0, iv_len: 0, tag_len: alg.output_len() },
            _ => return None,
        })
    }
}

/// Times a run of records of these lengths and prints nanoseconds per record. Each record has its own IV, and one of
/// 1,024 keys in random order. Every column has one value per record.
pub(super) fn whole(bench: &KernelBench<'_>, engine: &LaneEngine, shape: Shape, name: &str, lens: &[usize]) {
    if !bench.wants(name) || engine.offers(shape).is_none() {
        return;
    }
    let Some(RecordSizes { key_len, iv_len, tag_len }) = RecordSizes::from_shape(shape) else { return };
    let count = lens.len();
    let key = |at: usize| {
        let bytes = (0..key_len).map(|byte| (at * 31 + byte * 7) as u8).collect();
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
    let is_shortened = matches!(shape, Shape::Mac { .. } | Shape::Digest { .. });
    let span = |start, len| Span::new(start, len).unwrap_or_default();
    let spans = starts.iter().zip(lens);
    let records = Records {
        len: count,
        keys: (0..1024).map(key).collect::<Vec<_>>().into(),
        data: vec![0x5A; iv_len * count + total].into(),
        output_len: total + tag_len * count,
        key: Column::from(
            (0..count).map(|at| KeySource::Table((at * 40_503 % 1024) as u32)).collect::<Vec<_>>(),
        ),
        iv: Column::from((0..count).map(|at| span(iv_len * at, iv_len)).collect::<Vec<_>>()),
        input: Column::from(
            spans
                .clone()
                .map(|(at, len)| InputSource::Data(span(iv_len * count + at, *len)))
                .collect::<Vec<_>>(),
        ),
        output: if is_shortened {
            Column::from(
                (0..count).map(|at| OutputSink::Output(span(tag_len * at, tag_len))).collect::<Vec<_>>(),
            )
        } else {
            Column::from(spans.map(|(at, len)| OutputSink::Output(span(*at, *len))).collect::<Vec<_>>())
        },
        tag: match shape {
            Shape::Aead { .. } => {
                Column::from((0..count).map(|at| span(total + tag_len * at, tag_len)).collect::<Vec<_>>())
            }
            _ => Column::One(Span::default()),
        },
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
