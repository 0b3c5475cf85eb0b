//! The commands in a Markdown page.

/// A page.
#[derive(Debug)]
pub(super) struct Page {
    /// Relative to the top of the repository.
    pub(super) path: String,
    pub(super) blocks: Vec<Block>,
    /// The text between backticks, outside of blocks.
    pub(super) inline: Vec<String>,
}

/// A fenced block.
#[derive(Debug)]
pub(super) struct Block {
    /// The number of the line that opens it.
    pub(super) line: usize,
    /// The word after the backticks of the fence.
    pub(super) language: String,
    pub(super) text: String,
}

/// Commands that run together.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) line: usize,
    pub(super) commands: String,
    pub(super) expected: Expected,
}

/// What the page says about the outcome.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum Expected {
    /// Each command succeeds.
    Success,
    /// The command prints this. It may fail.
    Output(Vec<String>),
}

impl Page {
    pub(super) fn read(path: &str, text: &str) -> Page {
        let (mut blocks, mut prose) = (Vec::new(), String::new());
        // The open fence, and the spaces before it.
        let mut open: Option<(String, usize, Block)> = None;
        for (number, line) in text.lines().enumerate() {
            let trimmed = line.trim_start();
            let ticks = trimmed.len() - trimmed.trim_start_matches('`').len();
            match &mut open {
                Some((fence, _, _)) if trimmed.trim_end() == fence.as_str() => {
                    blocks.extend(open.take().map(|(_, _, block)| block));
                }
                Some((_, indent, block)) => {
                    let blank = line.len() - trimmed.len();
                    block.text += &line[blank.min(*indent)..];
                    block.text.push('\n');
                }
                None if ticks >= 3 => {
                    let language = trimmed[ticks..].trim().to_owned();
                    let block = Block { line: number + 1, language, text: String::new() };
                    open = Some((trimmed[..ticks].to_owned(), line.len() - trimmed.len(), block));
                }
                None => {
                    prose += line.trim();
                    prose.push(if trimmed.is_empty() { '\n' } else { ' ' });
                }
            }
        }
        assert!(open.is_none(), "{path}: a block is not closed");
        // A code span ends with its paragraph.
        let spans = prose.lines().flat_map(|paragraph| paragraph.split('`').skip(1).step_by(2));
        Page { path: path.to_owned(), blocks, inline: spans.map(str::to_owned).collect() }
    }

    /// The steps of all blocks, in order.
    pub(super) fn steps(&self) -> Vec<Step> {
        self.blocks.iter().flat_map(Block::steps).collect()
    }

    /// Every command line.
    pub(super) fn commands(&self) -> Vec<String> {
        self.steps().iter().flat_map(|step| step.commands.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
    }
}

impl Block {
    #[expect(clippy::panic, reason = "a block that cannot be read fails the test")]
    fn steps(&self) -> Vec<Step> {
        match self.language.as_str() {
            "sh" => {
                vec![Step { line: self.line, commands: self.text.clone(), expected: Expected::Success }]
            }
            "console" => {
                let mut steps: Vec<Step> = Vec::new();
                for (number, line) in self.text.lines().enumerate() {
                    match (line.strip_prefix("$ "), steps.last_mut()) {
                        (Some(command), _) => steps.push(Step {
                            line: self.line + number + 1,
                            commands: format!("{command}\n"),
                            expected: Expected::Output(Vec::new()),
                        }),
                        (None, Some(Step { expected: Expected::Output(lines), .. })) => lines.push(line.to_owned()),
                        (None, _) => panic!("line {}: a block of `console` begins with `$ `", self.line),
                    }
                }
                // A command without output must succeed.
                for step in steps.iter_mut().filter(|step| step.expected == Expected::Output(Vec::new())) {
                    step.expected = Expected::Success;
                }
                steps
            }
            _ => Vec::new(),
        }
    }
}

/// Whether a line of a block looks like a command that a user types.
pub(super) fn is_command(line: &str) -> bool {
    let line = line.trim_start();
    let is_word = |rest: &str| rest.starts_with(|letter: char| letter.is_ascii_lowercase() || letter == '-');
    let starts = ["rootward ", "cargo ", "npx ", "uvx "];
    line.starts_with("$ ") || starts.iter().any(|start| line.strip_prefix(start).is_some_and(is_word))
}

#[test]
fn a_page_has_blocks_and_spans() {
    let page = Page::read(
        "p",
        "Run `rootward\nwrap`, or:\n\n- x\n\n  ```sh\n  a\n    b\n  ```\n\n```console\n$ c\nd `e`\n$ f\n```\n",
    );
    assert_eq!(page.inline, ["rootward wrap"]);
    let steps = page.steps();
    let told: Vec<(usize, &str)> = steps.iter().map(|step| (step.line, step.commands.as_str())).collect();
    assert_eq!(told, [(6, "a\n  b\n"), (12, "c\n"), (14, "f\n")]);
    assert_eq!(steps[1].expected, Expected::Output(vec!["d `e`".to_owned()]));
    assert_eq!(steps[2].expected, Expected::Success);
}
