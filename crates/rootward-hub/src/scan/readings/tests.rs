//! Tables of texts and their readings.

use super::*;

fn expansion() -> Expansion {
    Expansion { home: Some("/home/me".to_owned()), variables: [("DATA".to_owned(), "/data".to_owned())].into() }
}

fn readings(text: &str) -> Vec<String> {
    let mut readings = Vec::new();
    let _ = Reader::each(&expansion(), text, &mut |reading, _| {
        readings.push(reading.to_owned());
        ControlFlow::Continue(())
    });
    readings
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let readings = readings(text);
    assert_eq!(readings[0], text, "the text itself comes first");
    for reading in expected {
        assert!(readings.iter().any(|known| known == reading), "{text:?} gives no {reading:?}: {readings:?}");
    }
}

#[test]
fn a_plain_path_has_one_reading() {
    for text in ["a", "/a/b.c", "./a-b_c+1", "a//b/", "", "src/main.rs"] {
        assert_eq!(readings(text), [text]);
    }
}

#[test]
fn trims_quotes_and_control_characters() {
    for text in [
        " /x",
        "/x ",
        "\t/x\n",
        "\u{a0}/x",
        "\u{feff}/x",
        "\u{200b}/x",
        "\0/x\0",
        "\"/x\"",
        "'/x'",
        "`/x`",
        "</x>",
        " \"/x\" ",
        "\" /x \"",
        "' \"/x\"",
        "\u{201c}/x\u{201d}",
        "/\tx",
        "/x\0.png",
        "\u{1}/x",
    ] {
        check(text, &["/x"]);
    }
}

#[test]
fn characters_that_nobody_sees() {
    for unseen in [
        "\u{ad}",
        "\u{34f}",
        "\u{180e}",
        "\u{200b}",
        "\u{200d}",
        "\u{202a}",
        "\u{202e}",
        "\u{2060}",
        "\u{2066}",
        "\u{fe0f}",
        "\u{feff}",
        "\u{fffd}",
        "\u{e0001}",
        "\u{e0020}",
        "%e2%80%aa",
        "%ff",
    ] {
        check(&format!("{unseen}/x"), &["/x"]);
        check(&format!("a/.{unseen}./../x"), &["../x"]);
        check(&format!("~{unseen}/x"), &["/home/me/x"]);
        check(&format!("fi{unseen}le:///x"), &["/x"]);
    }
}

#[test]
fn escapes_and_backslashes() {
    for text in
        ["%2fx", "%252fx", "%25252fx", "\\x", "%5cx", "%c0%afx", "%u002fx", "\u{ff0f}x", "%20/x", "\"%2fx\"", "\\/x"]
    {
        check(text, &["/x"]);
    }
    check("..\\..\\x", &["../../x"]);
    check("%2e%2e%5c\u{2025}/x", &["../../x"]);
    check("my\\ file", &["my file", "my/ file"]);
}

#[test]
fn characters_that_normalise_to_dots_and_slashes() {
    // Every character whose NFKC form is one of the characters that paths consist of.
    for (like, plain) in [
        ("\u{fe30}", ".."),
        ("\u{2025}", ".."),
        ("\u{2024}\u{2024}", ".."),
        ("\u{fe52}.", ".."),
        ("\u{ff0e}\u{fe52}", ".."),
        ("\u{2026}", "..."),
        ("\u{fe19}", "..."),
    ] {
        check(&format!("{like}/x"), &[&format!("{plain}/x")]);
        check(&format!("a/{like}/{like}/x"), &[&format!("a/{plain}/{plain}/x")]);
        check(&format!("file:///a/{like}/x"), &[&format!("/a/{plain}/x")]);
    }
    for slash in ["\u{ff0f}", "\u{2215}", "\u{2044}", "\u{ff3c}", "\u{fe68}", "\u{2216}"] {
        check(&format!("..{slash}x"), &["../x"]);
        check(&format!("\u{fe30}{slash}x"), &["../x"]);
    }
    check("\u{ff5e}/x", &["/home/me/x"]);
    check("\u{ff04}HOME/x", &["/home/me/x"]);
    check("\u{fe69}HOME/x", &["/home/me/x"]);
    check("\u{ff05}2fx", &["/x"]);
    check("\u{fe6a}2fx", &["/x"]);
    check("file\u{ff1a}///x", &["/x"]);
    check("\u{ff46}ile\u{fe55}///x", &["/x"]);
    check("\u{2100}", &["a/c"]);
    assert_eq!(readings("käse/straße"), ["käse/straße"]);
}

#[test]
fn variables_and_home() {
    for text in [
        "~/x",
        "$HOME/x",
        "${HOME}/x",
        "%USERPROFILE%/x",
        "%USERPROFILE%\\x",
        "$env:HOME/x",
        "${env:HOME}/x",
        "\"$HOME\"/x",
        "${HOME:-/y}/x",
        "%24HOME/x",
    ] {
        check(text, &["/home/me/x"]);
    }
    check("$DATA/$NONE/x", &["/data/$NONE/x", "/data//x"]);
    check("$NONE/etc", &["/etc"]);
    check("a$DATA", &["a/data"]);
    for text in [
        "${NONE:-/x}",
        "${NONE-/x}",
        "${NONE:=/x}",
        "${NONE=/x}",
        "${DATA:+/x}",
        "${DATA+/x}",
        "${DATA:-/x}",
        "${NONE:?/x}",
        "${NONE:-${DATA:-/x}}",
        "${NONE:-${NONE-/x}}",
        "${NONE:-/${NONE}}x",
        "$NONE${NONE:-/x}",
        "${env:NONE:-/x}",
        "%24{NONE:-/x}",
    ] {
        check(text, &["/x"]);
    }
    check("${NONE:-/x}/../y", &["/y"]);
    check("${DATA%a}/x", &["/data/x"]);
    check("${DATA:0:2}/x", &["/data/x"]);
    assert!(!readings("a/~/x").iter().any(|reading| reading.contains("home")));
}

#[test]
fn what_go_takes_for_a_variable_is_nothing() {
    for special in ["$*", "$#", "$$", "$@", "$!", "$?", "$-", "$1", "${*}", "${@}", "${}", "${!X}", "${a b}", "${.}"] {
        check(&format!("{special}/x"), &["/x"]);
        check(&format!("a/.{special}./../x"), &["../x"]);
    }
    check("$*$*/x", &["/x"]);
    check("${a}$$/x", &["/x"]);
}

#[test]
fn uris() {
    for text in [
        "file:///x",
        "file:/x",
        "FILE:///x",
        "file://localhost/x",
        "file://host/x",
        "file:////x",
        "file:x",
        "file://x",
        "file:\\\\\\x",
        "file:///%78",
        "file:///x?y",
        "file:///x#y",
        "fi\tle:///x",
        "see file:///x",
        "jar:file:///x!/y",
        "git+file:///x",
        "file%3a///x",
        "sqlite:////x",
        "sqlite+aiosqlite:////x?mode=rw",
    ] {
        check(text, &["/x"]);
    }
    check("file:///a/..%2f..%2fx", &["/x"]);
}

#[test]
fn pieces_of_lists_and_options() {
    for text in [
        "a,/x",
        "a;/x",
        "ab:/x",
        "a /x",
        "a|/x",
        "--output=/x",
        "-o/x",
        "@/x",
        "a=/x,b",
        "/x:/y",
        "[/x]",
        "{/x,y}",
        "a:\"/x\"",
        "a\n/x",
        "/x\n/b",
    ] {
        check(text, &["/x"]);
    }
    check("HEAD:../x", &["../x"]);
    check("-C..", &[".."]);
    check("(..)", &[".."]);
    check("(../x)y", &["../x"]);
    check("a (..)/x", &[".."]);
    for text in ["app/(..)photo/[id]/page.tsx", "app/(..)(..)photo/page.tsx", "app/(...)photo", "(.)x"] {
        assert!(!readings(text).iter().any(|reading| reading.starts_with('.')), "{text}");
    }
    check("--a=/b c/../../x", &["/x"]);
    for text in ["https://a/,/x", "data:image/jpeg;base64,/9j/", "C:/x"] {
        assert!(!readings(text).iter().any(|reading| reading.starts_with('/')), "{text}");
    }
}

#[test]
fn patterns_and_collapse() {
    check("/x/*.rs", &["/x"]);
    check("/*", &["/"]);
    check("../{a,b}/c", &[".."]);
    for text in [".{.,x}/y", "{.,}./y", "{.,x}{.,x}/y", "{,.}.{,x}/y", "{a,{.,b}}./y", ".{./y,x}", "{a/../.,x}./y"] {
        check(text, &["../y"]);
    }
    check("a/../../x", &["../x"]);
    check("/a/./b/../../../x", &["/x"]);
    check("a/..", &["."]);
    check("*/../../x", &["../x"]);
    check("....//....//x", &["../../x"]);
    for text in ["/x#y", "/x?y", "/x:10:2"] {
        check(text, &["/x"]);
    }
    assert!(
        !readings("/home/c#-project/x").iter().any(|reading| reading.starts_with("/home/c") && !reading.contains('#'))
    );
}

/// A path hidden in a text that is too long to open is still a reading.
#[test]
fn a_long_text_has_the_readings_of_a_short_one() {
    let filler = "a".repeat(1 << 16);
    let wide = |c: &str| c.repeat(1 << 16);
    // A single name that is too long, and a path that is too long.
    for filler in ["a".repeat(300), "a".repeat(1 << 16)] {
        for text in [
            "/x,",
            "/x;",
            "/x|",
            "/x ",
            "/x\t",
            "/x\"",
            "/x=",
            "/x\n",
            "/x)",
            "/x>",
            "/x?a/",
            "/x!",
            "file:///x,",
            "file:///x ",
        ] {
            let long = format!("{text}{filler}");
            assert!(readings(&long).iter().any(|reading| reading == "/x"), "{text:?}…");
        }
    }
    for text in [
        format!("{}/x", wide(" ")),
        format!("/x{}", wide(" ")),
        format!("{}/x", wide("\0")),
        format!("/x\0{filler}"),
        format!("{0}/x{0}", wide("\"")),
        format!("file:///x?{filler}"),
        format!("file:///x#{filler}"),
        format!("{filler},/x"),
        format!("/x,{filler}"),
        format!("{filler} /x"),
        format!("{filler}=/x"),
        format!("{filler}\n/x"),
        format!("{}/x", wide("-")),
        format!("--{filler}=/x"),
        format!("{filler} file:///x"),
        format!("{}x", wide("/")),
        format!("/{}x", wide("./")),
        format!("/{filler}/../x"),
        format!("%2f{}x", wide("%2f")),
        format!("/x?{filler}"),
        format!("/x:{filler}"),
        format!("/x/*{filler}"),
        format!("${{NONE}}{}x", wide("/")),
    ] {
        let readings = readings(&text);
        assert!(readings.iter().any(|reading| reading == "/x"), "{:?}…", &text[..text.len().min(40)]);
    }
}

#[test]
fn a_text_with_too_many_bytes_to_read_is_refused() {
    let read = |text: &str| Reader::each(&expansion(), text, &mut |_, _| ControlFlow::Continue(()));
    assert_eq!(read(&format!("'{}'", "a b".repeat(MOST_BYTES / 3 + 1))), Err(Stop::TooMany));
    assert_eq!(read(&format!("/{}", "a ~/".repeat(1 << 17))), Err(Stop::TooMany));
    // Texts without other readings are not refused for their length.
    for text in ["/9j/", "AAAA", "data:image/png;base64,AAAA", "https://example.org/"] {
        let text = format!("{text}{}==", "QUJD/9+-".repeat(MOST_BYTES / 7));
        assert_eq!(read(&text), Ok(()), "{}", &text[..30]);
    }
}
