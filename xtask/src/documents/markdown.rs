//! Links and headings of Markdown.

use std::collections::BTreeSet;

/// Returns the targets of the links of a page with their lines. Code has no links.
pub(super) fn links(markdown: &str) -> impl Iterator<Item = (usize, &str)> {
    prose_lines(markdown).flat_map(|(number, line)| {
        let prose = line.split('`').step_by(2);
        // A target never contains a backtick, and the text before it may: `[`name`](page.md)`.
        let targets = prose.flat_map(|part| part.split("](").skip(1));
        targets.filter_map(move |rest| Some((number, rest.split_once(')')?.0)))
    })
}

/// Returns the anchors of the headings of a page, as GitHub and mdBook make them.
pub(super) fn anchors(markdown: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for (_, line) in prose_lines(markdown) {
        let Some(title) = line.strip_prefix('#').map(|rest| rest.trim_start_matches('#')) else { continue };
        let Some(title) = title.strip_prefix(' ') else { continue };
        let anchor = anchor(title);
        let numbered = (1..).map(|number| format!("{anchor}-{number}"));
        let free = std::iter::once(anchor.clone()).chain(numbered).find(|name| !anchors.contains(name));
        anchors.extend(free);
    }
    anchors
}

fn anchor(title: &str) -> String {
    let kept = title.trim().chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    kept.flat_map(char::to_lowercase).map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

/// Returns the lines outside of blocks of code, with their numbers.
fn prose_lines(markdown: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    (1..).zip(markdown.lines()).filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_links_outside_of_code() {
        let text = "a [b](c.md#d) and [`e`](f.md)\n`[no](g.md)`\n```sh\n[no](h.md)\n```\n![i](j.svg)";
        let found: Vec<(usize, &str)> = links(text).collect();
        assert_eq!(found, [(1, "c.md#d"), (1, "f.md"), (6, "j.svg")]);
    }

    #[test]
    fn names_headings_as_github_does() {
        let text = "# The `oarlock`'s one, two\n## Part 2\n## Part 2\n```sh\n# no heading\n```\n#no\n";
        let found: Vec<String> = anchors(text).into_iter().collect();
        assert_eq!(found, ["part-2", "part-2-1", "the-oarlocks-one-two"]);
    }
}
