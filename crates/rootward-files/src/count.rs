//! An argument that counts: a positive integer, in any form that JSON clients write it.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Visitor};

use crate::failure::Failure;

/// The number as sent. It is validated together with the argument's name, so that the error can include it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Count(f64);

impl Count {
    /// The number, if it is a positive integer.
    pub(crate) fn whole(self, name: &str) -> Result<u64, Failure> {
        let Count(number) = self;
        if number < 1.0 || number.fract() != 0.0 {
            return Err(Failure::Arguments(format!("`{name}` is {number}, but must be a positive integer")));
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "too much is the most there is")]
        Ok(number as u64)
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Count, D::Error> {
        struct Number;

        #[expect(clippy::cast_precision_loss, reason = "no file has that many lines")]
        impl Visitor<'_> for Number {
            type Value = Count;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a positive integer")
            }

            fn visit_u64<E>(self, number: u64) -> Result<Count, E> {
                Ok(Count(number as f64))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Count, E> {
                Ok(Count(number as f64))
            }

            fn visit_f64<E>(self, number: f64) -> Result<Count, E> {
                Ok(Count(number))
            }
        }

        deserializer.deserialize_f64(Number)
    }
}

impl JsonSchema for Count {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Count".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "integer", "minimum": 1})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_count() {
        let check = |json: &str, expect: Result<u64, &str>| {
            let count = serde_json::from_str::<Count>(json).map_err(|error| Failure::arguments(&error));
            let whole = count.and_then(|count| count.whole("head")).map_err(|failure| failure.to_string());
            match expect {
                Ok(number) => assert_eq!(whole, Ok(number), "{json}"),
                Err(says) => assert!(whole.as_ref().is_err_and(|error| error.contains(says)), "{json}: {whole:?}"),
            }
        };
        check("1", Ok(1));
        check("5.0", Ok(5));
        check("1e3", Ok(1000));
        check("18446744073709551615", Ok(u64::MAX));
        check("1e300", Ok(u64::MAX));
        check("0", Err("`head` is 0, but must be a positive integer"));
        check("-3", Err("`head` is -3"));
        check("2.5", Err("`head` is 2.5"));
        check("\"5\"", Err("expected a positive integer"));
    }
}
