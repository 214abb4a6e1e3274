//! The East Asian charsets: what the bytes of one character mean, and the way back.
//!
//! `encoding_rs` knows them as browsers do; the servers' tables differ in some hundred places,
//! which [`runs`] lists.

use encoding_rs::{
    BIG5, DecoderResult, EUC_JP, EUC_KR, EncoderResult, Encoding, GB18030, GBK, SHIFT_JIS,
};

use super::Charset::{self, *};
use super::runs;

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
    match *character {
        // Half-width katakana; elsewhere no single byte has a meaning.
        [0xa1..=0xdf] if matches!(charset, Sjis | Cp932) => {}
        [_] => return None,
        _ => {}
    }
    let code = character.iter().fold(0, |code, &byte| code << 8 | u32::from(byte));
    let differences = runs::differences(charset);
    let place = differences.partition_point(|&(_, last, _)| last < code);
    if let Some(&(first, _, meaning)) = differences.get(place).filter(|run| run.0 <= code) {
        return if meaning == 0 { None } else { char::from_u32(meaning + code - first) };
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
    let bytes = encode_as_browsers(charset, character)
        .or_else(|| encode_difference(charset, character))
        .or_else(|| search(charset, character));
    out.extend_from_slice(bytes.as_deref().unwrap_or_default());
    bytes.is_some()
}

/// What `encoding_rs` makes of it, when the server reads it back as the same.
fn encode_as_browsers(charset: Charset, character: char) -> Option<Vec<u8>> {
    let mut bytes = [0; 16];
    let mut utf8 = [0; 4];
    let (result, _, written) = encoding(charset)?
        .new_encoder()
        .encode_from_utf8_without_replacement(character.encode_utf8(&mut utf8), &mut bytes, true);
    let bytes = bytes.get(..written)?;
    let whole = result == EncoderResult::InputEmpty && is_code_of(charset, bytes, character);
    whole.then(|| bytes.to_vec())
}

fn encode_difference(charset: Charset, character: char) -> Option<Vec<u8>> {
    let meaning = u32::from(character);
    let &(first, _, start) = runs::differences(charset).iter().find(|&&(first, last, start)| {
        start != 0 && (start..=start + (last - first)).contains(&meaning)
    })?;
    Some(code_bytes(first + meaning - start))
}

/// Characters browsers read but never write, such as those of JIS X 0212: all codes are tried.
/// Slow, and rare: only texts of table definitions come here.
fn search(charset: Charset, character: char) -> Option<Vec<u8>> {
    let two = (0x8140..=0xfefe).map(code_bytes);
    let three =
        (0x8f_a1a1..=0x8f_fefe).filter(|_| matches!(charset, Ujis | EucJpMs)).map(code_bytes);
    let four = (0_u32..4 * 12_600).filter(|_| charset == Gb18030).map(|place| {
        let digits = [place / 12_600, place / 1260 % 10, place / 10 % 126, place % 10];
        digits.iter().zip([0x81, 0x30, 0x81, 0x30]).map(|(&d, base)| d as u8 + base).collect()
    });
    two.chain(three).chain(four).find(|bytes| is_code_of(charset, bytes, character))
}

/// Whether the bytes are one character of the charset, and this one.
fn is_code_of(charset: Charset, bytes: &[u8], character: char) -> bool {
    let whole = bytes.len() == 1 || charset.multibyte_len(bytes) == bytes.len();
    whole && decode(charset, bytes) == Some(character)
}

fn code_bytes(code: u32) -> Vec<u8> {
    code.to_be_bytes().into_iter().skip_while(|&byte| byte == 0).collect()
}
