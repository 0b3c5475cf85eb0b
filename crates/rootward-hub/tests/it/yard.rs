//! A small tree and calls to check against it.

use std::fs;
use std::path::PathBuf;

use rootward_core::{Guard, GuardOptions, Origin, Root, RootSet, Validation};
use rootward_hub::scan::{Call, Expansion, Protection, ScanError, Tool};
use rootward_hub::{Verdict, check};
use serde_json::Value;
use serde_json::value::to_raw_value;
use tempfile::TempDir;

pub(crate) struct Yard {
    _directory: TempDir,
    top: PathBuf,
    pub(crate) guard: Guard,
    pub(crate) expansion: Expansion,
    pub(crate) protection: Protection,
}

impl Yard {
    /// `my root/a/in.txt`; `my root/link`, which leads to `outside`; `outside/secret.txt`; and a home that is
    /// outside.
    pub(crate) fn new(access: &str) -> Yard {
        let directory = TempDir::new().unwrap();
        let top = directory.path().canonicalize().unwrap();
        fs::create_dir_all(top.join("my root/a")).unwrap();
        fs::create_dir_all(top.join("outside")).unwrap();
        fs::write(top.join("my root/a/in.txt"), "inside").unwrap();
        fs::write(top.join("outside/secret.txt"), "SECRET").unwrap();
        std::os::unix::fs::symlink(top.join("outside"), top.join("my root/link")).unwrap();
        let root = Root::from_typed(format!("my root:{access}").as_ref(), &top, None, Origin::Flag).unwrap();
        let home = top.join("outside");
        let set = RootSet::place_ambient([root], &Validation::new(None));
        let options = GuardOptions { home: Some(home.clone()), ..GuardOptions::default() };
        let home = Some(home.to_str().unwrap().to_owned());
        Yard {
            _directory: directory,
            top,
            guard: Guard::new(set, options),
            expansion: Expansion { home, ..Expansion::default() },
            protection: Protection::default(),
        }
    }

    /// Like [`Yard::new`], for a server that the kernel confines.
    pub(crate) fn confined(access: &str) -> Yard {
        Yard { protection: Protection::Kernel, ..Yard::new(access) }
    }

    /// Like [`Yard::new`], for a server on another machine.
    pub(crate) fn elsewhere(access: &str) -> Yard {
        Yard { protection: Protection::Elsewhere, ..Yard::new(access) }
    }

    pub(crate) fn link(&self, below: &str, target: &str) {
        std::os::unix::fs::symlink(target, self.top.join(below)).unwrap();
    }

    /// Expands `{T}` to the top of the tree.
    pub(crate) fn expand(&self, text: &str) -> String {
        text.replace("{T}", self.top.to_str().unwrap())
    }

    pub(crate) fn check(&self, method: &str, params: &Value, tool: Option<&Tool>) -> Result<Verdict, ScanError> {
        let params: Value = serde_json::from_str(&self.expand(&params.to_string())).unwrap();
        let raw = to_raw_value(&params).unwrap();
        check(&self.guard, &self.expansion, self.protection, &Call { method, params: Some(&raw), tool })
    }

    /// Whether a call of a reading tool is allowed.
    #[track_caller]
    pub(crate) fn allows(&self, arguments: &Value) -> bool {
        let params = serde_json::json!({"name": "read_things", "arguments": arguments});
        self.check("tools/call", &params, Some(&Tool::named("read_things"))).unwrap().refused().is_none()
    }
}
