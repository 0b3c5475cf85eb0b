//! Trees, attacks and adapters that Rootward is tested with.
