//! East Asian charsets: characters from bytes, and bytes from characters.
//!
//! `encoding_rs` implements them as browsers do; the servers' tables differ in some hundred places,
//! which [`runs`] lists.

use std::sync::OnceLock;

use encoding_rs::{
    BIG5, DecoderResult, EUC_JP, EUC_KR, EncoderResult, Encoding, GB18030, GBK, SHIFT_JIS,
};

use super::Charset::{self, *};
use super::runs;

/// Returns the encoding whose table equals, or nearly equals, the server's.
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

/// Decodes one character other than ASCII.
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

/// Appends the bytes of one character other than ASCII; `false` when the charset lacks it.
pub(super) fn encode(charset: Charset, character: char, out: &mut Vec<u8>) -> bool {
    let bytes = encode_as_browsers(charset, character)
        .or_else(|| encode_difference(charset, character))
        .or_else(|| search(charset, character));
    out.extend_from_slice(bytes.as_deref().unwrap_or_default());
    bytes.is_some()
}

/// Returns the bytes by `encoding_rs`, if the server reads them back as the same character.
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

/// Finds the bytes of a character that browsers read but never write, such as those of JIS X 0212.
fn search(charset: Charset, character: char) -> Option<Vec<u8>> {
    let meanings = meanings(charset)?;
    let place = meanings.binary_search_by_key(&character, |&(meaning, _)| meaning).ok()?;
    meanings.get(place).map(|&(_, code)| code_bytes(code))
}

/// A character and its code.
type Meaning = (char, u32);

/// Returns every character of a charset with its code, sorted by character; created on first use.
fn meanings(charset: Charset) -> Option<&'static [Meaning]> {
    static MADE: [(Charset, OnceLock<Vec<Meaning>>); 9] = [
        (Big5, OnceLock::new()),
        (Cp932, OnceLock::new()),
        (EucJpMs, OnceLock::new()),
        (EucKr, OnceLock::new()),
        (Gb18030, OnceLock::new()),
        (Gb2312, OnceLock::new()),
        (Gbk, OnceLock::new()),
        (Sjis, OnceLock::new()),
        (Ujis, OnceLock::new()),
    ];
    let (_, made) = MADE.iter().find(|(made, _)| *made == charset)?;
    Some(made.get_or_init(|| {
        let mut meanings: Vec<Meaning> = codes(charset)
            .filter(|&code| charset.multibyte_len(&code_bytes(code)) > 1)
            .filter_map(|code| Some((decode(charset, &code_bytes(code))?, code)))
            .collect();
        // Of several codes for one character, the first is written.
        meanings.sort_unstable();
        meanings.dedup_by_key(|&mut (meaning, _)| meaning);
        meanings
    }))
}

/// Iterates over all codes that may be characters of more than one byte; of gb18030's four-byte
/// ones only those below U+10000, since `encoding_rs` writes the others.
fn codes(charset: Charset) -> impl Iterator<Item = u32> {
    let three = matches!(charset, Ujis | EucJpMs).then_some(0x8f_a1a1..=0x8f_fefe);
    let four = (charset == Gb18030).then_some(0..4 * 12_600);
    let four = four.into_iter().flatten().map(|place: u32| {
        let digits = [place / 12_600, place / 1260 % 10, place / 10 % 126, place % 10];
        let bases = [0x81, 0x30, 0x81, 0x30];
        digits.iter().zip(bases).fold(0, |code, (digit, base)| code << 8 | (digit + base))
    });
    (0x8140..=0xfefe).chain(three.into_iter().flatten()).chain(four)
}

/// Returns whether the bytes are one character of the charset, namely `character`.
fn is_code_of(charset: Charset, bytes: &[u8], character: char) -> bool {
    let whole = bytes.len() == 1 || charset.multibyte_len(bytes) == bytes.len();
    whole && decode(charset, bytes) == Some(character)
}

fn code_bytes(code: u32) -> Vec<u8> {
    code.to_be_bytes().into_iter().skip_while(|&byte| byte == 0).collect()
}
