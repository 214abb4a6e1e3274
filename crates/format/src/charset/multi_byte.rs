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

/// What sjis and ujis mean as JIS X 0208 has it, and their kin of Windows in another way: in sjis,
/// in ujis, the meaning (`sjis_to_unicode`, ctype-sjis.cc; `jisx0208_eucjp_to_unicode`,
/// ctype-ujis.cc, MySQL 9.7).
const OF_JIS: [([u8; 2], [u8; 2], char); 7] = [
    ([0x81, 0x5f], [0xa1, 0xc0], '\\'),
    ([0x81, 0x60], [0xa1, 0xc1], '\u{301c}'),
    ([0x81, 0x61], [0xa1, 0xc2], '\u{2016}'),
    ([0x81, 0x7c], [0xa1, 0xdd], '\u{2212}'),
    ([0x81, 0x91], [0xa1, 0xf1], '\u{a2}'),
    ([0x81, 0x92], [0xa1, 0xf2], '\u{a3}'),
    ([0x81, 0xca], [0xa2, 0xcc], '\u{ac}'),
];

/// The table above, for one of the two.
fn of_jis(charset: Charset) -> impl Iterator<Item = ([u8; 2], char)> {
    let pair = move |&(sjis, ujis, meaning): &([u8; 2], [u8; 2], char)| match charset {
        Sjis => Some((sjis, meaning)),
        Ujis => Some((ujis, meaning)),
        _ => None,
    };
    OF_JIS.iter().filter_map(pair)
}

/// Whether the character is one of those NEC and IBM added, which sjis leaves to cp932.
fn is_of_windows(charset: Charset, character: &[u8]) -> bool {
    charset == Sjis && matches!(character, [0x87 | 0xed.., _])
}

/// The meaning of one character, ASCII apart.
pub(super) fn decode(charset: Charset, character: &[u8]) -> Option<char> {
    if let Some((_, meaning)) = of_jis(charset).find(|(bytes, _)| bytes.as_slice() == character) {
        return Some(meaning);
    }
    if is_of_windows(charset, character) {
        return None;
    }
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
    if let Some((bytes, _)) = of_jis(charset).find(|(_, meaning)| *meaning == character) {
        out.extend_from_slice(&bytes);
        return true;
    }
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
