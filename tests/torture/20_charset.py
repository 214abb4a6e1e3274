"""Strings in every character set of the server, and in some of its other collations."""
import sys

family, version, page = sys.argv[1], tuple(map(int, sys.argv[2].split("."))), int(sys.argv[3])
charsets = [c for c in sys.stdin.read().split() if c != "filename"]
WIDE = {"ucs2", "utf16", "utf16le", "utf32"}
# texts of many scripts; what a character set lacks becomes '?'
TEXTS = ["", "a", "plain ascii ~ text", "  spaces  ", "tab\tnew\nline\\back'quote\"", "\0nul\0",
         "äöüÄÖÜßéèêñçøåÆ¿¡", "ąćęłńóśźż ŠŽČŘ ğış", "Привет, мир ЁЖ", "ЇЄІҐ", "Καλημέρα κόσμε", "שלום עולם", "مرحبا", "สวัสดี",
         "日本語テキスト ソ表能予", "ｱｲｳ", "汉语 漢語 功許蓋", "한국어 텍스트", "ქართული", "Հայերեն", "€ £ ¥ © ® ™ … “x” – —", "∀∂∈ℝ∧∪≡∞", "a b　c",
         "😀😁 🏳️‍🌈 \U0001f468\u200d\U0001f469", "é e\u0301 ﬀ ǆ", "\ufeffbom", "\uffee\ue000"]
SBCS = [c for c in charsets if c not in WIDE | {"binary", "utf8", "utf8mb3", "utf8mb4", "big5", "gbk", "gb2312", "gb18030", "sjis", "cp932",
                                                "ujis", "eucjpms", "euckr", "ascii"}]
# double byte texts whose second byte is a backslash or another special byte
RAW = {
    "sjis": ["835c", "815c955c945c975c", "8140", "b1b2b3", "83418342e040fc4b", "5c", "7e"],
    "cp932": ["835c", "815c955c945c975c", "8140", "b1b2b3", "8740fa40fc4b", "5c", "815f8160"],
    "gbk": ["815c", "b05c", "a15cfe5c", "8140fefe", "d2bb", "8c5cb27d", "817c"],
    "gb18030": ["815c", "81308130", "8431a439", "90308130", "e3329a35", "b05c", "8139ef30"],
    "big5": ["a55c", "b35cbb5c", "a440", "a15ca17c", "c67e", "f9d5", "a67c"],
    "gb2312": ["a1a1", "b0a1", "f7fe"], "euckr": ["a1a1", "b0a1", "c8fe", "8141"],
    "ujis": ["a4a2", "8eb1", "8fb0a1", "f4fe"], "eucjpms": ["a4a2", "8eb1", "8fb0a1", "ada1"],
    "utf8mb4": ["f09f9880", "f48fbfbf", "efbfbf", "c280", "e0a080"], "utf8": ["efbfbf", "c280", "e0a080"], "utf8mb3": ["efbfbf", "c280", "e0a080"],
    "ucs2": ["005c", "5c5c", "0a0d", "0000", "d7ff", "0920", "2009"], "utf16": ["005c", "5c5c", "d83dde00", "dbffdfff", "0a0d", "0920"],
    "utf16le": ["5c00", "5c5c", "3dd800de", "0d0a", "2009"], "utf32": ["0000005c", "00005c5c", "0001f600", "0010ffff", "00000a0d"],
}
# a letter of its own that each character set has, for members and defaults
OWN = {"ascii": "a", "armscii8": "Հ", "geostd8": "ქ", "hebrew": "ש", "greek": "λ", "cp1256": "م", "tis620": "ส"}
OWN.update(dict.fromkeys(["cp1251", "cp866", "koi8r", "koi8u"], "ж"))
OWN.update(dict.fromkeys(["sjis", "cp932", "ujis", "eucjpms", "big5", "gbk", "gb2312", "gb18030", "euckr"], "中"))
OWN.update(dict.fromkeys(["utf8", "utf8mb3", "utf8mb4", "ucs2", "utf16", "utf16le", "utf32"], "é日"))
out = []
p = out.append
p("CREATE DATABASE t_charset CHARACTER SET latin1;\nUSE t_charset;\nSET sql_mode = 'NO_ENGINE_SUBSTITUTION';")


def lit(s, cs):
    """A string converted to the character set."""
    h = "_utf8mb4 x'%s'" % s.encode("utf-8").hex()
    return "CONVERT(%s USING %s)" % (h, cs) if s else "''"


for cs in charsets:
    if cs == "binary":
        continue
    own = OWN.get(cs, "é")
    members = ", ".join(["'x'", "'it''s'", "'%s%s'" % (own, own), "'a,%s'" % own, "'slash'" if cs == "swe7" else "'back\\\\slash'"])
    p("--@if full")
    p("""CREATE TABLE `{0}` (id INT NOT NULL PRIMARY KEY, c CHAR(40), c1 CHAR(1), v VARCHAR(60), v300 VARCHAR(300), tt TINYTEXT, t TEXT, m MEDIUMTEXT, l LONGTEXT,
  e ENUM({1}), s SET('p','q','x{2}','y y') , cn CHAR(7) NOT NULL DEFAULT 'a{2}', vn VARCHAR(20) NOT NULL DEFAULT '{3}') ENGINE=InnoDB DEFAULT CHARSET={0} COMMENT='{0} é ж 日';""".format(cs, members, own, "x''yz" if cs == "swe7" else "x''y\\\\z"))
    rows = []
    for i, s in enumerate(TEXTS, 1):
        l = lit(s, cs)
        rows.append("(%d,%s,LEFT(%s,1),%s,%s,%s,%s,%s,%s,%d,%d,%s,%s)" % (i, l, l, l, l, l, l, l, l, i % 6, i % 16, "LEFT(%s,7)" % l, "LEFT(%s,20)" % l))
    p("INSERT INTO `%s` VALUES\n %s;" % (cs, ",\n ".join(rows)))
    p("INSERT INTO `%s` (id) VALUES (1000);" % cs)
    p("INSERT INTO `%s` (id,c,c1,v,v300,tt,t,m,l,e,s) VALUES (1001,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);" % cs)
    long = "CONVERT(_utf8mb4 x'%s' USING %s)" % ("zähler€日".encode().hex(), cs)
    p("INSERT INTO `{0}` (id,c,c1,v,v300,tt,t,m,l) VALUES (1002,REPEAT('y',40),'z',REPEAT('w',60),REPEAT('v',300),REPEAT('u',60),REPEAT({1},1000),REPEAT({1},3000),REPEAT({1},300));".format(cs, long))
    for i, h in enumerate(RAW.get(cs, [])):
        x = "CONVERT(x'%s' USING %s)" % (h, cs)
        p("INSERT INTO `{0}` (id,c,c1,v,v300,tt,t,m,l) VALUES ({1},{2},LEFT({2},1),{2},CONCAT({2},{2}),{2},CONCAT('\t',{2},'\n'),{2},REPEAT({2},50));".format(cs, 2000 + i, x))
    # as key: order is the collation's, so only the bytes' own order is to be trusted
    p("CREATE TABLE `{0}_key` (k VARCHAR(12) NOT NULL, f CHAR(6) NOT NULL, v INT, PRIMARY KEY (k, f)) ENGINE=InnoDB DEFAULT CHARSET={0};".format(cs))
    keys = ["", "a", "b ", "B", "zz", "aé", "é", "ж", "日本"]
    p("INSERT IGNORE INTO `%s_key` VALUES %s;" % (cs, ",".join("(%s,LEFT(%s,6),%d)" % (lit(s, cs), lit(s, cs), i) for i, s in enumerate(keys))))
    p("--@else")
    # the same texts in fewer columns
    p("""CREATE TABLE `{0}` (id INT NOT NULL PRIMARY KEY, c CHAR(40), t TEXT, e ENUM({1}), s SET('p','q','x{2}','y y') , cn CHAR(7) NOT NULL DEFAULT 'a{2}') ENGINE=InnoDB DEFAULT CHARSET={0} COMMENT='{0} é ж 日';""".format(cs, members, own))
    p("INSERT INTO `%s` (id,c,t,e,s) VALUES\n %s;" % (cs, ",\n ".join("(%d,%s,%s,%d,%d)" % (i, lit(s, cs), lit(s, cs), i % 6, i % 16) for i, s in enumerate(TEXTS, 1))))
    for i, h in enumerate(RAW.get(cs, [])):
        p("INSERT INTO `{0}` (id,c,t) VALUES ({1},CONVERT(x'{2}' USING {0}),CONVERT(x'{2}' USING {0}));".format(cs, 2000 + i, h))
    p("--@endif")
for cs in SBCS:
    p("--@if full")
    p("CREATE TABLE `all_{0}` (b TINYINT UNSIGNED NOT NULL PRIMARY KEY, c CHAR(1), v VARCHAR(3), t TEXT) ENGINE=InnoDB DEFAULT CHARSET={0};".format(cs))
    p("INSERT INTO `all_%s` VALUES %s;" % (cs, ",".join("({0},CONVERT(x'{0:02x}' USING {1}),CONVERT(x'2d{0:02x}2d' USING {1}),CONVERT(x'{0:02x}' USING {1}))".format(b, cs) for b in range(256))))
    p("--@else")
    p("CREATE TABLE `all_{0}` (id INT NOT NULL PRIMARY KEY, t TEXT) ENGINE=InnoDB DEFAULT CHARSET={0};".format(cs))
    p("INSERT INTO `all_%s` VALUES (1, CONVERT(x'%s' USING %s));" % (cs, bytes(range(256)).hex(), cs))
    p("--@endif")
# columns of several character sets in one table, default other than the columns'
p("CREATE TABLE mixed (id INT NOT NULL PRIMARY KEY, " + ", ".join("`%s` VARCHAR(9) CHARACTER SET %s" % (c, c) for c in charsets) + ") ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;")
p("INSERT INTO mixed VALUES (1%s);" % "".join("," + ("'a\\\\'" if c == "binary" else lit("aé日\\", c)) for c in charsets))
p("INSERT INTO mixed (id) VALUES (2);")
p("CREATE TABLE mixed_char (id INT NOT NULL PRIMARY KEY, " + ", ".join("`%s` CHAR(5) CHARACTER SET %s" % (c, c) for c in charsets) + ") ENGINE=InnoDB ROW_FORMAT=REDUNDANT DEFAULT CHARSET=latin1;")
p("INSERT INTO mixed_char VALUES (1%s);" % "".join("," + ("'a\\\\'" if c == "binary" else lit("aé日", c)) for c in charsets))
p("INSERT INTO mixed_char (id) VALUES (2);")
p("CREATE TABLE mixed_compact (id INT NOT NULL PRIMARY KEY, " + ", ".join("`%s` CHAR(5) CHARACTER SET %s NOT NULL" % (c, c) for c in charsets) + ") ENGINE=InnoDB ROW_FORMAT=COMPACT DEFAULT CHARSET=latin1;")
p("INSERT INTO mixed_compact VALUES (1%s);" % "".join("," + ("'a\\\\'" if c == "binary" else lit("aé日", c)) for c in charsets))
p("""CREATE TABLE collations (id INT NOT NULL PRIMARY KEY,
  a VARCHAR(10) COLLATE latin1_bin, b VARCHAR(10) COLLATE latin1_german2_ci, c CHAR(3) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  d TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci, e ENUM('a','b') CHARACTER SET ucs2 COLLATE ucs2_bin, f CHAR(4) CHARACTER SET latin1 COLLATE latin1_swedish_ci,
  g VARCHAR(10) CHARACTER SET utf8 COLLATE utf8_general_ci, h VARCHAR(10) CHARACTER SET utf8 COLLATE utf8_bin, i TINYTEXT COLLATE utf8mb4_turkish_ci,
  j VARCHAR(5) BINARY, k CHAR(5) CHARACTER SET binary
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;
INSERT INTO collations VALUES (1,'a','b','c','d','a','f','g','h','i','j','k'),(2,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE default_bin (a CHAR(3), b VARCHAR(3) COLLATE latin1_general_cs) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_bin;
INSERT INTO default_bin VALUES ('x','y'),('é','é');""")
if family == "mysql" and version >= (8, 0, 1):
    p("""CREATE TABLE uca900 (id INT NOT NULL PRIMARY KEY, a VARCHAR(10) COLLATE utf8mb4_0900_ai_ci, b VARCHAR(10) COLLATE utf8mb4_0900_as_cs, c TEXT COLLATE utf8mb4_de_pb_0900_ai_ci,
 d VARCHAR(10) COLLATE utf8mb4_ja_0900_as_cs, e CHAR(5) COLLATE utf8mb4_general_ci) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
INSERT INTO uca900 VALUES (1,'a ','b','c','d','e');
CREATE TABLE uca900_default (k VARCHAR(10) NOT NULL PRIMARY KEY, t TEXT) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci;
INSERT INTO uca900_default VALUES ('b','1'),('a','2'),('Äb','3'),('z ','4'),('z','5'),('é','6');""")
if family == "mariadb" and version >= (10, 10):
    p("""CREATE TABLE uca1400 (id INT NOT NULL PRIMARY KEY, a VARCHAR(10) COLLATE utf8mb4_uca1400_ai_ci, b CHAR(10) COLLATE uca1400_swedish_as_cs, c TEXT COLLATE utf8mb4_nopad_bin) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_uca1400_nopad_as_ci;
INSERT INTO uca1400 VALUES (1,'a ','b','c');""")
if family == "mariadb" and version >= (10, 2):
    p("""CREATE TABLE nopad (k VARCHAR(10) NOT NULL, c CHAR(5) NOT NULL, PRIMARY KEY (k,c)) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_nopad_bin;
INSERT INTO nopad VALUES ('a',''),('a ','x'),('a  ','x '),('','');""")
text = "\n".join(out) + "\n"
sys.stdout.buffer.write(text.encode("utf-8"))
