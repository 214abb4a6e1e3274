//! The East Asian charsets: what the bytes of one character mean.

use encoding_rs::{BIG5, DecoderResult, EUC_JP, EUC_KR, Encoding, GB18030, GBK, SHIFT_JIS};

use super::Charset::{self, *};

/// The encoding whose table is the server's, or nearly.
fn encoding(charset: Charset) -> Option<&'static Encoding> {
    Some(match charset {
        Big5 => BIG5,
        Cp932 | Sjis => SHIFT_JIS,
        EucJpMs | Ujis => EUC_JP,
        EucKr => EUC_KR,
        Gb18030 => GB18030,
        Gb2312 | Gbk => GBK,
        _ => return None,
    })
}

/// The meaning of one character, ASCII apart.
pub(super) fn decode(charset: Charset, character: &[u8]) -> Option<char> {
    let mut decoder = encoding(charset)?.new_decoder_without_bom_handling();
    let mut utf8 = [0; 16];
    let (result, _, written) =
        decoder.decode_to_utf8_without_replacement(character, &mut utf8, true);
    if result != DecoderResult::InputEmpty {
        return None;
    }
    let mut characters = std::str::from_utf8(utf8.get(..written)?).ok()?.chars();
    characters.next().filter(|_| characters.next().is_none())
}
