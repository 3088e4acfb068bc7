//! What is written reads back as what it was, for calls of every method.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::fmt::Debug;

use herdr_proto::{Call, encode};
use proptest::prelude::*;
use serde::de::DeserializeOwned;
use support::calls::{Check, any_call};

struct RoundTrip<'a> {
    id: &'a str,
}

impl Check for RoundTrip<'_> {
    fn check<C>(&self, call: &C)
    where
        C: Call + DeserializeOwned + PartialEq + Debug,
    {
        let line = encode(self.id, call).unwrap();
        let request: serde_json::Value = serde_json::from_slice(&line).unwrap();
        assert_eq!(request["id"], self.id);
        assert_eq!(request["method"], C::METHOD);
        let params: C = serde_json::from_value(request["params"].clone()).unwrap();
        assert_eq!(&params, call);
    }
}

proptest! {
    #[test]
    fn every_call_reads_back_as_it_was(call in any_call(), id in "\\PC{0,20}") {
        call.check(&RoundTrip { id: &id });
    }
}
