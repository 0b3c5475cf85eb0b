//! Waiting for a child process with a time limit.

use std::process::{Child, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;

/// Waits for the child. Returns its exit status, or `None` if it took longer than `time` and was killed.
pub fn ended_within(child: &mut Child, time: Duration) -> Result<Option<ExitStatus>> {
    let began = Instant::now();
    while began.elapsed() < time {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        thread::sleep(Duration::from_millis(20));
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::process::Command;

    use super::*;

    #[test]
    fn a_child_that_hangs_is_killed() {
        let mut hanging = Command::new("sleep").arg("600").spawn().unwrap();
        let process = PathBuf::from(format!("/proc/{}", hanging.id()));
        assert!(process.exists());
        assert_eq!(ended_within(&mut hanging, Duration::from_millis(1)).unwrap(), None);
        assert!(!process.exists());
    }

    #[test]
    fn a_child_that_ends_is_not_waited_for_any_longer() {
        let mut failing = Command::new("sh").args(["-c", "exit 3"]).spawn().unwrap();
        let status = ended_within(&mut failing, Duration::MAX).unwrap();
        assert_eq!(status.and_then(|status| status.code()), Some(3));
    }
}
