use super::*;

fn text(stored: &[u8]) -> String {
    let mut out = Vec::new();
    write_text(stored, Dialect::NEWEST, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// `{"a": "b", "c": 1}` and its parts, by the layout in json_binary.h.
#[test]
fn small_object() {
    let stored = [
        0, 2, 0, 22, 0, // object, count, size
        18, 0, 1, 0, // key "a"
        19, 0, 1, 0, // key "c"
        12, 20, 0, // value: string at 20
        5, 1, 0, // value: int16 1, inlined
        b'a', b'c', 1, b'b',
    ];
    assert_eq!(text(&stored), r#"{"a": "b", "c": 1}"#);
}

#[test]
fn scalars() {
    assert_eq!(text(b""), "null");
    assert_eq!(text(&[4, 1]), "true");
    assert_eq!(text(&[5, 0xff, 0xff]), "-1");
    assert_eq!(text(&[10, 255, 255, 255, 255, 255, 255, 255, 255]), "18446744073709551615");
    let double = |number: f64| {
        let mut stored = vec![11];
        stored.extend(number.to_le_bytes());
        text(&stored)
    };
    assert_eq!(double(1.0), "1.0");
    assert_eq!(double(-0.0), "-0.0");
    assert_eq!(double(1e100), "1e100");
    assert_eq!(
        text(&[12, 6, b'"', b'\\', 1, b'\n', 0x1f, 0x7f]),
        "\"\\\"\\\\\\u0001\\n\\u001f\u{7f}\""
    );
    // DECIMAL(3,1) 12.5
    assert_eq!(text(&[15, 246, 4, 3, 1, 0x8c, 0x05]), "12.5");
    assert_eq!(text(&[15, 252, 2, 0xca, 0xfe]), "\"base64:type252:yv4=\"");
}

#[test]
fn a_container_that_holds_itself_ends() {
    // An array whose element is the array's own size field, over and over.
    let mut stored = vec![2];
    for _ in 0..200 {
        stored.extend([1, 0, 7, 0, 2, 4, 0]);
    }
    assert!(write_text(&stored, Dialect::NEWEST, &mut Vec::new()).is_err());
    // 1000 elements that all refer to one array of 1000 elements, and so on.
    let mut bomb = vec![2, 232, 3, 0xff, 0xff];
    for _ in 0..3000 {
        bomb.extend([2, 0xc0, 0x0b]);
    }
    bomb.resize(66_000, 0);
    assert!(write_text(&bomb, Dialect::NEWEST, &mut Vec::new()).is_err());
}

proptest::proptest! {
    #[test]
    fn any_bytes_end_in_text_or_an_error(stored: Vec<u8>) {
        let mut out = Vec::new();
        let _ = write_text(&stored, Dialect::NEWEST, &mut out);
    }

    #[test]
    fn damaged_objects_end(at in 0_usize..25, byte: u8) {
        let mut stored = vec![
            0, 2, 0, 22, 0, 18, 0, 1, 0, 19, 0, 1, 0, 12, 20, 0, 0, 5, 0, b'a', b'c', 1, b'b',
            0, 0, 0, 0,
        ];
        stored[at] = byte;
        let _ = write_text(&stored, Dialect::NEWEST, &mut Vec::new());
    }
}
