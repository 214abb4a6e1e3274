//! The East Asian charsets: what the bytes of one character mean.

use encoding_rs::{
    BIG5, DecoderResult, EUC_JP, EUC_KR, EncoderResult, Encoding, GB18030, GBK, SHIFT_JIS,
};

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

/// Appends the bytes of one character, ASCII apart; `false` when there are none.
pub(super) fn encode(charset: Charset, character: char, out: &mut Vec<u8>) -> bool {
    let Some(encoding) = encoding(charset) else { return false };
    let mut bytes = [0; 16];
    let mut utf8 = [0; 4];
    let (result, _, written) = encoding.new_encoder().encode_from_utf8_without_replacement(
        character.encode_utf8(&mut utf8),
        &mut bytes,
        true,
    );
    let Some(bytes) = bytes.get(..written) else { return false };
    // Some characters have one meaning on the way in and another on the way out.
    if result != EncoderResult::InputEmpty || decode(charset, bytes) != Some(character) {
        return false;
    }
    out.extend_from_slice(bytes);
    true
}
