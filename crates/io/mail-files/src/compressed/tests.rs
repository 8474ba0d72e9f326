//! Every format, complete and damaged.

use std::io::{self, Read, Write};

use super::*;

/// Returns text that compresses to several chunks of each format.
fn text() -> Vec<u8> {
    let line = |line: u32| format!("{line} name{}.example. IN A\n", line.wrapping_mul(0x9e37_79b9));
    (0..40_000).flat_map(|number| line(number).into_bytes()).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let options = lzma_rust2::XzOptions::with_preset(1);
    let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

type Encoder = fn(&[u8]) -> Vec<u8>;
const ENCODERS: [(CompressionFormat, Encoder); 3] =
    [(CompressionFormat::Gzip, gzip), (CompressionFormat::Xz, xz), (CompressionFormat::Zstd, zstd)];

fn read(bytes: &[u8]) -> (Vec<u8>, io::Result<usize>) {
    let mut out = Vec::new();
    let mut input = DecompressedInput::new(io::Cursor::new(bytes.to_vec())).unwrap();
    let read = input.read_to_end(&mut out);
    (out, read)
}

#[test]
fn every_format_is_recognised_and_read() {
    let text = text();
    for (format, encode) in ENCODERS {
        let compressed = encode(&text);
        assert!(compressed.len() < text.len() / 2, "{format}");
        let mut input = DecompressedInput::new(io::Cursor::new(compressed.clone())).unwrap();
        assert_eq!(input.format(), Some(format));
        let consumed = input.consumed();
        let mut out = Vec::new();
        input.read_to_end(&mut out).unwrap();
        assert!(out == text, "{format}");
        assert_eq!(consumed.bytes(), compressed.len() as u64, "{format}");
    }
}

#[test]
fn reads_an_uncompressed_file_unchanged() {
    for plain in [&b""[..], b"\x1f", b"\xfd7zXZ", b"example. IN SOA"] {
        let input = DecompressedInput::new(plain).unwrap();
        assert_eq!(input.format(), None);
        let (out, read) = read(plain);
        assert_eq!((out.as_slice(), read.unwrap()), (plain, plain.len()));
    }
}

#[test]
fn reads_consecutive_streams_as_one() {
    for (format, encode) in ENCODERS {
        let mut both = encode(b"first,");
        both.extend(encode(b"second"));
        assert_eq!(read(&both).0, b"first,second", "{format}");
    }
}

#[test]
fn skips_skippable_frames() {
    let mut frames = vec![0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
    frames.extend(zstd(b"text"));
    frames.extend([0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0]);
    assert_eq!(read(&frames).0, b"text");
    frames.extend([0x50, 0x2a, 0x4d, 0x18, 9, 0, 0, 0, 1]);
    assert_eq!(damage(read(&frames).1), StreamDamage::Truncated);
}

fn damage(read: io::Result<usize>) -> StreamDamage {
    DamagedError::find(&read.unwrap_err()).unwrap().damage.clone()
}

#[test]
fn a_truncated_stream_yields_its_start_and_an_error() {
    let text = text();
    for (format, encode) in ENCODERS {
        let compressed = encode(&text);
        for cut in [1, 2, 9, compressed.len() / 2] {
            let (out, read) = read(&compressed[..compressed.len() - cut]);
            assert!(text.starts_with(&out) && out.len() > text.len() / 3, "{format}, {cut}: {}", out.len());
            assert_eq!(damage(read), StreamDamage::Truncated, "{format}, {cut}");
        }
        let (_, read) = read(&compressed[..8]);
        assert_eq!(damage(read), StreamDamage::Truncated, "{format}");
    }
}

#[test]
fn a_flipped_bit_never_yields_the_original_text() {
    let text = text();
    for (format, encode) in ENCODERS {
        let whole = encode(&text[..20_000]);
        for at in (12..whole.len()).step_by(7) {
            let mut flipped = whole.clone();
            flipped[at] ^= 4;
            let (out, read) = read(&flipped);
            assert!(read.is_err() || out == text[..20_000], "{format}, byte {at} of {}", whole.len());
        }
    }
}

#[test]
fn repeats_the_fault_after_it_occurred() {
    for (format, encode) in ENCODERS {
        let whole = encode(&text());
        let mut input = DecompressedInput::new(io::Cursor::new(whole[..whole.len() / 2].to_vec())).unwrap();
        let first = input.read_to_end(&mut Vec::new()).unwrap_err();
        let second = input.read(&mut [0; 10]).unwrap_err();
        assert_eq!(DamagedError::find(&first), DamagedError::find(&second), "{format}");
    }
}

#[test]
fn bytes_after_a_stream_are_reported() {
    for (format, encode) in ENCODERS {
        let mut followed = encode(b"text");
        followed.extend(b"and something that is no stream of this kind");
        let (out, read) = read(&followed);
        assert_eq!(out, b"text", "{format}");
        assert!(matches!(damage(read), StreamDamage::Malformed(_)), "{format}");
    }
}

/// A source of bytes that ends in an error of the system.
struct Failing(io::Cursor<Vec<u8>>);

impl Read for Failing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 => Err(io::Error::new(io::ErrorKind::PermissionDenied, "the disk is gone")),
            len => Ok(len),
        }
    }
}

#[test]
fn a_system_error_is_not_reported_as_damage() {
    for (format, encode) in ENCODERS {
        let mut half = encode(&text());
        half.truncate(half.len() / 2);
        let mut input = DecompressedInput::new(Failing(io::Cursor::new(half))).unwrap();
        let error = input.read_to_end(&mut Vec::new()).unwrap_err();
        assert!(DamagedError::find(&error).is_none(), "{format}");
        assert_eq!(
            (error.kind(), error.to_string()),
            (io::ErrorKind::PermissionDenied, "the disk is gone".into())
        );
    }
}

#[test]
fn a_file_has_a_length_and_a_missing_one_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("zone.gz");
    assert_eq!(open(&path).unwrap_err().kind(), io::ErrorKind::NotFound);
    let compressed = gzip(b"text");
    std::fs::write(&path, &compressed).unwrap();
    let mut input = open(&path).unwrap();
    assert_eq!(input.len_bytes(), Some(compressed.len() as u64));
    let mut out = String::new();
    input.read_to_string(&mut out).unwrap();
    assert_eq!(out, "text");
}

/// A hundred bytes of each format can stand for gigabytes.
#[test]
fn ends_a_stream_beyond_its_limit_with_an_error() {
    let text = vec![b'\n'; 1 << 20];
    for (format, encode) in ENCODERS {
        let compressed = encode(&text);
        let input = |limit| {
            DecompressedInput::new(io::Cursor::new(compressed.clone())).unwrap().with_text_limit(limit)
        };
        let mut out = Vec::new();
        assert_eq!(input(TextLimit::Bytes(1 << 20)).read_to_end(&mut out).unwrap(), 1 << 20, "{format}");
        let mut bounded = input(TextLimit::Bytes(300_000));
        for _ in 0..2 {
            let mut out = Vec::new();
            let error = bounded.read_to_end(&mut out).unwrap_err();
            assert_eq!(
                DamagedError::find(&error).unwrap().damage,
                StreamDamage::TooLong { max_bytes: 300_000 }
            );
            assert!(out.len() <= 300_000, "{format}: {}", out.len());
            assert!(
                error.to_string().ends_with("it decompresses to more than the 300000 bytes that are allowed"),
                "{error}"
            );
        }
    }
    let plain = DecompressedInput::new(&b"longer"[..])
        .unwrap()
        .with_text_limit(TextLimit::Bytes(3))
        .read_to_end(&mut Vec::new());
    assert_eq!(plain.unwrap(), 6);
}

#[test]
fn the_limit_of_text_grows_with_the_file() {
    let gib = 1 << 30;
    assert_eq!([0, 1000, gib].map(|bytes| TextLimit::default().max_bytes(bytes)), [gib, gib, 100 * gib]);
}
