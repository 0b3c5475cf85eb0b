//! `cargo xtask pictures`: makes the pictures in the README from real programs.
//!
//! Claude Code and `rootward roots pick` run in tmux, without a network, in a home that they see as `/home/me`. The terminal's content is
//! drawn as a small SVG file. A second run makes the same files.

mod refusal;
mod screen;
mod svg;
mod terminal;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use taskkit::built;
use taskkit::call::Call;
use taskkit::install::{Runtime, once, runtimes};

use super::claude_code;
use crate::offline;
use screen::Screen;
use terminal::Terminal;

/// The folder of the pictures.
const FOLDER: &str = "docs/pictures";

/// The lock file of the server that is asked for the private key.
const MARKITDOWN: &str = "peers/popular-long/requirements-markitdown.txt";

/// The home as the pictures show it.
const HOME: &str = "/home/me";

/// The size of the terminal for the picker.
const SIZE: (u16, u16) = (84, 12);

/// The files in that home.
const FILES: [(&str, &str); 8] = [
    (".ssh/id_ed25519", "-----BEGIN OPENSSH PRIVATE KEY-----\nnot a key\n-----END OPENSSH PRIVATE KEY-----\n"),
    ("app/README.md", "# App\n"),
    ("notes/today.md", "notes\n"),
    ("src/app/.git/HEAD", "ref: refs/heads/main\n"),
    ("src/app/Cargo.toml", "[workspace]\nmembers = ['crates/*']\n"),
    ("src/app/crates/core/Cargo.toml", "[package]\nname = 'app-core'\n"),
    ("src/shop/package.json", "{\"name\": \"the-shop\"}\n"),
    ("src/tool/go.mod", "module example.org/tool\n"),
];

/// Makes all pictures; returns a note for the table of steps.
pub(crate) fn run(top: &Path) -> Result<String> {
    runtimes(top, &[Runtime::Node, Runtime::Python, Runtime::Namespaces, Runtime::Terminal])?;
    let [rootward] = built::programs(top, Call::cargo("build -p rootward --bin rootward"), ["rootward"])?;
    let claude = claude_code::install(top)?.into_iter().next().context("Claude Code was not installed")?;
    let programs = json!({"rootward": rootward, "claude": claude, "markitdown-mcp": markitdown(top)?});
    let directory = tempfile::Builder::new().prefix("pictures-").tempdir()?;
    let pictures = offline::run("pictures", json!({"programs": programs}), directory.path(), &[])?;
    let pictures = pictures.as_object().context("there are no pictures")?;
    fs::create_dir_all(top.join(FOLDER))?;
    for (name, picture) in pictures {
        let file = top.join(FOLDER).join(name);
        fs::write(&file, picture.as_str().unwrap_or_default())
            .with_context(|| format!("cannot write `{}`", file.display()))?;
    }
    Ok(format!("{} pictures", pictures.len()))
}

/// Installs `markitdown-mcp`, which turns any file into Markdown. `--no-deps`, because the lock file also pins packages that pip would not
/// choose.
fn markitdown(top: &Path) -> Result<PathBuf> {
    let target = top.join("target/peers/markitdown");
    let python = target.join("bin/python");
    let lock = fs::read_to_string(top.join(MARKITDOWN)).with_context(|| format!("cannot read `{MARKITDOWN}`"))?;
    once(&target, &lock, || {
        Call::program("python3").arguments(["-m", "venv"]).path(&target)?.run(top)?;
        Call::program(python.to_str().context("the path of Python is not UTF-8")?)
            .arguments(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes"])
            .arguments(["--only-binary=:all:", "--no-deps", "-r", MARKITDOWN])
            .run(top)
    })?;
    Ok(target.join("bin/markitdown-mcp"))
}

/// The part that runs without a network.
pub(crate) fn run_inside(order: &str) -> Result<()> {
    offline::work(order, |order, directory| {
        let path = build(order, directory)?;
        Ok(json!({"pick.svg": pick(directory, &path)?, "refusal.svg": refusal::picture(directory, &path)?}))
    })
}

/// Creates the home, mounts it at `/home`, and links the programs into a folder; returns `PATH`.
fn build(order: &Value, directory: &Path) -> Result<String> {
    let (home, programs) = (directory.join("home"), directory.join("bin"));
    for (name, text) in FILES {
        let file = home.join("me").join(name);
        fs::create_dir_all(file.parent().context("a file has no parent folder")?)?;
        fs::write(file, text)?;
    }
    fs::create_dir(&programs)?;
    for (name, place) in order["programs"].as_object().context("no `programs` in the order")? {
        std::os::unix::fs::symlink(place.as_str().context("a program has no path")?, programs.join(name))?;
    }
    let status = Command::new("mount").arg("--bind").args([&home, Path::new("/home")]).status();
    ensure!(status.context("cannot run `mount`")?.success(), "cannot mount the test's home at `/home`");
    Ok(format!("{}:/usr/bin:/bin", programs.display()))
}

/// `rootward roots pick`, with two directories marked.
fn pick(directory: &Path, path: &str) -> Result<String> {
    let mut terminal = Terminal::new(&directory.join("pick"), path, &[]);
    terminal.start(&format!("{HOME}/src"), SIZE, &["rootward", "roots", "add", "~/notes:ro", "--yes"])?;
    terminal.waits_until_ended()?;
    terminal.start(&format!("{HOME}/src"), SIZE, &["rootward", "roots", "pick"])?;
    terminal.sees("Choose the directories to share")?;
    // After a mark, the next key press shows the list of keys again.
    terminal.press(&["Down", "Space", "Up", "Down"])?;
    terminal.sees("2 marked")?;
    terminal.sees("> [x] app")?;
    let shown = terminal.sees("? help")?;
    terminal.end()?;
    Ok(svg::draw("rootward roots pick", &Screen::read(&shown)))
}
