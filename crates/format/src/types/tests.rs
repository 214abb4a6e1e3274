//! Properties of every type: any bytes give text or an error, never a panic, and text marked as
//! UTF-8 is valid UTF-8.

use super::*;
use crate::charset::CollationId;
use crate::schema::Family;

const MYSQL: ServerVersion = ServerVersion { family: Family::MySql, number: 80_033 };
const MARIADB: ServerVersion = ServerVersion { family: Family::MariaDb, number: 101_119 };

/// One type of each kind, and each width where widths matter.
fn types() -> Vec<ColumnType> {
    let mut types = vec![
        ColumnType::Bit { bits: 13 },
        ColumnType::Bit { bits: 64 },
        ColumnType::Year { digits: 4 },
        ColumnType::Year { digits: 2 },
        ColumnType::Date,
        ColumnType::Binary { bytes: 4 },
        ColumnType::VarBinary { bytes: 20 },
        ColumnType::Blob { length_bytes: 2 },
        ColumnType::Json,
        ColumnType::Geometry(GeometryKind::Point),
        ColumnType::Vector { dimensions: 3 },
        ColumnType::Uuid,
        ColumnType::UuidReversed,
        ColumnType::Inet4,
        ColumnType::Inet6,
    ];
    let widths = [IntWidth::One, IntWidth::Two, IntWidth::Three, IntWidth::Four, IntWidth::Eight];
    for width in widths {
        for (unsigned, zerofill) in [(false, false), (true, false), (true, true)] {
            types.push(ColumnType::Int { width, unsigned, zerofill, display_width: None });
        }
    }
    for (precision, scale) in [(1, 0), (5, 5), (14, 4), (18, 9), (65, 30), (65, 0)] {
        types.push(ColumnType::Decimal { precision, scale, unsigned: false, zerofill: false });
        types.push(ColumnType::Decimal { precision, scale, unsigned: true, zerofill: true });
    }
    for digits in [None, Some((10, 2)), Some((255, 30)), Some((20, 0))] {
        let format = RealFormat { digits, unsigned: false, zerofill: digits.is_some() };
        types.extend([ColumnType::Float(format), ColumnType::Double(format)]);
    }
    for format in [TemporalFormat::New, TemporalFormat::Old, TemporalFormat::OldHires] {
        for fsp in 0..=6 {
            let temporal = Temporal { fsp, format };
            types.push(ColumnType::Time(temporal));
            types.push(ColumnType::DateTime(temporal));
            types.push(ColumnType::Timestamp(temporal));
        }
    }
    let members = vec![b"a".to_vec(), b"\xe9".to_vec(), b"".to_vec()];
    for collation in (1..=260).map(CollationId).filter(|id| id.charset().is_ok()) {
        types.push(ColumnType::Char { chars: 3, collation });
        types.push(ColumnType::VarChar { chars: 30, collation });
        types.push(ColumnType::Enum { members: members.clone(), collation });
        types.push(ColumnType::Set { members: members.clone(), collation });
    }
    types
}

fn read_all(ty: &ColumnType, stored: &[u8]) {
    for server in [MYSQL, MARIADB] {
        let codec = Codec::new(ty, server).unwrap();
        let mut text = Vec::new();
        let read = codec.write_text(stored, &mut text).is_ok();
        let mut utf8 = Vec::new();
        let transcoded = codec.write_utf8(stored, &mut utf8).is_ok();
        assert_eq!(read, transcoded, "{ty:?} {stored:02x?}");
        assert!(!transcoded || std::str::from_utf8(&utf8).is_ok(), "{ty:?} {stored:02x?}");
        let _ = codec.value(stored);
        let _ = codec.write_record_image(stored, &mut Vec::new());
        let _ = codec.encode(&String::from_utf8_lossy(&text), &mut Vec::new());
    }
}

#[test]
fn bytes_of_every_length_are_read_or_refused() {
    for ty in types() {
        for len in 0..40 {
            for fill in [0x00, 0x7f, 0x80, 0xff, 0x2c] {
                read_all(&ty, &vec![fill; len]);
            }
        }
    }
}

proptest::proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(
        place in 0_usize..120,
        stored in proptest::collection::vec(proptest::num::u8::ANY, 0..36),
    ) {
        let types = types();
        if let Some(ty) = types.get(place) {
            read_all(ty, &stored);
        }
        read_all(&types[types.len() - 1 - place * 7], &stored);
    }

    #[test]
    fn integers_print_as_rust_prints_them(number: i64) {
        let stored = (number ^ i64::MIN).to_be_bytes();
        let ty = ColumnType::Int {
            width: IntWidth::Eight,
            unsigned: false,
            zerofill: false,
            display_width: None,
        };
        let mut text = Vec::new();
        Codec::new(&ty, MYSQL).unwrap().write_text(&stored, &mut text).unwrap();
        proptest::prop_assert_eq!(String::from_utf8(text).unwrap(), number.to_string());
    }
}

#[test]
fn uuids_of_old_tables_are_always_reversed() {
    let server = |number| ServerVersion { family: Family::MariaDb, number };
    for (number, expected) in [
        (100_700, ColumnType::UuidReversed),
        (100_907, ColumnType::UuidReversed),
        (100_908, ColumnType::Uuid),
        (101_005, ColumnType::UuidReversed),
        (101_104, ColumnType::UuidReversed),
        (101_105, ColumnType::Uuid),
        (110_002, ColumnType::UuidReversed),
        (110_200, ColumnType::UuidReversed),
        (110_201, ColumnType::Uuid),
        (110_809, ColumnType::Uuid),
    ] {
        assert_eq!(ColumnType::uuid_of(server(number)), expected, "{number}");
    }
}

/// Addresses as MariaDB 10.11.19 stored and printed them.
#[test]
fn addresses_print_as_the_server_prints_them() {
    let text = |ty: &ColumnType, stored: &[u8]| {
        let mut out = Vec::new();
        Codec::new(ty, MARIADB).unwrap().write_text(stored, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    let reversed = [
        0xbb, 0xcc, 0xdd, 0xee, 0xff, 0x01, 0x99, 0xaa, 0x17, 0x88, 0x55, 0x66, 0x11, 0x22, 0x33,
        0x44,
    ];
    assert_eq!(text(&ColumnType::Uuid, &reversed), "11223344-5566-1788-99aa-bbccddeeff01");
    assert_eq!(text(&ColumnType::Uuid, &[0; 16]), "00000000-0000-0000-0000-000000000000");
    assert_eq!(text(&ColumnType::Inet4, &[192, 0, 2, 1]), "192.0.2.1");
    let inet6 = |words: [u16; 8]| {
        let stored: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        text(&ColumnType::Inet6, &stored)
    };
    assert_eq!(inet6([0; 8]), "::");
    assert_eq!(inet6([0, 0, 0, 0, 0, 0, 0, 1]), "::1");
    assert_eq!(inet6([0, 0, 0, 0, 0, 0xffff, 0xc000, 0x201]), "::ffff:192.0.2.1");
    assert_eq!(inet6([0, 0, 0, 0, 0, 0, 0xc000, 0x201]), "::192.0.2.1");
    assert_eq!(inet6([0x2001, 0xdb8, 0, 1, 1, 1, 1, 1]), "2001:db8::1:1:1:1:1");
    assert_eq!(inet6([1, 0, 0, 2, 0, 0, 0, 3]), "1:0:0:2::3");
    assert_eq!(inet6([1, 2, 3, 4, 5, 6, 7, 0]), "1:2:3:4:5:6:7::");
}
