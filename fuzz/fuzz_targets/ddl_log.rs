#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| innoscan_testkit::fuzz::ddl_log(data));
