//! TLS records in CBC mode: the MAC first, then a padding, then the cipher. RFC 5246 6.2.3.2.

use std::borrow::Cow;

use oarlock_core::{
    Column, InputSource, KeySource, OutcomeWriter, OutputSink, Records, Span, Status, mte_sealed_len,
};
use oarlock_engine_kit::MteOpening;
use zeroize::Zeroizing;

use super::passes::ChainPasses;
use super::{MessageText, written};
use crate::hash::{CHAIN_BYTES, ChainBytes, MessageEnding};
use crate::records::{RecordPart, RecordRef};
use crate::simd::declassify;

/// The spans of a record in the memory where it is put together.
#[derive(Clone, Copy)]
struct Plaintext {
    iv: Span,
    /// Header and fragment, which the MAC covers.
    message: Span,
    /// Fragment, MAC and padding.
    padded: Span,
}

/// Makes the MACs, pads, and encrypts.
pub(super) fn seal(
    passes: &ChainPasses<'_>,
    text: &mut MessageText,
    part: &RecordPart<'_>,
    records: &[RecordRef],
    out: &mut OutcomeWriter<'_>,
) {
    let (text, plaintexts) = messages(passes, text, part, records);
    let tags = {
        let messages: Vec<&[u8]> =
            plaintexts.iter().map(|plaintext| plaintext.message.slice(text).unwrap_or_default()).collect();
        passes.tags(part, records, &messages)
    };
    let tag_len = passes.mac.tag_len();
    for (plaintext, tag) in plaintexts.iter().zip(&*tags) {
        let (start, end) = (plaintext.message.range().end, plaintext.padded.range().end);
        let (to, padding) = text[start..end].split_at_mut(tag_len);
        to.copy_from_slice(&tag[..tag_len]);
        padding.fill(padding.len() as u8 - 1);
    }
    let each = |span: fn(&Plaintext) -> Span| plaintexts.iter().map(span).collect::<Vec<_>>();
    let keys: Vec<KeySource> = records.iter().map(|record| part.key_at(record.index)).collect();
    let inputs: Vec<InputSource> =
        each(|plaintext| plaintext.padded).into_iter().map(InputSource::Data).collect();
    let outputs: Vec<OutputSink> = records.iter().map(|record| part.output(*record)).collect();
    let padded = Records {
        len: records.len(),
        keys: Cow::Borrowed(part.key_table()),
        data: Cow::Borrowed(text),
        output_len: out.output.len(),
        slots: Cow::Borrowed(part.slots()),
        key: Column::Each(keys.into()),
        iv: Column::Each(each(|plaintext| plaintext.iv).into()),
        input: Column::Each(inputs.into()),
        output: Column::Each(outputs.into()),
        ..Records::default()
    };
    let padded_part = RecordPart::new(passes.cipher_shape(), &padded);
    // The records have other numbers here than in their own part, and so have their statuses.
    let mut statuses = vec![Status::Pending; records.len()];
    let mut accepted = Vec::with_capacity(records.len());
    for (index, status) in (0..).zip(&mut statuses) {
        match padded_part.accept_one(index) {
            Ok(record) => accepted.push(record),
            Err(rejected) => *status = rejected,
        }
    }
    let mut part_out =
        OutcomeWriter { statuses: &mut statuses, output: out.output, slots: out.slots, short: out.short };
    passes.crypt_part(&padded_part, &accepted, &mut part_out);
    for (record, status) in records.iter().zip(statuses) {
        if status != Status::Pending {
            out.statuses[record.index as usize] = status;
        }
    }
}

/// Puts IV, header and fragment of each record together, with room for MAC and padding.
fn messages<'t>(
    passes: &ChainPasses<'_>,
    text: &'t mut MessageText,
    part: &RecordPart<'_>,
    records: &[RecordRef],
) -> (&'t mut Vec<u8>, Vec<Plaintext>) {
    let block_len = passes.cipher.alg.block_len();
    let sealed_len = |record: &RecordRef| mte_sealed_len(passes.cipher.alg, passes.mac, record.len as usize);
    let len: usize = records.iter().map(|record| MAX_FRONT + sealed_len(record)).sum();
    let (text, mut plaintexts) = (text.renew(len), Vec::with_capacity(records.len()));
    // A window is far below 4 GiB.
    let span = |start: usize, len: usize| Span { start: start as u32, len: len as u32 };
    for record in records {
        let (input, start) = (part.input(record, 0), text.len());
        let iv = part.iv_span(*record).slice(part.data()).unwrap_or_default();
        let aad = part.aad_span(*record).slice(part.data()).unwrap_or_default();
        text.extend_from_slice(iv);
        let message = text.len();
        text.extend_from_slice(aad);
        // A fragment has less than 2^16 bytes.
        text.extend_from_slice(&(input.len() as u16).to_be_bytes());
        let fragment = text.len();
        text.extend_from_slice(input);
        let message = span(message, text.len() - message);
        text.resize(fragment + sealed_len(record), 0);
        plaintexts.push(Plaintext {
            iv: span(start, block_len),
            message,
            padded: span(fragment, text.len() - fragment),
        });
    }
    (text, plaintexts)
}

/// The bytes before a fragment: an IV and the header of the MAC.
const MAX_FRONT: usize = 16 + 13;

/// Decrypts, and checks padding and MAC together. The steps depend on the lengths of the records only.
pub(super) fn open(
    passes: &ChainPasses<'_>,
    text: &mut MessageText,
    part: &RecordPart<'_>,
    records: &[RecordRef],
    out: &mut OutcomeWriter<'_>,
) {
    passes.crypt(part, records, out);
    let verdicts = verdicts(passes, text, part, records, out);
    for (record, verdict) in records.iter().zip(&verdicts) {
        // Only the verdict is public, and the status reveals it anyway.
        if declassify(*verdict) == 0 {
            out.wipe(part.output(*record));
            out.statuses[record.index as usize] = Status::Rejected;
        }
    }
}

/// Returns all ones for each record with the right MAC and padding, else zero.
fn verdicts(
    passes: &ChainPasses<'_>,
    text: &mut MessageText,
    part: &RecordPart<'_>,
    records: &[RecordRef],
    out: &OutcomeWriter<'_>,
) -> Vec<u8> {
    let opened: Vec<&[u8]> = records.iter().map(|record| written(part, *record, out)).collect();
    let aad_of = |record: &RecordRef| part.aad_span(*record).slice(part.data()).unwrap_or_default();
    let openings: Vec<Option<MteOpening>> = records
        .iter()
        .zip(&opened)
        .map(|(record, opened)| MteOpening::new(opened, aad_of(record), passes.mac))
        .collect();
    let mut states = passes.states(part, records);
    hash_whole(passes, text, &mut states.inner, &openings, &opened);
    let digests = hash_ends(passes, &mut states.inner, &openings, &opened);
    states.inner = digests;
    let tags = passes.finish(states);
    let tag_len = passes.mac.tag_len();
    let each = openings.iter().zip(&opened).zip(&*tags);
    // unreachable without an opening, because the record was accepted
    each.map(|((opening, opened), tag)| {
        opening.as_ref().map_or(0, |opening| opening.accepts(opened, &tag[..tag_len]))
    })
    .collect()
}

/// Hashes the blocks that are whole under every padding.
fn hash_whole(
    passes: &ChainPasses<'_>,
    text: &mut MessageText,
    states: &mut [ChainBytes],
    openings: &[Option<MteOpening>],
    opened: &[&[u8]],
) {
    let text = text.renew(opened.iter().map(|opened| opened.len() + MAX_FRONT).sum());
    let mut ends = Vec::with_capacity(opened.len());
    for (opening, opened) in openings.iter().zip(opened) {
        if let Some(opening) = opening {
            let len = opening.whole_blocks(opened.len()) * passes.block_len();
            if let Some(fragment) = len.checked_sub(opening.header().len()) {
                text.extend_from_slice(opening.header());
                text.extend_from_slice(&opened[..fragment]);
            }
        }
        ends.push(text.len());
    }
    let mut start = 0;
    let messages: Vec<&[u8]> =
        ends.iter().map(|end| &text[std::mem::replace(&mut start, *end)..*end]).collect();
    passes.advance(states, &messages, MessageEnding::Open);
}

/// Hashes the blocks that can be the last, as many as the shortest padding asks for, and returns the digest after the
/// block that is.
fn hash_ends(
    passes: &ChainPasses<'_>,
    states: &mut [ChainBytes],
    openings: &[Option<MteOpening>],
    opened: &[&[u8]],
) -> Zeroizing<Vec<ChainBytes>> {
    let mut digests = Zeroizing::new(vec![[0; CHAIN_BYTES]; openings.len()]);
    let block_len = passes.block_len();
    let counts: Vec<(usize, usize)> = openings
        .iter()
        .zip(opened)
        .map(|(opening, opened)| {
            let len = opened.len();
            opening.as_ref().map_or((0, 0), |opening| (opening.whole_blocks(len), opening.max_blocks(len)))
        })
        .collect();
    let steps = counts.iter().map(|(first, end)| end - first).max().unwrap_or(0);
    let mut text = Zeroizing::new(vec![0; block_len * openings.len()]);
    let mut masks = Zeroizing::new(vec![0; openings.len()]);
    for step in 0..steps {
        let each = text.chunks_exact_mut(block_len).zip(openings).zip(opened).zip(&counts);
        for ((((block, opening), opened), (first, _)), mask) in each.zip(&mut *masks) {
            *mask = opening.as_ref().map_or(0, |opening| opening.fill_block(opened, first + step, block));
        }
        // A record with fewer steps has an empty message. Steps depend on lengths, which are public.
        let messages: Vec<&[u8]> = text
            .chunks_exact(block_len)
            .zip(&counts)
            .map(|(block, (first, end))| if first + step < *end { block } else { &[] })
            .collect();
        passes.advance(states, &messages, MessageEnding::Open);
        for ((digest, state), mask) in digests.iter_mut().zip(&*states).zip(&*masks) {
            for (to, from) in digest.iter_mut().zip(state) {
                *to |= from & mask;
            }
        }
    }
    digests
}
