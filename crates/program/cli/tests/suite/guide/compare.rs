//! The output that a guide shows, compared with the output of its commands.

/// Returns the lines of `shown` that `printed` lacks. Numbers, keys, widths of tables and the order of lines are not
/// compared: they differ between runs and machines. A shown line that ends with `...` is the start of a line.
pub(crate) fn unprinted_lines<'a>(shown: &'a str, printed: &str) -> Vec<&'a str> {
    let printed: Vec<String> = printed.lines().map(without_numbers).collect();
    let is_printed = |line: &str| match line.strip_suffix("...") {
        Some(start) => printed.iter().any(|printed| printed.starts_with(&without_numbers(start))),
        None => printed.contains(&without_numbers(line)),
    };
    shown.lines().filter(|line| !is_printed(line)).collect()
}

/// Returns a line with `#` for each word that has a digit, and one space or line of a table for several.
fn without_numbers(line: &str) -> String {
    // An exit code is the same on every machine.
    if line.starts_with("exit code ") {
        return line.to_owned();
    }
    let mut words: Vec<String> = Vec::new();
    for letter in line.trim_end().chars() {
        match words.last_mut() {
            Some(word) if is_same_word(word, letter) => word.push(letter),
            _ => words.push(letter.to_string()),
        }
    }
    let text: String = words.iter().map(|word| shortened(word)).collect();
    // The number of threads is that of the machine's cores.
    text.replace("# threads", "# thread")
}

fn is_same_word(word: &str, letter: char) -> bool {
    let last = word.chars().next_back();
    last.is_some_and(|last| {
        (is_of_word(last) && is_of_word(letter)) || (last == letter && " ─".contains(letter))
    })
}

/// True for letters of words, of numbers with separators, and of base64.
fn is_of_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "+/=._,".contains(letter)
}

fn shortened(word: &str) -> &str {
    match word.chars().next() {
        Some(' ') => " ",
        Some('─') => "─",
        _ if word.contains(|letter: char| letter.is_ascii_digit()) => "#",
        _ => word,
    }
}
