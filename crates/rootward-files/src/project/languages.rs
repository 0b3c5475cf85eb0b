//! Detects a file's language by its name. Data and prose (JSON, YAML, Markdown) do not count as languages: they would
//! outweigh the code.

use std::ffi::OsStr;

/// The programming language of a file with this name.
pub(super) fn language(name: &OsStr) -> Option<&'static str> {
    let name = name.to_str()?;
    let whole = match name {
        "Makefile" | "makefile" | "GNUmakefile" => Some("Make"),
        "Dockerfile" | "Containerfile" => Some("Dockerfile"),
        "CMakeLists.txt" => Some("CMake"),
        "Jenkinsfile" => Some("Groovy"),
        "Rakefile" | "Gemfile" => Some("Ruby"),
        "BUILD.bazel" | "MODULE.bazel" | "WORKSPACE" => Some("Starlark"),
        _ => None,
    };
    if whole.is_some() {
        return whole;
    }
    let (before, extension) = name.rsplit_once('.')?;
    if before.is_empty() || extension.len() > 12 {
        return None;
    }
    Some(match extension.to_ascii_lowercase().as_str() {
        "rs" => "Rust",
        "py" | "pyi" | "pyw" => "Python",
        "js" | "mjs" | "cjs" | "jsx" => "JavaScript",
        "ts" | "mts" | "cts" | "tsx" => "TypeScript",
        "go" => "Go",
        "java" => "Java",
        "kt" | "kts" => "Kotlin",
        "scala" | "sbt" => "Scala",
        "groovy" | "gradle" => "Groovy",
        "c" | "h" => "C",
        "cc" | "cpp" | "cxx" | "hpp" | "hh" | "hxx" | "ipp" => "C++",
        "cs" => "C#",
        "fs" | "fsx" => "F#",
        "vb" => "Visual Basic",
        "m" | "mm" => "Objective-C",
        "swift" => "Swift",
        "rb" | "rake" | "gemspec" => "Ruby",
        "php" => "PHP",
        "pl" | "pm" => "Perl",
        "pro" | "plt" => "Prolog",
        "lua" => "Lua",
        "r" => "R",
        "jl" => "Julia",
        "dart" => "Dart",
        "ex" | "exs" => "Elixir",
        "erl" | "hrl" => "Erlang",
        "hs" => "Haskell",
        "ml" | "mli" => "OCaml",
        "clj" | "cljs" | "cljc" => "Clojure",
        "lisp" | "el" => "Lisp",
        "zig" => "Zig",
        "nim" => "Nim",
        "d" => "D",
        "f" | "f90" | "f95" => "Fortran",
        "asm" | "s" => "Assembly",
        "sh" | "bash" | "zsh" | "fish" => "Shell",
        "ps1" | "psm1" => "PowerShell",
        "sql" => "SQL",
        "html" | "htm" => "HTML",
        "css" => "CSS",
        "scss" | "sass" | "less" => "Sass and Less",
        "vue" => "Vue",
        "svelte" => "Svelte",
        "tf" => "Terraform",
        "nix" => "Nix",
        "proto" => "Protocol Buffers",
        "graphql" | "gql" => "GraphQL",
        "ipynb" => "Jupyter Notebook",
        "cmake" => "CMake",
        "bzl" => "Starlark",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn names_tell_languages() {
        let check =
            |name: &[u8], expect: Option<&str>| assert_eq!(language(OsStr::from_bytes(name)), expect, "{name:?}");
        check(b"main.rs", Some("Rust"));
        check(b"MAIN.CPP", Some("C++"));
        check(b"Makefile", Some("Make"));
        check(b"package.json", None);
        check(b".rs", None);
        check(b"rs", None);
        check(b"a\xff.rs", None);
    }
}
