//! Temporary files without a name, for the output of a program. Not the crate `tempfile`, which would double the build time of the demos.

use std::fs::{self, File};
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

static LAST: AtomicU32 = AtomicU32::new(0);

/// A file that disappears when it is closed.
pub fn file() -> io::Result<File> {
    loop {
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("rootward-xtask-{}-{number}", std::process::id()));
        match File::options().read(true).write(true).create_new(true).open(&path) {
            Ok(file) => return fs::remove_file(path).map(|()| file),
            // Left by an earlier process with the same id.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek, Write};

    use super::*;

    #[test]
    fn files_are_independent() {
        let (mut one, mut other, mut text) = (file().unwrap(), file().unwrap(), String::new());
        one.write_all(b"one").unwrap();
        other.rewind().unwrap();
        other.read_to_string(&mut text).unwrap();
        assert_eq!(text, "");
        one.rewind().unwrap();
        one.read_to_string(&mut text).unwrap();
        assert_eq!(text, "one");
    }
}
