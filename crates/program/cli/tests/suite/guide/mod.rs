//! A guide of docs/guides: its blocks, and a shell that runs them.

mod compare;
mod shell;

pub(crate) use compare::unprinted_lines;
pub(crate) use shell::run_guide;

/// A block of commands, with the output that the guide shows for it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct GuideBlock {
    pub(crate) line: usize,
    pub(crate) commands: String,
    /// The programs without which the block cannot run, from a comment `<!-- needs: openssl curl -->` before it.
    pub(crate) needs: Vec<String>,
    pub(crate) shown: String,
}

/// Returns the blocks of a guide that are marked `sh`. A block marked `text` after one of them is its output.
pub(crate) fn shell_blocks(markdown: &str) -> Vec<GuideBlock> {
    let mut blocks: Vec<GuideBlock> = Vec::new();
    let mut needs = Vec::new();
    let mut language_before = "";
    let mut lines = (1..).zip(markdown.lines());
    while let Some((line, text)) = lines.next() {
        if let Some(programs) = needed_programs(text) {
            needs = programs;
        }
        let Some(language) = text.strip_prefix("```") else { continue };
        let content = lines.by_ref().map(|(_, text)| text).take_while(|text| *text != "```");
        let content: String = content.map(|text| format!("{text}\n")).collect();
        match language {
            "sh" => {
                let needs = std::mem::take(&mut needs);
                blocks.push(GuideBlock { line, commands: content, needs, shown: String::new() });
            }
            "text" if language_before == "sh" => blocks.last_mut().unwrap().shown = content,
            _ => {}
        }
        language_before = language;
    }
    blocks
}

fn needed_programs(text: &str) -> Option<Vec<String>> {
    let programs = text.strip_prefix("<!-- needs: ")?.strip_suffix(" -->")?;
    Some(programs.split_whitespace().map(str::to_owned).collect())
}
