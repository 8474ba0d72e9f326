use super::*;

fn numerals(format: &TokenFormat, text: &str) -> Result<Vec<u8>, FormatError> {
    let mut numerals = vec![77];
    let read = format.read(text, &mut numerals);
    assert_eq!(numerals[0], 77, "what was there stays");
    read.map(|()| numerals[1..].to_vec())
}

fn written(format: &TokenFormat, text: &str, numerals: &[u8]) -> Result<String, FormatError> {
    let mut out = b"before ".to_vec();
    let written = format.write(text, numerals, &mut out);
    let token = String::from_utf8(out).unwrap().strip_prefix("before ").unwrap().to_owned();
    assert!(token.len() <= format.max_len(text.len()));
    if written.is_err() {
        assert_eq!(token, "");
    }
    written.map(|()| token)
}

/// Checks by the definition of ISO/IEC 7812-1 annex B.
fn has_luhn(text: &str) -> bool {
    let digits = text.bytes().rev().map(|byte| u32::from(byte - b'0')).enumerate();
    let sum: u32 = digits
        .map(|(at, digit)| if at % 2 == 1 { [0, 2, 4, 6, 8, 1, 3, 5, 7, 9][digit as usize] } else { digit })
        .sum();
    sum.is_multiple_of(10)
}

#[test]
fn texts_come_back_from_their_own_numerals() {
    for (alphabet, text) in [
        ("digits", "0123456789012345"),
        ("hex", "00ff10ab99"),
        ("alphanumeric", "Zz09Aa"),
        ("chars:äöü日本x", "xäöü日本xäöü日本"),
    ] {
        let format = TokenFormat::new(alphabet.parse().unwrap());
        for format in [format.clone(), format.clone().keep_first(1), format.keep_last(2)] {
            if let Ok(numerals) = numerals(&format, text) {
                assert_eq!(written(&format, text, &numerals).unwrap(), text, "{alphabet}");
            } else {
                assert_eq!(alphabet, "alphanumeric", "only the shortest text has too few characters left");
            }
        }
    }
}

#[test]
fn kept_characters_need_not_be_in_the_alphabet() {
    let format = TokenFormat::new(Alphabet::digits()).keep_first(3).keep_last(2);
    assert_eq!(numerals(&format, "DE-123456-X").unwrap(), [1, 2, 3, 4, 5, 6]);
    assert_eq!(written(&format, "DE-123456-X", &[6, 5, 4, 3, 2, 1]).unwrap(), "DE-654321-X");
    assert_eq!(numerals(&format, "DE-12345-XX"), Err(FormatError::Character { at: 8 }));
}

#[test]
fn tokens_of_card_numbers_have_a_check_digit() {
    for keep_last in 0..4 {
        let format =
            TokenFormat::new(Alphabet::digits()).keep_first(5).keep_last(keep_last).with_luhn().unwrap();
        for text in ["4111111111111111", "5555555555554444", "378282246310005"] {
            let digits = numerals(&format, text).unwrap();
            assert_eq!(digits.len(), text.len() - 6 - keep_last);
            assert_eq!(written(&format, text, &digits).unwrap(), text);
            for shift in 1..10 {
                let others: Vec<u8> = digits.iter().map(|digit| (digit + shift) % 10).collect();
                let token = written(&format, text, &others).unwrap();
                assert!(has_luhn(&token) && token != text, "{token}");
                assert_eq!(
                    (&token[..5], &token[text.len() - keep_last..]),
                    (&text[..5], &text[text.len() - keep_last..])
                );
                // A token is a text of the format, and gives its numerals back.
                assert_eq!(numerals(&format, &token).unwrap(), others);
                assert_eq!(written(&format, &token, &digits).unwrap(), text);
            }
        }
        assert_eq!(numerals(&format, "4111111111111112"), Err(FormatError::CheckSum));
        assert_eq!(numerals(&format, "411111111111111x"), Err(FormatError::Character { at: 15 }));
    }
    let hex = TokenFormat::new("hex".parse().unwrap());
    assert_eq!(hex.with_luhn(), Err(FormatError::LuhnAlphabet));
}

#[test]
fn lengths_keep_a_million_texts() {
    let digits = TokenFormat::new(Alphabet::digits());
    assert_eq!(numerals(&digits, "12345"), Err(FormatError::TooShort { found: 5, min: 6 }));
    assert!(numerals(&digits, "123456").is_ok());
    let kept = digits.clone().keep_first(6).keep_last(4);
    assert!(numerals(&kept, "4111111111111111").is_ok());
    assert_eq!(
        numerals(&kept.with_luhn().unwrap(), "4111111111111111"),
        Err(FormatError::TooShort { found: 16, min: 17 })
    );
    let all_kept = digits.clone().keep_first(usize::MAX).keep_last(usize::MAX);
    assert_eq!(numerals(&all_kept, "123456"), Err(FormatError::TooShort { found: 6, min: usize::MAX }));
    let bits = TokenFormat::new(Alphabet::new("01").unwrap());
    assert_eq!(bits.min_len(), 20);
    assert_eq!(numerals(&digits, &"1".repeat(513)), Err(FormatError::TooLong { found: 513, max: 512 }));
    assert_eq!(written(&digits, "1234567", &[1; 6]), Err(FormatError::Numerals));
    assert_eq!(written(&digits, "123456", &[1, 2, 3, 4, 5, 10]), Err(FormatError::Numerals));
}

#[test]
fn alphabets_have_two_to_all_characters_once() {
    assert_eq!(Alphabet::new("a"), Err(FormatError::AlphabetLen { found: 1 }));
    assert_eq!(Alphabet::new("abcb"), Err(FormatError::Twice { at: 3 }));
    assert!("decimal".parse::<Alphabet>().unwrap_err().to_string().contains("digits, hex"));
    let all: String = (0..=u32::from(char::MAX)).filter_map(char::from_u32).take(1 << 16).collect();
    let format = TokenFormat::new(Alphabet::new(&all).unwrap());
    assert_eq!((format.radix(), format.radix_bytes()), (65_536, [0, 1, 0, 0]));
    let last = all.chars().last().unwrap();
    let text: String = ['a', last, '\0', '日'].iter().collect();
    let values = numerals(&format, &text).unwrap();
    assert_eq!((values.len(), &values[2..6]), (8, &[0xFF, 0xFF, 0, 0][..]));
    assert_eq!(written(&format, &text, &values).unwrap(), text);
    assert!(Alphabet::new(&(all + "\u{10FFFF}")).is_err());
    let beyond = TokenFormat::new(Alphabet::new("01").unwrap());
    assert_eq!(
        numerals(&beyond, &"0".repeat(19).replacen('0', "2", 1)),
        Err(FormatError::TooShort { found: 19, min: 20 })
    );
    assert_eq!(numerals(&beyond, &("0".repeat(19) + "2")), Err(FormatError::Character { at: 19 }));
}
