//! Path templates of DNS over HTTPS. RFC 9461 section 5, RFC 6570.

/// Returns true for a relative template in UTF-8 that has the variable `dns`.
pub(super) fn is_template(value: &[u8]) -> bool {
    let Ok(mut rest) = std::str::from_utf8(value) else { return false };
    let mut has_dns = false;
    while let Some((_, after)) = rest.split_once('{') {
        let Some((expression, after)) = after.split_once('}') else { return false };
        let list = expression.strip_prefix(['+', '#', '.', '/', ';', '?', '&']).unwrap_or(expression);
        if !list.split(',').all(is_variable) {
            return false;
        }
        has_dns |= list.split(',').any(|variable| name_of(variable) == "dns");
        rest = after;
    }
    has_dns && value.first() == Some(&b'/')
}

/// Returns the name of a variable without its modifier, `*` or `:` and a length. RFC 6570 2.4.
fn name_of(variable: &str) -> &str {
    let name = variable.split_once(':').map_or(variable, |(name, _)| name);
    name.strip_suffix('*').unwrap_or(name)
}

fn is_variable(variable: &str) -> bool {
    let is_length =
        |length: &str| (1..=4).contains(&length.len()) && length.bytes().all(|b| b.is_ascii_digit());
    let has_good_length = variable.split_once(':').is_none_or(|(_, length)| is_length(length));
    let name = name_of(variable);
    let is_named = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'%');
    !name.is_empty() && name.bytes().all(is_named) && has_good_length
}

#[cfg(test)]
mod tests {
    use super::is_template;

    /// The verdicts are those of BIND 9.18.
    #[test]
    fn templates_have_the_variable_dns() {
        for good in [
            "/dns-query{?dns}",
            "/{dns}",
            "/q{&dns}",
            "/q{+dns*}",
            "/{?dns:4}",
            "/{?x,dns}",
            "/{x}{?dns}",
            "/}{?dns}",
        ] {
            assert!(is_template(good.as_bytes()), "{good}");
        }
        for bad in
            ["", "/", "/q", "q{?dns}", "/{?Dns}", "/{?dnsx}", "/{?dns", "/{}{?dns}", "/{{?dns}", "{?dns}"]
        {
            assert!(!is_template(bad.as_bytes()), "{bad}");
        }
        assert!(!is_template(b"/\xff{?dns}"));
    }
}
