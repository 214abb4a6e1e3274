"""Tables in general tablespaces (g_*), in the system tablespace (s_*) and in files outside the data directory (r_*).

A folder of its own (build_corpus.sh --torture): {remote} is the directory of the variants shared*."""
import os, sys

here = os.path.dirname(os.path.abspath(__file__))
source = open(os.path.join(here, "..", "92_zip.py"), encoding="utf-8").read().replace("t_zip", "t_shared")
head, cut, _ = source.partition("\ntables = []")
assert cut
exec(compile(head, "92_zip.py", "exec"))
out[0] = ""
variant = sys.argv[4]
rnd.seed(95)
general = mysql and version >= (5, 7, 6)
instant = version >= ((8, 0, 12) if mysql else (10, 3))
versions = version >= ((8, 0, 29) if mysql else (10, 4))
spatial = version >= ((5, 7, 5) if mysql else (10, 2, 2))
half = min(8192, page // 2)
ZIP = "ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=%d" % (half // 1024)
large = False
tables = []


def text(i):
    """A value of a LONGTEXT: most are short, none is off the page but where there is room."""
    k = dice(100)
    if k < 30:
        return "NULL"
    if k < 35:
        return "''"
    if k < 65:
        return "'text %d'" % i
    if k < 98 or not large:
        return "RPAD('', 300, 'row %d ')" % i
    return "RPAD('', %d, 'row %d ')" % (page * 2, i)


def blob(i):
    return "NULL" if dice(100) < 70 else "x'00ff5c0a09%04x'" % (i & 0xffff)


class Shared(Table):
    """Rows that come and go, on one leaf page or some."""

    COLUMNS = ("id INT NOT NULL PRIMARY KEY, v VARCHAR(200), n INT, c CHAR(20) NOT NULL, d DECIMAL(12,4) NOT NULL,"
               " t LONGTEXT, b LONGBLOB, KEY v (v(50))")

    def __init__(self, name, options="", rows=0, full=500, keys="", columns=COLUMNS):
        super().__init__(name, options, columns + keys)
        tables.append(self)
        self.at = 1
        if rows:
            self.rows(rows)
            self.end_of(full)

    def rows(self, count):
        self.fill(self.at, self.at + count)
        self.at += count

    def end_of(self, full=500):
        """What large corpora have more of, and what is rolled back."""
        global large
        here, gone = self.here, self.gone
        self.here, self.gone, large = [], [], True
        p("--@if full")
        self.fill(self.at, full)
        p("--@endif")
        self.here, self.gone, large = here, gone, False
        self.never()

    def long(self):
        """Off the page: some pages, many pages, what is deleted and what is written anew."""
        n = self.name
        p("INSERT INTO %s VALUES (50001,'long',1,'long',1,RPAD('',%d,'long %s '),NULL);" % (n, page * 6 // 10, n))
        p("INSERT INTO %s VALUES (50002,'longer',2,'long',2,REPEAT('longer %s ',3000),REPEAT(x'00015c0aff',%d));" % (n, n, page // 2))
        p("INSERT INTO %s VALUES (50003,'never',3,'long',3,REPEAT('never ',8000),NULL);\nDELETE FROM %s WHERE id = 50003;" % (n, n))
        p("INSERT INTO %s VALUES (50004,'shrunk',4,'long',4,REPEAT('z',40000),REPEAT('Z',20000));" % n)
        p("UPDATE %s SET t = REPEAT('z', %d), b = CONCAT(b, b) WHERE id = 50004;" % (n, page * 6 // 10))


def per_table(on):
    p("SET GLOBAL innodb_file_per_table = %s;" % ("ON" if on else "OFF"))


def no_pk(name, options=""):
    p("CREATE TABLE %s (a INT, b VARCHAR(100), f CHAR(10) NOT NULL) ENGINE=InnoDB %s;" % (name, options))
    p("INSERT INTO %s SELECT n, CONCAT('b', n * n), n FROM t_aux.seq WHERE n < 90;\nDELETE FROM %s WHERE a %% 11 < 2;" % (name, name))


def counted(name, options=""):
    p("CREATE TABLE %s (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, v VARCHAR(50)) ENGINE=InnoDB AUTO_INCREMENT=1000 %s;" % (name, options))
    # INSERT ... SELECT would reserve more values than it uses, which the server forgets when it stops.
    rows = ", ".join("('counted %d')" % n for n in range(60))
    p("INSERT INTO %s (v) VALUES %s;\nDELETE FROM %s WHERE id > 1050;" % (name, rows, name))


def few(name, options="", more="", rows=40):
    """A table of one page, whose rows name it."""
    p("CREATE TABLE %s (id INT NOT NULL PRIMARY KEY, v VARCHAR(100)%s) ENGINE=InnoDB %s;" % (name, more, options))
    p("INSERT INTO %s (id, v) SELECT n, CONCAT('%s ', n) FROM t_aux.seq WHERE n < %d;\nDELETE FROM %s WHERE id %% 13 = 5;" % (name, name, rows, name))


def old_rows(name, options=""):
    """Rows of before and after instant changes."""
    few(name, options, ", n INT")
    p("ALTER TABLE %s ADD COLUMN x INT NOT NULL DEFAULT 7, ALGORITHM=INSTANT;" % name)
    p("INSERT INTO %s SELECT n + 50, CONCAT('later ', n), n * n, n FROM t_aux.seq WHERE n < 30;" % name)
    if versions:
        p("ALTER TABLE %s ADD COLUMN y VARCHAR(30) DEFAULT 'added' FIRST, ALGORITHM=INSTANT;\nALTER TABLE %s DROP COLUMN n, ALGORITHM=INSTANT;" % (name, name))
        p("INSERT INTO %s SELECT 'late', n + 90, CONCAT('last ', n), n FROM t_aux.seq WHERE n < 20;" % name)
    p("UPDATE %s SET v = 'changed', x = 1 WHERE id %% 7 = 0;\nDELETE FROM %s WHERE id %% 11 = 0;" % (name, name))


def searched(name, options=""):
    """A fulltext index, whose own tables lie beside the table."""
    p("CREATE TABLE %s (id INT NOT NULL PRIMARY KEY, t TEXT, FULLTEXT KEY t (t)) ENGINE=InnoDB %s;" % (name, options))
    p("INSERT INTO %s SELECT n, CONCAT('some words and ', n) FROM t_aux.seq WHERE n < 30;" % name)


p("CREATE DATABASE t_shared2 CHARACTER SET latin1;")
if general:
    p("CREATE TABLESPACE g1 ADD DATAFILE 'g1.ibd' ENGINE=InnoDB;")
    p("CREATE TABLESPACE gz ADD DATAFILE 'gz.ibd' FILE_BLOCK_SIZE=%d ENGINE=InnoDB;" % half)
    p("CREATE TABLESPACE far ADD DATAFILE '{remote}/far.ibd' ENGINE=InnoDB;")
    p("CREATE TABLESPACE `odd né-1` ADD DATAFILE 'odd name.ibd' ENGINE=InnoDB;")
    if "tde" in variant:
        p("CREATE TABLESPACE ge ADD DATAFILE 'ge.ibd' ENCRYPTION='Y' ENGINE=InnoDB;")
        Shared("ge_1", "TABLESPACE=ge ENCRYPTION='Y'", 60).long()
        few("ge_2", "TABLESPACE=ge ENCRYPTION='Y' ROW_FORMAT=REDUNDANT")
    p("CREATE TABLESPACE without_tables ADD DATAFILE 'without_tables.ibd' ENGINE=InnoDB;")
    # side by side: their pages take turns
    forms = [Shared("g_" + form, "ROW_FORMAT=%s TABLESPACE=g1" % form.upper()) for form in ("redundant", "compact", "dynamic")]
    for count in 40, 30, 60:
        for t in forms:
            t.rows(count if t.name != "g_dynamic" else count * 2)
    for t in forms:
        t.end_of()
        t.long()
    for t in Shared("gz_1", ZIP + " TABLESPACE=gz"), Shared("gz_2", ZIP + " TABLESPACE=gz"):
        t.rows(90)
        t.end_of()
    tables[-2].long()
    Shared("g_far", "TABLESPACE=far", 60).long()
    few("g_far_2", "TABLESPACE=far ROW_FORMAT=COMPACT")
    few("g_odd", "TABLESPACE=`odd né-1`")
    no_pk("g_no_pk", "TABLESPACE=g1")
    counted("g_auto", "TABLESPACE=g1")
    searched("g_searched", "TABLESPACE=g1")
    few("g_dropped", "TABLESPACE=g1")
    p("DROP TABLE g_dropped;")
    few("g_truncated", "TABLESPACE=g1")
    p("TRUNCATE TABLE g_truncated;\nINSERT INTO g_truncated VALUES (1,'anew');")
    p("CREATE TABLE g_none (id INT NOT NULL PRIMARY KEY) ENGINE=InnoDB TABLESPACE=g1;")
    # one name in two databases, one tablespace
    few("g_same", "TABLESPACE=g1", rows=30)
    few("t_shared2.g_same", "TABLESPACE=g1", rows=50)
    few("g_renamed", "TABLESPACE=g1")
    p("RENAME TABLE g_renamed TO t_shared2.g_was_renamed;")
    few("g_moved_in", "")
    p("ALTER TABLE g_moved_in TABLESPACE=g1;\nINSERT INTO g_moved_in VALUES (1001,'after');")
    few("g_moved_out", "TABLESPACE=g1")
    p("ALTER TABLE g_moved_out TABLESPACE=innodb_file_per_table;\nINSERT INTO g_moved_out VALUES (1001,'after');")
    if instant:
        old_rows("g_instant", "TABLESPACE=g1")
    if version < (8, 0, 13):
        p("CREATE TABLE g_part (id INT NOT NULL PRIMARY KEY, v VARCHAR(100)) ENGINE=InnoDB PARTITION BY RANGE (id)"
          " (PARTITION p0 VALUES LESS THAN (20) TABLESPACE=g1, PARTITION p1 VALUES LESS THAN (40) TABLESPACE=innodb_file_per_table,"
          " PARTITION p2 VALUES LESS THAN (60) TABLESPACE=innodb_system, PARTITION p3 VALUES LESS THAN (1000) TABLESPACE=far);")
        p("INSERT INTO g_part SELECT n, CONCAT('part ', n) FROM t_aux.seq WHERE n < 90;\nDELETE FROM g_part WHERE id % 7 = 3;")
        few("g_hash", "TABLESPACE=g1 PARTITION BY HASH (id) PARTITIONS 2")
else:
    # the words are kept, and mean nothing
    p("CREATE TABLE p_named (id INT NOT NULL PRIMARY KEY, v VARCHAR(100)) ENGINE=InnoDB PARTITION BY RANGE (id)"
      " (PARTITION p0 VALUES LESS THAN (20) TABLESPACE=g1, PARTITION p1 VALUES LESS THAN (1000) TABLESPACE=innodb_system);")
    p("INSERT INTO p_named SELECT n, CONCAT('part ', n) FROM t_aux.seq WHERE n < 40;")

# the system tablespace
few("s_moved_in", "")
few("s_here", "ROW_FORMAT=COMPACT")
per_table(False)
forms = [Shared("s_" + form, "ROW_FORMAT=" + form.upper()) for form in ("redundant", "compact")]
if version >= ((5, 7, 6) if mysql else (10, 2)):
    forms.append(Shared("s_dynamic", "ROW_FORMAT=DYNAMIC"))
for t in forms:
    t.rows(50)
    t.long()
if variant == "shared-ibdata":
    # what comes now lies in the second file: each partition takes single pages first, then extents
    p("CREATE TABLE s_filler (id INT NOT NULL PRIMARY KEY, b LONGBLOB) ENGINE=InnoDB ROW_FORMAT=COMPACT PARTITION BY HASH (id) PARTITIONS 9;")
    p("INSERT INTO s_filler SELECT n, REPEAT('f', 1000000) FROM t_aux.seq WHERE n < 9;")
for t in forms:
    t.rows(90)
    t.end_of()
# its leaves lie in both files, if there are two
forms[-1].rows(120)
Shared("s_default", "", 30).long()
no_pk("s_no_pk")
counted("s_auto")
few("s_part", "PARTITION BY HASH (id) PARTITIONS 3", rows=90)
p("CREATE TABLE s_range (id INT NOT NULL, v VARCHAR(100), t LONGTEXT, KEY id (id)) ENGINE=InnoDB ROW_FORMAT=REDUNDANT PARTITION BY RANGE (id)"
  " (PARTITION p0 VALUES LESS THAN (20), PARTITION p1 VALUES LESS THAN (40), PARTITION p2 VALUES LESS THAN MAXVALUE);")
p("INSERT INTO s_range SELECT n, CONCAT('range ', n), IF(n = 30, REPEAT('t', 50000), NULL) FROM t_aux.seq WHERE n < 60;\nDELETE FROM s_range WHERE id % 7 = 3;")
p("CREATE TABLE s_parent (id INT NOT NULL PRIMARY KEY, v VARCHAR(100), UNIQUE KEY v (v)) ENGINE=InnoDB;")
p("INSERT INTO s_parent SELECT n, CONCAT('parent ', n) FROM t_aux.seq WHERE n < 20;")
p("CREATE TABLE s_child (id INT NOT NULL PRIMARY KEY, parent INT, KEY parent (parent), CONSTRAINT s_fk FOREIGN KEY (parent) REFERENCES s_parent (id) ON DELETE CASCADE) ENGINE=InnoDB;")
p("INSERT INTO s_child SELECT n, n % 20 FROM t_aux.seq WHERE n < 60;\nDELETE FROM s_parent WHERE id % 5 = 2;")
if general:
    p("CREATE TABLE g_child (id INT NOT NULL PRIMARY KEY, parent INT, KEY parent (parent), CONSTRAINT g_fk FOREIGN KEY (parent) REFERENCES s_parent (id)) ENGINE=InnoDB TABLESPACE=g1;")
    p("INSERT INTO g_child SELECT n, 1 FROM t_aux.seq WHERE n < 10;")
    few("s_explicit", "TABLESPACE=innodb_system")
    few("s_explicit_compact", "TABLESPACE=innodb_system ROW_FORMAT=COMPACT")
    few("s_moved_in_explicit", "TABLESPACE=innodb_file_per_table")
    p("ALTER TABLE s_moved_in_explicit TABLESPACE=innodb_system;\nINSERT INTO s_moved_in_explicit VALUES (1001,'after');")
    few("s_moved_out_explicit", "TABLESPACE=innodb_system")
    p("ALTER TABLE s_moved_out_explicit TABLESPACE=innodb_file_per_table;\nINSERT INTO s_moved_out_explicit VALUES (1001,'after');")
searched("s_searched")
if spatial:
    p("CREATE TABLE s_geo (id INT NOT NULL PRIMARY KEY, g GEOMETRY NOT NULL%s, SPATIAL KEY g (g)) ENGINE=InnoDB;" % (" SRID 0" if mysql and version >= (8,) else ""))
    p("INSERT INTO s_geo SELECT n, ST_GeomFromText(CONCAT('POINT(', n, ' ', n * n % 97, ')')) FROM t_aux.seq WHERE n < 40;")
if instant:
    old_rows("s_instant")
    old_rows("s_instant_compact", "ROW_FORMAT=COMPACT")
few("s_dropped")
p("DROP TABLE s_dropped;")
few("s_emptied")
p("DELETE FROM s_emptied;")
few("s_truncated")
p("TRUNCATE TABLE s_truncated;\nINSERT INTO s_truncated VALUES (1,'anew');")
p("CREATE TABLE s_none (id INT NOT NULL PRIMARY KEY) ENGINE=InnoDB;")
few("s_same", rows=30)
few("t_shared2.s_same", rows=50)
few("s_renamed")
p("RENAME TABLE s_renamed TO t_shared2.s_was_renamed;")
# not every server moves this one, or the other back
p("ALTER TABLE s_moved_in FORCE;\nINSERT INTO s_moved_in VALUES (1001,'after');")
# what can't be had there is taken back
p("SET SESSION innodb_strict_mode = OFF;")
for name, wish in ("s_wanted_dynamic", "ROW_FORMAT=DYNAMIC"), ("s_wanted_zip", "ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=%d" % (half // 1024)), ("s_wanted_remote", "DATA DIRECTORY='{remote}'"):
    few(name, wish)
p("SET SESSION innodb_strict_mode = DEFAULT;")
few("s_moved_out")
per_table(True)
p("ALTER TABLE s_moved_out FORCE;\nINSERT INTO s_moved_out VALUES (1001,'after');")
if variant == "shared-ibdata":
    p("DROP TABLE s_filler;")

# outside the data directory
FAR = "DATA DIRECTORY='{remote}'"
few("r_plain", FAR)
few("t_shared2.r_plain", FAR, rows=60)
t = Shared("r_long", FAR + " ROW_FORMAT=DYNAMIC", 220)
t.long()
for form in "redundant", "compact":
    Shared("r_" + form, "ROW_FORMAT=%s %s" % (form.upper(), FAR), 40).long()
Shared("r_zip", ZIP + " " + FAR, 60).long()
no_pk("r_no_pk", FAR)
counted("r_auto", FAR)
p("CREATE TABLE r_part (id INT NOT NULL PRIMARY KEY, v VARCHAR(100)) ENGINE=InnoDB PARTITION BY RANGE (id)"
  " (PARTITION p0 VALUES LESS THAN (20) DATA DIRECTORY='{remote}/one', PARTITION p1 VALUES LESS THAN (40) DATA DIRECTORY='{remote}/two',"
  " PARTITION p2 VALUES LESS THAN (1000));")
p("INSERT INTO r_part SELECT n, CONCAT('part ', n) FROM t_aux.seq WHERE n < 90;\nDELETE FROM r_part WHERE id % 7 = 3;")
p("CREATE TABLE r_sub (id INT NOT NULL PRIMARY KEY, v VARCHAR(100)) ENGINE=InnoDB PARTITION BY RANGE (id) SUBPARTITION BY HASH (id)"
  " (PARTITION p0 VALUES LESS THAN (30) (SUBPARTITION s0 DATA DIRECTORY='{remote}/one', SUBPARTITION s1 DATA DIRECTORY='{remote}/two'),"
  " PARTITION p1 VALUES LESS THAN (1000) (SUBPARTITION s2 DATA DIRECTORY='{remote}/one', SUBPARTITION s3));")
p("INSERT INTO r_sub SELECT n, CONCAT('sub ', n) FROM t_aux.seq WHERE n < 70;\nDELETE FROM r_sub WHERE id % 7 = 3;")
few("r_renamed", FAR)
p("RENAME TABLE r_renamed TO t_shared2.r_was_renamed;")
few("r_truncated", FAR)
p("TRUNCATE TABLE r_truncated;\nINSERT INTO r_truncated VALUES (1,'anew');")
few("r_rebuilt", FAR)
p("ALTER TABLE r_rebuilt FORCE;\nINSERT INTO r_rebuilt VALUES (1001,'after');")
few("r_dropped", FAR)
p("DROP TABLE r_dropped;")
if instant:
    old_rows("r_instant", FAR)

# purge keeps what goes from here on, and the older versions of what changes
p("--@snapshot")
p(HEAD)
for t in tables:
    t.more(8)
p("DELETE FROM s_no_pk WHERE a % 17 = 3;\nDELETE FROM s_part WHERE id % 10 = 6;\nUPDATE r_part SET v = 'late' WHERE id % 10 = 6;\nDELETE FROM r_sub WHERE id % 10 = 6;")
p("DELETE FROM s_child WHERE id % 9 = 4;\nUPDATE s_child SET parent = 1 WHERE id % 9 = 5;")
if general:
    p("DELETE FROM g_no_pk WHERE a % 17 = 3;\nUPDATE g_same SET v = 'late' WHERE id % 10 = 6;\nDELETE FROM t_shared2.g_same WHERE id % 10 = 6;")
sys.stdout.buffer.write(("\n".join(out) + "\n").encode("utf-8"))
