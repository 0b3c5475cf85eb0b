//! Whether one path lies below another, judged by the text alone.
//!
//! This ignores the disk: links, mounts and what exists do not matter. It is for paths of another system, which cannot
//! be looked up, and for explaining what a path means. Nothing is opened on the basis of its answer.

use crate::style::PathStyle;
use crate::windows;

/// Whether `path` is `root` or lies below it, component by component.
///
/// Both must be absolute. A path with `..` is never contained, because only the disk knows where `..` leads.
pub fn text_contains(root: &str, path: &str, style: PathStyle) -> bool {
    let (Some(root), Some(path)) = (components(root, style), components(path, style)) else {
        return false;
    };
    // SECURITY: compare whole components, or `/project` would contain `/project-evil` (CVE-2025-53110) (test: posix)
    root.len() <= path.len() && root.iter().zip(&path).all(|(one, other)| same_name(one, other, style))
}

/// Whether two names are equal in this style.
fn same_name(one: &str, other: &str, style: PathStyle) -> bool {
    match style {
        PathStyle::Posix => one == other,
        PathStyle::Windows => windows::same_name(one, other),
    }
}

/// The components of an absolute path; a share starts with an empty one. `None` if the path is not absolute, breaks a
/// rule of its style or has a `..`.
fn components(text: &str, style: PathStyle) -> Option<Vec<&str>> {
    let is_separator: fn(char) -> bool = match style {
        PathStyle::Posix if text.starts_with('/') && !text.contains('\0') => |letter| letter == '/',
        PathStyle::Windows if windows::read(text.as_bytes()) == Ok(windows::Kind::Absolute) => {
            |letter| matches!(letter, '/' | '\\')
        }
        _ => return None,
    };
    let share = text.starts_with(r"\\").then_some("");
    let names = text.split(is_separator).filter(|name| !matches!(*name, "" | "."));
    let all: Vec<&str> = share.into_iter().chain(names).collect();
    // SECURITY: `/srv/app/../../etc` starts with `/srv/app` (test: posix)
    (!all.contains(&"..")).then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(style: PathStyle, expect: bool, pairs: &[(&str, &str)]) {
        for (root, path) in pairs {
            assert_eq!(text_contains(root, path, style), expect, "{root} {path}");
        }
    }

    #[test]
    fn posix() {
        let inside = [
            ("/project", "/project"),
            ("/project", "/project/"),
            ("/project/", "/project/a"),
            ("/project", "//project//a/./b"),
            ("/project", "/project/..a/b.."),
            ("/", "/etc"),
            ("/", "/"),
            (r"/a\b", r"/a\b/c"),
        ];
        check(PathStyle::Posix, true, &inside);
        let outside = [
            ("/project", "/project-evil"),
            ("/project", "/project-evil/a"),
            ("/project", "/Project/a"),
            ("/project", "/"),
            ("/project", "/project/../etc"),
            ("/project", "/project/a/../b"),
            ("/project/..", "/project/../a"),
            ("/project", "project/a"),
            ("project", "project/a"),
            ("", ""),
            ("/project", "/project/a\0b"),
            ("/a", r"/a\b"),
            ("/project", "C:/project/a"),
        ];
        check(PathStyle::Posix, false, &outside);
    }

    #[test]
    fn windows() {
        let inside = [
            (r"C:\dev", r"c:\DEV\x"),
            (r"C:\dev\", "C:/dev/x"),
            (r"C:\", r"C:\x"),
            ("C:\\\u{c9}t\u{e9}", "c:\\\u{e9}T\u{c9}\\x"),
            (r"\\server\share", r"\\SERVER\Share\x"),
            (r"\\server\share\a", r"\\server\share\\a"),
        ];
        check(PathStyle::Windows, true, &inside);
        let outside = [
            (r"C:\dev", r"C:\dev-evil"),
            (r"C:\dev", r"D:\dev\x"),
            (r"C:\dev", r"C:\dev\..\x"),
            (r"C:\dev", r"C:dev\x"),
            (r"C:\dev", r"\dev\x"),
            (r"C:\dev", r"\\?\C:\dev\x"),
            (r"C:\dev", r"C:\dev\nul"),
            (r"C:\dev", r"C:\dev\a:b"),
            (r"C:\dev", r"C:\dev\a."),
            (r"C:\dev", r"C:\dev.\a"),
            (r"\\server\share", r"\\server\share2\x"),
            (r"\\server\share", r"\\other\share\x"),
            (r"\\c\x", r"C:\x"),
            (r"\\server", r"\\server\share"),
            ("C:\\fi", "C:\\f\u{131}"),
            ("/dev", "/dev/x"),
        ];
        check(PathStyle::Windows, false, &outside);
    }
}
