//! All transcripts, played through one side.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::Path;

use super::{Difference, Side, Standing, Transcript, load};

/// The result of playing all transcripts through one side.
#[derive(Debug)]
pub struct Report {
    side: Side,
    kept: usize,
    /// How many of these the other side must pass as well.
    both: usize,
    /// The transcripts that this side does not play, by reason.
    elsewhere: BTreeMap<String, Vec<String>>,
    /// The transcripts that this side is known to fail: name and reason.
    differ: Vec<(String, String)>,
    /// The failures, one for each transcript.
    pub failures: Vec<String>,
}

/// Plays all transcripts of `testdata/transcripts` through `side`, each with `play`.
pub fn play_all(side: Side, play: impl Fn(&Transcript) -> Result<(), Difference>) -> io::Result<Report> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/transcripts");
    let mut report =
        Report { side, kept: 0, both: 0, elsewhere: BTreeMap::new(), differ: Vec::new(), failures: Vec::new() };
    for era in ["legacy", "modern"] {
        for (path, text) in load(&top.join(era))? {
            let name = path.file_name().unwrap_or_default().display();
            report.add(format!("{era}/{name}"), &text, &play);
        }
    }
    Ok(report)
}

impl Report {
    fn add(&mut self, name: String, text: &str, play: &impl Fn(&Transcript) -> Result<(), Difference>) {
        let transcript = match Transcript::parse(text, self.side) {
            Ok(transcript) => transcript,
            Err(wrong) => return self.failures.push(format!("{name}, {wrong}")),
        };
        match transcript.standing() {
            Standing::Elsewhere(reason) => self.elsewhere.entry(reason.clone()).or_default().push(name),
            Standing::Kept => match play(&transcript) {
                Ok(()) => {
                    let other = Transcript::parse(text, self.side.other());
                    self.kept += 1;
                    self.both += usize::from(other.is_ok_and(|other| *other.standing() == Standing::Kept));
                }
                Err(difference) => {
                    self.failures.push(format!("{name}, {difference}\n  about:    {}", transcript.about()));
                }
            },
            Standing::Differs(reason) => match play(&transcript) {
                Ok(()) => self.failures.push(format!("{name}: passes now, remove `differs: {}, …`", self.side)),
                Err(difference) => self.differ.push((name, format!("{reason}\n    {difference}"))),
            },
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let elsewhere = self.elsewhere.values().map(Vec::len).sum::<usize>();
        let (side, other, kept, both) = (self.side, self.side.other(), self.kept, self.both);
        let (differ, failed) = (self.differ.len(), self.failures.len());
        write!(f, "through {side}: {kept} transcripts passed ({both} of them must pass through {other}, too), ")?;
        write!(f, "{failed} failed, {differ} known to differ, {elsewhere} not played")?;
        for (name, reason) in &self.differ {
            write!(f, "\n  differs: {name}: {reason}")?;
        }
        for (reason, names) in &self.elsewhere {
            write!(f, "\n  not played, {reason}: {}", names.join(", "))?;
        }
        Ok(())
    }
}
