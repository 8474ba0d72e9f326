//! Tokens against single records on the scalar engine.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BinaryArray, DictionaryArray, LargeStringArray, StringArray, StringViewArray,
};
use arrow_schema::DataType;
use oarlock::FpeAlg;
use oarlock_columns::{AssociatedData, ColumnError, OnError, RowFault, TokenOptions, detokenise, tokenise};
use oarlock_keytable::{Alphabet, BatchTask, TokenFormat};

use super::common::{RecordParts, SingleRecord, keys};

type Texts = Vec<Option<String>>;

fn texts_of(array: &dyn Array) -> Texts {
    let owned = |text: Option<&str>| text.map(str::to_owned);
    match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().iter().map(owned).collect(),
        DataType::LargeUtf8 => array.as_string::<i64>().iter().map(owned).collect(),
        other => panic!("expected text, found {other}"),
    }
}

/// Returns random texts of an alphabet, a tenth of them null.
fn random_texts(seed: u64, alphabet: &str, rows: usize, lens: std::ops::RangeInclusive<usize>) -> Texts {
    let characters: Vec<char> = alphabet.chars().collect();
    let mut random = fastrand::Rng::with_seed(seed);
    let mut text = |_| {
        let len = random.usize(lens.clone());
        let text = (0..len).map(|_| characters[random.usize(..characters.len())]).collect();
        (random.u8(..) >= 25).then_some(text)
    };
    (0..rows).map(&mut text).collect()
}

fn array(texts: &Texts) -> StringArray {
    texts.iter().map(Option::as_deref).collect()
}

/// Makes a token with one record on the scalar engine.
fn single_token(
    single: &SingleRecord,
    (key, alg): (&str, FpeAlg),
    format: &TokenFormat,
    tweak: &[u8],
    text: &str,
) -> String {
    let mut numerals = Vec::new();
    format.read(text, &mut numerals).unwrap();
    let iv = format.radix_bytes();
    let parts = RecordParts {
        iv: &iv,
        aad: tweak,
        input: &numerals,
        output_len: numerals.len(),
        ..RecordParts::default()
    };
    let numerals = single.run(BatchTask::encrypt_format(alg), key, &parts).unwrap();
    let mut token = Vec::new();
    format.write(text, &numerals, &mut token).unwrap();
    String::from_utf8(token).unwrap()
}

const KEYS: [(&str, FpeAlg); 2] = [("tokens128", FpeAlg::Aes128Ff1), ("tokens256", FpeAlg::Aes256Ff1)];

#[test]
fn tokens_are_those_of_single_records_and_come_back() {
    let (keys, single) = (keys(), SingleRecord::new());
    let greek = "αβγδεζηθικλμνξοπρστυφχψω";
    let wide: String = (0x4E00..0x4E00 + 300).filter_map(char::from_u32).collect();
    let formats = [
        ("0123456789", TokenFormat::new(Alphabet::digits())),
        ("0123456789", TokenFormat::new(Alphabet::digits()).keep_first(6).keep_last(4)),
        ("0123456789abcdef", TokenFormat::new("hex".parse().unwrap())),
        (greek, TokenFormat::new(Alphabet::new(greek).unwrap()).keep_last(1)),
        (&wide, TokenFormat::new(Alphabet::new(&wide).unwrap())),
    ];
    for (seed, (characters, format)) in (90..).zip(&formats) {
        for key in KEYS {
            let texts = random_texts(seed, characters, 600, 16..=40);
            let tweaks = random_texts(seed + 100, "tweak", 600, 0..=40);
            let tweaks: Texts = tweaks.into_iter().map(|tweak| Some(tweak.unwrap_or_default())).collect();
            let tweak_array = array(&tweaks);
            let column = AssociatedData::Column(&tweak_array);
            for tweak in [AssociatedData::None, AssociatedData::Constant(b"cards.pan"), column] {
                let options = TokenOptions::new(key.0, key.1, format).tweak(tweak);
                let tokens = tokenise(&keys, &array(&texts), &options, OnError::Raise).unwrap().array;
                for (row, (token, text)) in texts_of(&tokens).iter().zip(&texts).enumerate() {
                    let own_tweak = match tweak {
                        AssociatedData::None => "",
                        AssociatedData::Constant(_) => "cards.pan",
                        _ => tweaks[row].as_deref().unwrap(),
                    };
                    let single =
                        |text: &String| single_token(&single, key, format, own_tweak.as_bytes(), text);
                    assert_eq!(*token, text.as_ref().map(single), "row {row} of {format:?}");
                }
                let back = detokenise(&keys, &tokens, &options, OnError::Raise).unwrap().array;
                assert_eq!(texts_of(&back), texts);
            }
        }
    }
}

#[test]
fn every_type_of_text_has_the_same_tokens() {
    let keys = keys();
    let format = TokenFormat::new(Alphabet::digits());
    let options = TokenOptions::new("tokens256", FpeAlg::Aes256Ff1, &format);
    let texts = random_texts(7, "0123456789", 100, 6..=20);
    let expected = texts_of(&tokenise(&keys, &array(&texts), &options, OnError::Raise).unwrap().array);
    let text = || texts.iter().map(Option::as_deref);
    let dictionary: DictionaryArray<arrow_array::types::Int32Type> = text().collect();
    let columns: [ArrayRef; 4] = [
        Arc::new(text().collect::<LargeStringArray>()),
        Arc::new(text().collect::<StringViewArray>()),
        Arc::new(text().map(|text| text.map(str::as_bytes)).collect::<BinaryArray>()),
        Arc::new(dictionary),
    ];
    for column in columns {
        let tokens = tokenise(&keys, &column, &options, OnError::Raise).unwrap().array;
        assert_eq!(texts_of(&tokens), expected, "{}", column.data_type());
    }
}

#[test]
fn card_numbers_keep_their_issuer_and_a_check_digit() {
    let keys = keys();
    let format = TokenFormat::new(Alphabet::digits()).keep_first(6).with_luhn().unwrap();
    let options = TokenOptions::new("tokens256", FpeAlg::Aes256Ff1, &format);
    let cards = StringArray::from(vec!["4111111111111111", "4111111111111112", "5555555555554444"]);
    let tokens = tokenise(&keys, &cards, &options, OnError::Null).unwrap();
    assert_eq!(tokens.rejected.to_string(), "1 row: the digits have no valid check sum (Luhn)");
    let texts = texts_of(&tokens.array);
    assert!(texts[0].as_ref().unwrap().starts_with("411111") && texts[1].is_none());
    let back = detokenise(&keys, &tokens.array, &options, OnError::Raise).unwrap();
    let expected = [Some("4111111111111111".to_owned()), None, Some("5555555555554444".to_owned())];
    assert_eq!(texts_of(&back.array), expected);
}

#[test]
fn bad_rows_have_their_reason_and_damage_no_other() {
    let keys = keys();
    let format = TokenFormat::new(Alphabet::digits());
    let options = TokenOptions::new("tokens256", FpeAlg::Aes256Ff1, &format);
    let long = "1".repeat(513);
    let rows: Vec<(&[u8], Option<RowFault>)> = vec![
        (b"123456", None),
        (b"12345x", Some(RowFault::Alphabet)),
        (b"12345", Some(RowFault::TooShort)),
        (b"", Some(RowFault::TooShort)),
        (b"\xFF123456", Some(RowFault::NoText)),
        (long.as_bytes(), Some(RowFault::TooLong)),
        (&long.as_bytes()[..512], None),
        (b"999999", None),
    ];
    let column: BinaryArray = rows.iter().map(|(text, _)| Some(*text)).collect();
    let with_faults = tokenise(&keys, &column, &options, OnError::Struct).unwrap().array;
    let fields = with_faults.as_struct();
    let (tokens, faults) = (texts_of(fields.column(0)), texts_of(fields.column(1)));
    for (row, (_, fault)) in rows.iter().enumerate() {
        assert_eq!(faults[row].as_deref(), fault.map(RowFault::text), "row {row}");
        assert_eq!(tokens[row].is_some(), fault.is_none());
    }
    let good: BinaryArray = rows.iter().map(|(text, fault)| fault.is_none().then_some(*text)).collect();
    let alone = tokenise(&keys, &good, &options, OnError::Raise).unwrap().array;
    assert_eq!(texts_of(&alone), tokens);
}

#[test]
fn tweaks_are_checked() {
    let keys = keys();
    let format = TokenFormat::new(Alphabet::digits());
    let options = TokenOptions::new("tokens256", FpeAlg::Aes256Ff1, &format);
    let texts = StringArray::from(vec!["123456", "123456", "123456"]);
    let long = "t".repeat(65_537);
    let error =
        tokenise(&keys, &texts, &options.tweak(AssociatedData::Constant(long.as_bytes())), OnError::Null);
    let error = error.unwrap_err();
    assert_eq!(error.to_string(), "a tweak of 65537 bytes: expected 65536 at most");
    let tweaks = StringArray::from(vec![None, Some(&long[..65_536]), Some(&long)]);
    let tokens =
        tokenise(&keys, &texts, &options.tweak(AssociatedData::Column(&tweaks)), OnError::Null).unwrap();
    assert_eq!(tokens.rejected.to_string(), "1 row: the value is too long; 1 row: the tweak is null");
    assert!(tokens.array.is_valid(1));
    let short = StringArray::from(vec!["t"]);
    let error = tokenise(&keys, &texts, &options.tweak(AssociatedData::Column(&short)), OnError::Null);
    assert_eq!(error.unwrap_err(), ColumnError::Rows { what: "tweak", expected: 3, found: 1 });
}

#[test]
fn a_key_that_encrypts_makes_no_tokens() {
    let keys = keys();
    let format = TokenFormat::new(Alphabet::digits());
    let texts = StringArray::from(vec!["123456"]);
    for (name, alg) in [("random-only", FpeAlg::Aes128Ff1), ("tokens128", FpeAlg::Aes256Ff1)] {
        let error =
            tokenise(&keys, &texts, &TokenOptions::new(name, alg, &format), OnError::Null).unwrap_err();
        assert!(matches!(error, ColumnError::KeyRefused { .. }), "{error}");
    }
    let unknown = TokenOptions::new("unknown", FpeAlg::Aes256Ff1, &format);
    let error = tokenise(&keys, &texts, &unknown, OnError::Null).unwrap_err();
    assert_eq!(error, ColumnError::UnknownKey { name: "unknown".to_owned() });
}
