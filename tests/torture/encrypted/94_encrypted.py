"""Encrypted tables of every form, by keys of every length, and tables that are encrypted no more or not yet.

A folder of its own (build_corpus.sh --torture): the server needs keys, which the variants tde-* and enc* have."""
import os, sys

here = os.path.dirname(os.path.abspath(__file__))
source = open(os.path.join(here, "..", "92_zip.py"), encoding="utf-8").read().replace("t_zip", "t_encrypted")
head, cut, _ = source.partition("\ntables = []")
assert cut
exec(compile(head, "92_zip.py", "exec"))
out[0] = "-- needs: mysql>=8.0.24 | mariadb>=10.5"
variant = sys.argv[4]
rnd.seed(94)
large = False
# no table has more than it needs: what is encrypted does not compress
long_value = page * 6 // 10


def text(i):
    """A value of a LONGTEXT: most are absent or short, none is off the page but where there is room."""
    k = dice(100)
    if k < 30:
        return "NULL"
    if k < 35:
        return "''"
    if k < 90 or page == 4096 and not large:
        return "'confidential %d'" % i
    if k < 98 or not large:
        return "RPAD('', 300, 'confidential %d ')" % i
    return "RPAD('', %d, 'confidential %d ')" % (long_value, i)


def blob(i):
    return "NULL" if dice(100) < 70 else "x'00ff5c0a09%04x'" % (i & 0xffff)


class Encrypted(Table):
    COLUMNS = ("id INT NOT NULL PRIMARY KEY, v VARCHAR(200), n INT, c CHAR(20) NOT NULL, d DECIMAL(12,4) NOT NULL,"
               " t LONGTEXT, b LONGBLOB")

    def __init__(self, name, options, small=60, full=700, keys="", long=True):
        global large
        super().__init__(name, options, self.COLUMNS + keys)
        self.fill(1, small)
        if long:
            p("INSERT INTO %s VALUES (50001,'confidential',1,'long',1,RPAD('',%d,'confidential long '),NULL);" % (name, long_value))
        here, gone = self.here, self.gone
        self.here, self.gone, large = [], [], True
        p("--@if full")
        self.fill(small, full)
        p("INSERT INTO %s VALUES (50002,'confidential',2,'long',2,RPAD('',80000,'confidential '),REPEAT('confidential',20000));" % name)
        p("INSERT INTO %s VALUES (50003,'never',3,'long',3,REPEAT('confidential',9000),NULL);\nDELETE FROM %s WHERE id = 50003;" % (name, name))
        p("--@endif")
        self.here, self.gone, large = here, gone, False
        self.never()


if mysql:
    def options(key):
        return "ENCRYPTION='Y'"
else:
    def options(key):
        return "ENCRYPTED=YES" + (" ENCRYPTION_KEY_ID=%d" % key if key != 1 else "")
NO = "ENCRYPTION='N'" if mysql else "ENCRYPTED=NO"


def rotate():
    """Another master key: each table's own key is written anew, the rows are not."""
    if mysql:
        p("ALTER INSTANCE ROTATE INNODB MASTER KEY;")


tables = []


def add(name, key, more="", **kw):
    tables.append(Encrypted(name, "%s %s" % (options(key), more), **kw))


# the one with a tree of some pages
add("dynamic", 1, "ROW_FORMAT=DYNAMIC", small=220 if page >= 16384 else 150, full=2500)
rotate()
add("compact", 2, "ROW_FORMAT=COMPACT")
add("redundant", 3, "ROW_FORMAT=REDUNDANT")
if page <= 16384:
    for key, k in enumerate((8, 4, 1), 1):
        if k * 1024 <= page:
            add("zip%d" % k, key, "ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=%d" % k, small=110, keys=", KEY v (v(50))")
rotate()
if page == 16384 and mysql:
    add("pc_zlib", 1, "COMPRESSION='zlib'", small=200)
    add("pc_lz4", 1, "COMPRESSION='lz4'", small=200)
elif page >= 16384 and not mysql:
    add("pc", 2, "PAGE_COMPRESSED=1", small=200)
    add("pc_best", 3, "ROW_FORMAT=COMPACT PAGE_COMPRESSED=1 PAGE_COMPRESSION_LEVEL=9", small=120)

# off the page
p("CREATE TABLE lobs (id INT NOT NULL PRIMARY KEY, t LONGTEXT, j JSON) ENGINE=InnoDB %s;" % options(3))
p("SET @doc = CONCAT('{\"a\":\"', REPEAT('a', 500), '\",\"b\":\"', REPEAT('confidential', %d), '\",\"x\":1.5,\"z\":\"', REPEAT('z', 700), '\"}');" % (page // 10))
p("INSERT INTO lobs VALUES (1,'short','{\"x\":1}'),(2,REPEAT('confidential',%d),NULL),(3,NULL,@doc),(4,REPEAT('confidential ',%d),'[1,2,3]'),(5,NULL,NULL);" % (page // 20, page // 9))
if mysql:
    # in place, and no whole value anew
    p("UPDATE lobs SET j = JSON_REPLACE(j,'$.a',REPEAT('A',500),'$.x',2.5) WHERE id = 3;")
p("--@if full")
p("INSERT INTO lobs SELECT n + 100, REPEAT('confidential', n * n * 3), IF(n % 3 = 0, @doc, NULL) FROM t_aux.seq WHERE n < 60;")
p("UPDATE lobs SET j = JSON_REPLACE(j,'$.z',REPEAT('Z',700)) WHERE id % 2 = 0;\nDELETE FROM lobs WHERE id % 7 = 0;")
p("--@endif")

# a tree of rectangles; MariaDB's older form refuses to encrypt it by the table's own options
late = "" if variant.startswith("enc-crc32") else options(1)
p("CREATE TABLE geo (id INT NOT NULL PRIMARY KEY, g GEOMETRY NOT NULL%s, v VARCHAR(50), SPATIAL KEY g (g)) ENGINE=InnoDB %s;" % (" SRID 0" if mysql else "", late))


def points(first, past):
    p("START TRANSACTION;")
    for i in range(first, past):
        p("INSERT INTO geo VALUES (%d,ST_GeomFromText('POINT(%d %d.5)'),CONCAT('confidential ',%s));" % (i, dice(1000), dice(1000), word(20)))
        if i % 11 == 10:
            p("DELETE FROM geo WHERE id = %d;" % dice(i))
    p("COMMIT;")


points(0, 70)
p("--@if full")
points(70, 900)
p("--@endif")

rotate()
p("CREATE TABLE part (id INT NOT NULL PRIMARY KEY, v VARCHAR(200), t TEXT) ENGINE=InnoDB %s PARTITION BY HASH (id) PARTITIONS 2;" % options(2))
p("INSERT INTO part SELECT n, CONCAT('confidential ', n), REPEAT('t', n) FROM t_aux.seq WHERE n < 90;\nDELETE FROM part WHERE id % 13 < 2;")

# rows of before and after instant changes
p("CREATE TABLE instant (id INT NOT NULL PRIMARY KEY, v VARCHAR(100), n INT) ENGINE=InnoDB %s;" % options(3))
p("INSERT INTO instant SELECT n, CONCAT('confidential ', n), n * n FROM t_aux.seq WHERE n < 50;")
p("ALTER TABLE instant ADD COLUMN x INT NOT NULL DEFAULT 7, ALGORITHM=INSTANT;")
p("INSERT INTO instant SELECT n + 50, CONCAT('confidential ', n), n * n, n FROM t_aux.seq WHERE n < 40;")
p("--@if mysql>=8.0.29 | mariadb")
p("ALTER TABLE instant ADD COLUMN y VARCHAR(30) DEFAULT 'added' FIRST, ALGORITHM=INSTANT;\nALTER TABLE instant DROP COLUMN n, ALGORITHM=INSTANT;")
p("INSERT INTO instant SELECT 'late', n + 90, CONCAT('confidential ', n), n FROM t_aux.seq WHERE n < 30;")
p("--@endif")
p("UPDATE instant SET v = 'changed', x = 1 WHERE id % 7 = 0;\nDELETE FROM instant WHERE id % 11 = 0;")

add("searched", 1, long=False, keys=", KEY v (v(50), n), FULLTEXT KEY t (t)")

# what is not encrypted, no more, or only now
tables.append(Encrypted("plain", NO, small=30, long=False))
for name, before, after in ("was_encrypted", options(2), NO), ("was_plain", NO, options(2)):
    tables.append(Encrypted(name, before, small=30, long=False))
    p("ALTER TABLE %s %s;" % (name, after))
if not mysql:
    p("CREATE TABLE by_default (id INT NOT NULL PRIMARY KEY, v VARCHAR(100)) ENGINE=InnoDB;")
    p("INSERT INTO by_default SELECT n, CONCAT('confidential ', n) FROM t_aux.seq WHERE n < 90;")
    p("CREATE TABLE by_default_3 (id INT NOT NULL PRIMARY KEY, v VARCHAR(100)) ENGINE=InnoDB ENCRYPTED=DEFAULT ENCRYPTION_KEY_ID=3;")
    p("INSERT INTO by_default_3 SELECT n, CONCAT('confidential ', n) FROM t_aux.seq WHERE n < 90;\nDELETE FROM by_default_3 WHERE id % 5 = 0;")
    # another key for what is there
    tables.append(Encrypted("other_key", options(1), small=30, long=False))
    p("ALTER TABLE other_key %s;" % options(3))
    if variant == "enc-half":
        def half(name, how, long=3000):
            """Many pages, without a wish of its own."""
            p("CREATE TABLE %s (id INT NOT NULL PRIMARY KEY, v VARCHAR(8000), n INT, t LONGTEXT, KEY n (n)) ENGINE=InnoDB %s;" % (name, how))
            p("INSERT INTO %s SELECT n, RPAD('', %d, CONCAT('confidential ', n, ' ')), n * 7 %% 100, IF(n %% 50 = 0, REPEAT('confidential ', 3000), NULL) FROM t_aux.seq WHERE n < 600;" % (name, long))
            p("UPDATE %s SET v = 'short' WHERE id %% 9 = 0;\nDELETE FROM %s WHERE id %% 7 = 0;" % (name, name))

        names = ["half_redundant", "half_zip4", "half_pc"]
        for name, how in zip(names, ("ROW_FORMAT=REDUNDANT", "ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=4", "PAGE_COMPRESSED=1")):
            half(name, how)
        # all is encrypted in the background; what is written when that is off again is plain
        p("SET GLOBAL innodb_encrypt_tables = ON;\nSET GLOBAL innodb_encryption_threads = 4;\nSET @left = 2000;\nDELIMITER //")
        p("BEGIN NOT ATOMIC WHILE @left > 0 AND (SELECT COUNT(*) FROM information_schema.innodb_sys_tablespaces s"
          " LEFT JOIN information_schema.innodb_tablespaces_encryption e ON e.space = s.space WHERE s.name <> 'innodb_temporary'"
          " AND (e.space IS NULL OR e.encryption_scheme = 1 AND (e.min_key_version = 0 OR e.rotating_or_flushing = 1)))"
          " DO SET @left = @left - 1; DO SLEEP(0.05); END WHILE; END //")
        p("DELIMITER ;\nSET GLOBAL innodb_encryption_threads = 0;\nSET GLOBAL innodb_encrypt_tables = OFF;")
        for name in names:
            p("UPDATE %s SET v = CONCAT('changed ', id) WHERE id BETWEEN 200 AND 400 AND id %% 3 = 0;\nFLUSH TABLES %s FOR EXPORT;\nUNLOCK TABLES;" % (name, name))
        # another one, which the server is to stop in the middle of
        half("half_dynamic", "ROW_FORMAT=DYNAMIC", 7400)
else:
    add("exported", 1, small=30, long=False)
    if variant.startswith("tde-component"):
        # the dictionary and the server's own tables
        p("ALTER TABLESPACE mysql ENCRYPTION='Y';")

# purge keeps what goes from here on, and the older versions of what changes
p("--@snapshot")
p(HEAD)
for t in tables:
    t.more(8)
p("UPDATE lobs SET j = JSON_REPLACE(j,'$.a',REPEAT('B',500)) WHERE id = 3;\nDELETE FROM lobs WHERE id = 2;")
p("DELETE FROM geo WHERE id % 9 = 0;\nUPDATE part SET v = 'late' WHERE id % 17 = 0;\nDELETE FROM part WHERE id % 19 = 0;")
p("DELETE FROM instant WHERE id % 10 = 3;")
sys.stdout.buffer.write(("\n".join(out) + "\n").encode("utf-8"))
