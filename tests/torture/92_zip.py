"""Compressed tables and compressed pages: pages whose rows are in the modification log only, free and
delete-marked records, off-page columns of every way to store them, in every size of page."""
import random, sys

family, version, page = sys.argv[1], tuple(map(int, sys.argv[2].split("."))), int(sys.argv[3])
mysql = family == "mysql"
# ROW_FORMAT=COMPRESSED is to be had up to 16 KiB only, page compression needs room for a hole
out = ["-- needs: page=16384 | page=8192 | page=4096"]
p = out.append
rnd = random.Random(92)
HEAD = "USE t_zip;\nSET sql_mode = 'NO_ENGINE_SUBSTITUTION';"
p("CREATE DATABASE t_zip CHARACTER SET latin1;\n" + HEAD)
p("SET @noise = '%s';" % ("%0102400x" % rnd.getrandbits(4 * 102400)))
# the same noise eight times, from other places: too far apart for zlib to see
p("SET @long_noise = CONCAT(%s);" % ", ".join("SUBSTRING(@noise, %d), LEFT(@noise, %d)" % (7001 * i + 1, 7001 * i) for i in range(8)))


def dice(n):
    return int(rnd.random() * n)


def word(longest):
    return "'%08x%s'" % (rnd.getrandbits(32), "-%d" % dice(10) * dice(longest // 2 - 3))


def text(i):
    """A value of a LONGTEXT: most are absent or short, a few are long."""
    k = dice(100)
    if k < 40:
        return "NULL"
    if k < 50:
        return "''"
    if k < 80:
        return "'t%d'" % i
    if k < 94:
        return "RPAD('', 800, 'row %d ')" % i
    if k < 98:
        return "RPAD('', 8000, 'row %d ')" % i
    return "RPAD('', 51000, 'row %d ')" % i


def blob(i):
    k = dice(100)
    if k < 60:
        return "NULL"
    if k < 80:
        return "x'00ff5c0a09%04x'" % (i & 0xffff)
    if k < 94:
        return "REPEAT(x'5c%02x', 400)" % (i % 256)
    if k < 99:
        return "REPEAT(CHAR(%d), 8000)" % (i % 256)
    return "REPEAT(x'0a%04x00', 50000)" % (i & 0xffff)


def number():
    return "NULL" if dice(4) == 0 else str(rnd.getrandbits(31) - (1 << 30))


class Table:
    """Rows of an integer key that come, change and go in random order, a statement each."""

    COLUMNS = ("id INT NOT NULL PRIMARY KEY, v VARCHAR(200), n INT, c CHAR(20) NOT NULL, d DECIMAL(12,4) NOT NULL,"
               " t LONGTEXT, b LONGBLOB, KEY v (v(50))")

    def __init__(self, name, options, columns=COLUMNS, gate=None):
        self.name, self.gate, self.here, self.gone = name, gate, [], []
        self.gated()
        p("CREATE TABLE %s (%s) ENGINE=InnoDB %s;" % (name, columns, options))
        self.end()

    def gated(self):
        if self.gate:
            p("--@if " + self.gate)

    def end(self):
        if self.gate:
            p("--@endif")

    def values(self, i):
        return "%d,%s,%s,'c%d','%d.%04d',%s,%s" % (i, word(40), number(), dice(1000), dice(20000) - 10000, dice(10000), text(i), blob(i))

    def insert(self, i):
        p("INSERT INTO %s VALUES (%s);" % (self.name, self.values(i)))
        self.here.append(i)

    def update(self, i):
        what = ["v = LEFT(CONCAT(v, %s), 200)" % word(160), "n = %s" % number(), "n = %d, c = 'changed'" % dice(100),
                "v = %s" % word(10), "d = d + 1, v = NULL", "t = %s" % text(i + 1000), "b = %s" % blob(i + 1000),
                "v = %s, t = %s" % (word(200), text(i + 2000))]
        p("UPDATE %s SET %s WHERE id = %d;" % (self.name, what[dice(len(what))], i))

    def delete(self, i):
        p("DELETE FROM %s WHERE id = %d;" % (self.name, i))
        self.here.remove(i)
        self.gone.append(i)

    def again(self):
        i = self.gone.pop(dice(len(self.gone)))
        self.insert(i)

    def moved(self, i):
        """Another key: the off-page columns go over to another record."""
        p("UPDATE %s SET id = id + 100000 WHERE id = %d;" % (self.name, i))
        self.here.remove(i)

    def some(self):
        return self.here[dice(len(self.here))]

    def fill(self, first, past):
        """In random order: each row, updates of a seventh, deletes of an eleventh, half of which come back."""
        ids = list(range(first, past))
        for k in range(len(ids) - 1, 0, -1):
            j = dice(k + 1)
            ids[k], ids[j] = ids[j], ids[k]
        self.gated()
        p("START TRANSACTION;")
        for k, i in enumerate(ids, 1):
            self.insert(i)
            if k % 7 == 0:
                self.update(self.some())
            if k % 11 == 0:
                self.delete(self.some())
            if k % 22 == 0:
                self.again()
            if k % 40 == 0:
                p("COMMIT;\nSTART TRANSACTION;")
        p("COMMIT;")
        self.end()

    def never(self):
        """What is rolled back leaves free records."""
        self.gated()
        here, gone = list(self.here), list(self.gone)
        p("START TRANSACTION;")
        for i in range(12):
            self.insert(-1 - i * 7)
            self.update(here[dice(len(here))])
        p("ROLLBACK;")
        self.here, self.gone = here, gone
        self.end()

    def more(self, n):
        """The last changes, deletes, returns and changes of the key."""
        self.gated()
        p("START TRANSACTION;")
        for k in range(n):
            self.update(self.some())
            if k % 2:
                self.delete(self.some())
            if k % 4 == 0 and self.gone:
                self.again()
            if k % 8 == 0:
                self.moved(self.some())
        p("COMMIT;")
        self.end()


class Random(Table):
    """The whole of it, with off-page values that don't compress much."""

    def __init__(self, name, options, noisy, small=340, full=1600, gate=None):
        super().__init__(name, options, gate=gate)
        self.fill(1, small)
        self.gated()
        p("INSERT INTO %s VALUES (50001,'repeated',1,'long',1,RPAD('',51000,'0123456789'),REPEAT('x',200000));" % name)
        p("INSERT INTO %s VALUES (50002,'noise',NULL,'long',2,@noise,%s);" % (name, "@long_noise" if noisy else "'short'"))
        p("INSERT INTO %s VALUES (50003,'never',3,'long',3,REPEAT('y',300000),%s);" % (name, "@noise" if noisy else "NULL"))
        p("DELETE FROM %s WHERE id = 50003;" % name)
        p("INSERT INTO %s VALUES (50004,'shrunk',4,'long',4,REPEAT('z',300000),REPEAT('Z',140000));" % name)
        p("UPDATE %s SET t = REPEAT('z', 20000), b = CONCAT(b, b) WHERE id = 50004;" % name)
        self.end()
        # rows of its own: what follows is the same with and without them
        here, gone = self.here, self.gone
        self.here, self.gone = [], []
        p("--@if full")
        self.fill(small, full)
        p("--@endif")
        self.here, self.gone = here, gone
        self.never()


tables = []
sizes = [k for k in (1, 2, 4, 8, 16) if k * 1024 <= page]
for k in sizes:
    tables.append(Random("zip%d" % k, "ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=%d" % k, True))
# without a size: half of the page
tables.append(Random("zip_default", "ROW_FORMAT=COMPRESSED", False, 120, 300))
eight = min(8, page // 1024)

# no key: DB_ROW_ID
p("CREATE TABLE no_pk (a INT, b VARCHAR(100), f CHAR(10) NOT NULL, t TEXT) ENGINE=InnoDB ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=4;")
p("START TRANSACTION;")
for i in range(260):
    p("INSERT INTO no_pk VALUES (%s,%s,'f%d',%s);" % ("NULL" if i % 9 == 0 else i, word(60), i % 10, text(i)))
    if i % 7 == 6:
        p("UPDATE no_pk SET b = %s WHERE a = %d;" % (word(100), dice(i)))
    if i % 11 == 10:
        p("DELETE FROM no_pk WHERE a = %d;" % dice(i))
p("COMMIT;")

# a key of text and number; null bitmaps of many bytes, fixed columns that the index information adds up to 768 bytes
nullable = ", ".join("n%d %s" % (i, ["INT", "TINYINT", "CHAR(3)", "VARCHAR(300)" if page > 4096 or i < 25 else "VARCHAR(4)", "DATE"][i % 5]) for i in range(140))
p("CREATE TABLE text_pk (k VARCHAR(50) CHARACTER SET utf8mb4 NOT NULL, %s, f1 CHAR(200) NOT NULL, f2 BINARY(250) NOT NULL, f3 CHAR(255) NOT NULL, f4 BINARY(100) NOT NULL,"
  " i INT NOT NULL, u CHAR(30) CHARACTER SET utf8mb4, t TEXT, PRIMARY KEY (k, i), UNIQUE KEY i (i, f4)) ENGINE=InnoDB ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=%d;" % (nullable, eight))
names = ["k", "i", "f1", "f2", "f3", "f4", "u", "t"]
keys = []
p("START TRANSACTION;")
for i in range(150):
    key = "CONCAT(%s,'é😀ß%d')" % (word(24), i % 3)
    some = sorted({dice(140) for _ in range(dice(30))})
    vals = [key, str(i), "REPEAT('f',%d)" % dice(200), "REPEAT(x'%02x',%d)" % (i, dice(250)), "'%d'" % i, "x'00%02x00'" % i, "NULL" if i % 5 == 0 else "REPEAT('ü😀',%d)" % (i % 16), text(i)]
    for n in some:
        vals.append(["'%d'" % (i - 70), "'%d'" % (i - 70), "'abc'", "REPEAT('v%d',%d)" % (i % 10, dice(150)), "'2020-01-%02d'" % (i % 28 + 1)][n % 5])
    p("INSERT INTO text_pk (%s) VALUES (%s);" % (", ".join(names + ["n%d" % n for n in some]), ", ".join(vals)))
    if i % 7 == 6:
        p("UPDATE text_pk SET n%d = NULL, n%d = REPEAT('w', %d), f1 = 'new' WHERE i = %d;" % (dice(140), 3 + 5 * dice(28), dice(300), dice(i)))
    if i % 11 == 10:
        p("DELETE FROM text_pk WHERE i = %d;" % dice(i))
p("COMMIT;")

# three levels, keys that don't compress
p("CREATE TABLE deep (k BINARY(48) NOT NULL PRIMARY KEY, n INT, v VARCHAR(30), KEY n (n)) ENGINE=InnoDB ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=1;")


def deep(count):
    p("START TRANSACTION;")
    here = []
    for i in range(count):
        key = "%096x" % rnd.getrandbits(384)
        p("INSERT INTO deep VALUES (x'%s',%s,%s);" % (key, number(), word(30)))
        here.append(key)
        if i % 7 == 6:
            p("UPDATE deep SET v = REPEAT('%d', 30) WHERE k = x'%s';" % (i % 10, here[dice(len(here))]))
        if i % 11 == 10:
            p("DELETE FROM deep WHERE k = x'%s';" % here.pop(dice(len(here))))
        if i % 100 == 99:
            p("COMMIT;\nSTART TRANSACTION;")
    p("COMMIT;")
    return here


deep_keys = deep(360)
p("--@if full")
deep(3000)
# keys that compress well: the most records on a page
p("CREATE TABLE dense (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, n TINYINT) ENGINE=InnoDB ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=2;")
p("INSERT INTO dense SELECT n + 1, n % 5 FROM t_aux.seq;")
p("DELETE FROM dense WHERE id % 50 < 5;")
p("--@endif")
p("CREATE TABLE none (id INT NOT NULL PRIMARY KEY, v VARCHAR(200), t TEXT) ENGINE=InnoDB ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=%d;" % eight)
p("CREATE TABLE emptied (id INT NOT NULL PRIMARY KEY, v VARCHAR(200), t TEXT) ENGINE=InnoDB ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=1;")
p("INSERT INTO emptied SELECT n, CONCAT('v', n), REPEAT('t', n * 30) FROM t_aux.seq WHERE n < 200;")
p("DELETE FROM emptied;")

p("CREATE TABLE part (id INT NOT NULL PRIMARY KEY, v VARCHAR(200), n INT, t TEXT) ENGINE=InnoDB ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=%d PARTITION BY HASH (id) PARTITIONS 3;" % eight)
p("START TRANSACTION;")
for i in range(150):
    p("INSERT INTO part VALUES (%d,%s,%s,%s);" % (i * 77 % 151, word(60), number(), text(i)))
    if i % 7 == 6:
        p("UPDATE part SET v = %s WHERE id = %d;" % (word(100), dice(151)))
    if i % 11 == 10:
        p("DELETE FROM part WHERE id = %d;" % dice(151))
p("COMMIT;")

# generated columns
p("--@if mysql>=5.7.6 | mariadb")
p("CREATE TABLE gen_stored (s1 INT AS (a + 1) PERSISTENT, id INT NOT NULL PRIMARY KEY, a INT, b VARCHAR(60), s2 VARCHAR(80) AS (CONCAT(b, '/', a)) PERSISTENT, t TEXT, s3 TEXT AS (CONCAT(t, t)) PERSISTENT, KEY s2 (s2)) ENGINE=InnoDB ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=2;")
p("CREATE TABLE gen_both (id INT NOT NULL PRIMARY KEY, v1 VARCHAR(80) AS (CONCAT(b, '/', a)) VIRTUAL, a INT, s1 INT AS (a * 2) PERSISTENT, b VARCHAR(60)) ENGINE=InnoDB ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=4;")
p("START TRANSACTION;")
for i in range(120):
    p("INSERT INTO gen_stored (id, a, b, t) VALUES (%d,%s,%s,%s);" % (i * 50 % 121, "NULL" if i % 8 == 0 else i, word(50), text(i)))
    p("INSERT INTO gen_both (id, a, b) VALUES (%d,%s,%s);" % (i * 50 % 121, "NULL" if i % 8 == 0 else i, word(50)))
    if i % 7 == 6:
        p("UPDATE gen_stored SET a = %d, t = %s WHERE id = %d;" % (i * 1000, text(i), dice(121)))
        p("UPDATE gen_both SET a = %d, b = %s WHERE id = %d;" % (i * 1000, word(60), dice(121)))
p("COMMIT;")
p("--@endif")

# a tree of rectangles
p("--@if mysql>=5.7.5 | mariadb>=10.2.2")
p("CREATE TABLE geo (id INT NOT NULL PRIMARY KEY, g GEOMETRY NOT NULL, v VARCHAR(50), SPATIAL KEY g (g)) ENGINE=InnoDB ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=2;")
p("START TRANSACTION;")
for i in range(150):
    p("INSERT INTO geo VALUES (%d,ST_GeomFromText('POINT(%d %d.5)'),%s);" % (i, dice(1000), dice(1000), word(30)))
    if i % 11 == 10:
        p("DELETE FROM geo WHERE id = %d;" % dice(i))
p("COMMIT;")
p("--@endif")

# documents, changed in place off the page; MySQL 8 and 9 fail assertions of their own (zlob0read.cc,
# data_size <= remain) after these changes in pages of 4 KiB, so there are none of that size
json = "mysql>=5.7.8"
p("--@if " + json)
p("CREATE TABLE json (id INT NOT NULL PRIMARY KEY, j JSON, k JSON, n INT) ENGINE=InnoDB ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=%d;" % (8 if page > 4096 else 2))
p("CREATE TABLE json_small (id INT NOT NULL PRIMARY KEY, j JSON) ENGINE=InnoDB ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=1;")
p("SET @mid = CONCAT('{\"a\":\"', REPEAT('a', 5000), '\",\"x\":1.5,\"z\":\"', REPEAT('z', 9000), '\"}');")


def document(name, a, noise, z, more=""):
    p("SET @%s = CONCAT('{\"a\":\"', REPEAT('a', %d), '\",\"b\":\"', LEFT(@noise, %d), '\",\"c\":{\"d\":\"', REPEAT('d', 100), '\",\"e\":123456789},\"x\":1.5%s,\"z\":\"', REPEAT('z', %d), '\"}');" % (name, a, noise, more, z))


document("big", 60000, 1000, 90000)
document("huge", 90000, 1000, 150000, ",\"y\":\"', REPEAT('y', 100000), '\"")
document("noisy", 90000, 20000, 150000)
for i in range(24):
    doc = "@big" if i < 8 else "@huge" if i < 12 else "@noisy" if i == 12 else "@huge" if i == 13 else "@mid" if i < 19 else "'{\"a\":\"short\",\"x\":%d.5}'" % i
    p("INSERT INTO json VALUES (%d,%s,'[1,2,3]',%d);" % (i, doc, i))
    if i % 4 == 0:
        p("INSERT INTO json_small VALUES (%d,%s);" % (i, doc))


def change(k, a, z):
    """A value in place of one of the same length, mostly."""
    big, small = 65 + k % 26, 97 + k % 26
    return ["JSON_REPLACE(j,'$.a',REPEAT('%c',%d))" % (big, a), "JSON_REPLACE(j,'$.z',REPEAT('%c',%d))" % (big, z),
            "JSON_REPLACE(j,'$.c.d',REPEAT('%c',100))" % big, "JSON_REPLACE(j,'$.x',%d.25)" % k, "JSON_SET(j,'$.c.e',%d)" % k,
            "JSON_REPLACE(j,'$.a',REPEAT('%c',%d),'$.z',REPEAT('%c',%d))" % (big, a - 1000, small, z - 100)][k % 6]


def partial(first, past):
    # a transaction each; rows 0 and 8 are never changed, 7 and 13 only now and then
    for k in range(first, past):
        p("UPDATE json SET j = %s WHERE id IN (%d,%d);" % (change(k, 60000, 90000), 1 + k % 6, 7 if k % 5 == 0 else 6))
        p("UPDATE json SET j = %s WHERE id IN (%d,%d);" % (change(k + 1, 90000, 150000), 9 + k % 4, 13 if k % 5 == 0 else 9))
        p("UPDATE json_small SET j = %s WHERE id = 4;" % change(k, 60000, 90000))
        if k % 3 == 0:
            p("UPDATE json SET j = JSON_REPLACE(j,'$.a','short %d') WHERE id = %d;" % (k, 14 + k % 10))
            p("UPDATE json_small SET j = %s WHERE id = 12;" % change(k + 1, 90000, 150000))
    p("UPDATE json SET n = n + 1 WHERE id % 3 = 0;")
    p("UPDATE json SET k = j, j = JSON_REMOVE(j,'$.b') WHERE id = %d;" % (5 + first % 2))


partial(0, 14)
p("DELETE FROM json WHERE id IN (3,10,15);")
p("INSERT INTO json VALUES (3,@huge,NULL,-3);")
p("START TRANSACTION;\nUPDATE json SET j = JSON_REPLACE(j,'$.a',REPEAT('!',60000));\nDELETE FROM json WHERE id > 8;\nINSERT INTO json VALUES (1000,@huge,@big,0);\nROLLBACK;")
p("--@endif")

# page compression: each page by itself
if page == 16384:
    if mysql:
        for how in ("zlib", "lz4"):
            tables.append(Random("pc_" + how, "COMPRESSION='%s'" % how, False, gate="mysql>=5.7.8"))
        p("--@if mysql>=5.7.8")
        # what was written before stays as it is
        tables.append(Random("pc_mixed", "COMPRESSION='zlib'", False, 240, 500))
        t = tables[-1]
        p("FLUSH TABLES pc_mixed FOR EXPORT;\nUNLOCK TABLES;\nALTER TABLE pc_mixed COMPRESSION='none';")
        t.more(3)
        p("FLUSH TABLES pc_mixed FOR EXPORT;\nUNLOCK TABLES;\nALTER TABLE pc_mixed COMPRESSION='lz4';")
        t.more(3)
        p("--@endif")
        t.gate = "mysql>=5.7.8"
    else:
        tables.append(Random("pc", "PAGE_COMPRESSED=1", False))
        tables.append(Random("pc_best", "ROW_FORMAT=COMPACT PAGE_COMPRESSED=1 PAGE_COMPRESSION_LEVEL=9", False, 120, 300))
        p("CREATE TABLE pc_part (id INT NOT NULL PRIMARY KEY, v VARCHAR(200), t TEXT) ENGINE=InnoDB PAGE_COMPRESSED=1 PARTITION BY HASH (id) PARTITIONS 2;")
        p("INSERT INTO pc_part SELECT n, REPEAT(n, 30), REPEAT('t', n * 40) FROM t_aux.seq WHERE n < 300;")
        p("DELETE FROM pc_part WHERE id % 3 = 0;")

# purge keeps what goes from here on, and the older versions of what changes
p("--@snapshot")
p(HEAD)
for t in tables:
    t.more(16)
p("START TRANSACTION;")
for i in range(40):
    key = deep_keys.pop(dice(len(deep_keys)))
    p("DELETE FROM deep WHERE k = x'%s';" % key)
    p("UPDATE deep SET n = n + 1, v = %s WHERE k = x'%s';" % (word(30), deep_keys[dice(len(deep_keys))]))
p("COMMIT;")
p("DELETE FROM no_pk WHERE a % 17 = 0;\nUPDATE no_pk SET t = 'late' WHERE a % 19 = 0;")
p("DELETE FROM text_pk WHERE i % 13 = 0;\nUPDATE text_pk SET i = i + 1000 WHERE i % 17 = 1;")
p("--@if " + json)
p("SET @noise = REPEAT('0123456789abcdef', 1000);")
document("huge", 90000, 1000, 150000)
partial(14, 33)
p("DELETE FROM json WHERE id IN (4,11,16);")
p("INSERT INTO json VALUES (4,@huge,@huge,-4),(10,@huge,NULL,-10);")
p("UPDATE json SET j = JSON_REPLACE(j,'$.a',REPEAT('N',90000)) WHERE id = 10;")
p("UPDATE json SET id = id + 500 WHERE id IN (2,12);")
p("UPDATE json SET j = JSON_REPLACE(j,'$.z',REPEAT('M',90000)) WHERE id IN (502,512);")
p("START TRANSACTION;\nUPDATE json SET j = JSON_REPLACE(j,'$.a',REPEAT('?',59000));\nROLLBACK;")
p("--@endif")
sys.stdout.buffer.write(("\n".join(out) + "\n").encode("utf-8"))
