#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| innoscan_testkit::fuzz::mysql_page(data));
