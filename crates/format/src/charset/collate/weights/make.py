#!/usr/bin/env python3
"""Asks a running server for the weights of every character and writes them down; see README.md.

    make.py SERVER_SH MARIADB_VERSION MARIADB_DIR MYSQL_VERSION MYSQL_DIR ALLKEYS_TXT

The servers run already (`tests/servers/server.sh VERSION run DIR`). ALLKEYS_TXT is Unicode's file
of that name, whose sequences of characters are tried for contractions.
"""

import re
import subprocess
import sys
import zlib

SERVER_SH, MARIADB, MARIADB_DIR, MYSQL, MYSQL_DIR, ALLKEYS = sys.argv[1:]

TABLES = [
    ("general", MARIADB, MARIADB_DIR, "utf8mb4_general_ci"),
    ("unicode", MARIADB, MARIADB_DIR, "utf8mb4_unicode_ci"),
    ("unicode_520", MARIADB, MARIADB_DIR, "utf8mb4_unicode_520_ci"),
    ("uca0900", MYSQL, MYSQL_DIR, "utf8mb4_0900_ai_ci"),
    ("uca1400", MARIADB, MARIADB_DIR, "utf8mb4_uca1400_ai_ci"),
]
# Collations of one byte a character whose order is not that of one weight a byte.
NOT_SIMPLE = {"latin1_german2_ci", "latin2_czech_cs", "cp1250_czech_cs", "tis620_thai_ci"}


def ask(version, directory, sql):
    command = [SERVER_SH, version, "sql", directory, "-N", "--default-character-set=utf8mb4"]
    done = subprocess.run(command, input=sql.encode(), capture_output=True)
    if done.returncode:
        sys.exit(done.stderr.decode())
    return done.stdout.decode().split("\n")[:-1]


def numbers(digits):
    """A table of 0 .. 32 * 32 * 32 * 34 - 1, of which `digits` say the bases."""
    parts = []
    for name, base in zip("abcd", digits):
        rows = " UNION ALL ".join(f"SELECT {n} x" for n in range(base))
        parts.append(f"({rows}) {name}")
    return f"(SELECT a.x + 32*b.x + 1024*c.x + 32768*d.x AS n FROM {', '.join(parts)}) numbers"


def weights(version, directory, collation):
    character = "CONVERT(CHAR(n USING utf32) USING utf8mb4)"
    rows = ask(
        version,
        directory,
        f"SELECT n, HEX(WEIGHT_STRING({character} COLLATE {collation})) "
        f"FROM {numbers((32, 32, 32, 34))} "
        "WHERE n NOT BETWEEN 0xD800 AND 0xDFFF AND n <= 0x10FFFF ORDER BY n;",
    )
    table = {}
    for row in rows:
        n, text = row.split("\t")
        table[int(n)] = tuple(int(text[at : at + 4], 16) for at in range(0, len(text), 4))
    for n in range(0xD800, 0xE000):
        table[n] = (0xFFFD,)
    assert len(table) == 0x110000
    return table


def contractions(version, directory, collation, table):
    """Sequences whose weights are not those of their characters one after the other."""
    sequences = set()
    for line in open(ALLKEYS):
        found = re.match(r"([0-9A-F ]+?)\s*;", line)
        if found and " " in found[1]:
            sequences.add(tuple(int(code, 16) for code in found[1].split()))
    sequences = sorted(sequences)
    texts = ["".join(map(chr, codes)).encode().hex() for codes in sequences]
    select = "SELECT HEX(WEIGHT_STRING(CONVERT(X'{}' USING utf8mb4) COLLATE {}));"
    answers = ask(version, directory, "\n".join(select.format(t, collation) for t in texts))
    found = []
    for codes, text in zip(sequences, answers):
        whole = tuple(int(text[at : at + 4], 16) for at in range(0, len(text), 4))
        if whole != sum((table[code] for code in codes), ()):
            found.append((codes, whole))
    return found


def varint(number):
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def zigzag(number):
    return varint(2 * number if number >= 0 else -2 * number - 1)


def implicit(code, weight):
    """The base of a weight that is computed of the code; None where it is not."""
    if len(weight) == 2 and weight[1] == (code & 0x7FFF | 0x8000):
        return weight[0] - (code >> 15)
    return None


def hangul(table, code):
    """Whether a syllable has the weights of its letters, one after the other."""
    at = code - 0xAC00
    letters = [0x1100 + at // 588, 0x1161 + at // 28 % 21]
    letters += [0x11A7 + at % 28] if at % 28 else []
    return table[code] == sum((table[letter] for letter in letters), ())


COMPUTED, SAME, ASCENDING, LISTED, SYLLABLES = range(5)


def runs(table):
    """`(kind, length, first code)`: what the codes of a run have in common."""
    code = 0
    while code < 0x110000:
        def length(holds):
            end = code
            while end < 0x110000 and holds(end):
                end += 1
            return end - code

        base = implicit(code, table[code])
        found = [(length(lambda c: table[c] == table[code]), SAME)]
        if base is not None:
            found.append((length(lambda c: implicit(c, table[c]) == base), COMPUTED))
        if table[code]:
            first, last = table[code][:-1], table[code][-1]
            step = lambda c: table[c] == first + (last + c - code,)
            found.append((length(step), ASCENDING))
        if code == 0xAC00 and all(hangul(table, c) for c in range(0xAC00, 0xD7A4)):
            found = [(0xD7A4 - 0xAC00, SYLLABLES)]
        longest, kind = max(found)
        yield (kind, longest, code) if longest >= 8 else (LISTED, 1, code)
        code += longest if longest >= 8 else 1


def merged(table):
    listed = 0
    for kind, length, code in runs(table):
        if kind == LISTED:
            listed += 1
            continue
        if listed:
            yield LISTED, listed, code - listed
        listed = 0
        yield kind, length, code
    if listed:
        yield LISTED, listed, 0x110000 - listed


def encoded(table, sequences):
    out = bytearray()
    before = 0
    for kind, length, code in merged(table):
        out += varint(length << 3 | kind)
        if kind == COMPUTED:
            out += varint(implicit(code, table[code]))
        elif kind in (SAME, ASCENDING, LISTED):
            for one in range(code, code + (length if kind == LISTED else 1)):
                out += varint(len(table[one]))
                for weight in table[one]:
                    out += zigzag(weight - before)
                    before = weight
    out += varint(len(sequences))
    for codes, whole in sequences:
        for numbers_ in (codes, whole):
            out += varint(len(numbers_))
            for number in numbers_:
                out += varint(number)
    return bytes(out)


def single_byte():
    """256 weights of each collation of one byte a character, behind its number."""
    listed = ask(
        MARIADB,
        MARIADB_DIR,
        "SELECT c.ID, c.COLLATION_NAME, c.CHARACTER_SET_NAME FROM information_schema.COLLATIONS c "
        "JOIN information_schema.CHARACTER_SETS s USING (CHARACTER_SET_NAME) "
        "WHERE s.MAXLEN = 1 AND c.COLLATION_NAME LIKE '%\\_c_' ORDER BY c.ID;",
    )
    out = bytearray()
    for row in listed:
        number, collation, charset = row.split("\t")
        if collation in NOT_SIMPLE or "nopad" in collation:
            continue
        digits = ask(
            MARIADB,
            MARIADB_DIR,
            f"SELECT HEX(WEIGHT_STRING(_{charset} X'{bytes(range(256)).hex()}' "
            f"COLLATE {collation}));",
        )[0]
        assert len(digits) == 512, collation
        out += int(number).to_bytes(2, "big") + bytes.fromhex(digits)
    return bytes(out)


for name, version, directory, collation in TABLES:
    table = weights(version, directory, collation)
    sequences = contractions(version, directory, collation, table)
    raw = encoded(table, sequences)
    packed = zlib.compress(raw, 9)
    open(f"{name}.bin", "wb").write(packed)
    print(f"{name}.bin: {len(sequences)} contractions, {len(raw)} bytes, packed {len(packed)}")
packed = zlib.compress(single_byte(), 9)
open("single_byte.bin", "wb").write(packed)
print(f"single_byte.bin: packed {len(packed)}")
