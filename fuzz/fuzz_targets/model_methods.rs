#![no_main]

libfuzzer_sys::fuzz_target!(|deeds: Vec<fuzz::Deed>| fuzz::model_methods(&deeds));
