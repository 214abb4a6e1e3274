"""The most columns a table can have, and the longest rows."""
import sys

family, version, page = sys.argv[1], tuple(map(int, sys.argv[2].split("."))), int(sys.argv[3])
out = ["CREATE DATABASE t_wide CHARACTER SET latin1;", "USE t_wide;", "SET sql_mode = 'NO_ENGINE_SUBSTITUTION';"]
p = out.append
if page >= 16384:
    kinds = ["INT", "VARCHAR(20)", "TINYINT NOT NULL", "CHAR(2)", "DATE", "DECIMAL(6,2)"]
    cols = ["`c%d` %s" % (i, kinds[i % 6]) for i in range(1016)]
    p("CREATE TABLE c1017 (id INT NOT NULL PRIMARY KEY, %s) ENGINE=InnoDB;" % ", ".join(cols))
    for row in range(5):
        vals = []
        for i in range(1016):
            v = [str(i * row), "'v%d'" % i, str(i % 100), "'x'", "'2020-01-%02d'" % (i % 28 + 1), "%d.5" % (i % 1000)][i % 6]
            if i % 6 != 2 and (i + row) % (row + 2) == 0:
                v = "NULL"
            vals.append(v)
        p("INSERT INTO c1017 VALUES (%d,%s);" % (row, ",".join(vals)))
    p("CREATE TABLE c1017_redundant (id INT NOT NULL PRIMARY KEY, %s) ENGINE=InnoDB ROW_FORMAT=REDUNDANT;" % ", ".join(c.replace("VARCHAR(20)", "VARCHAR(9)").replace("DECIMAL(6,2)", "TINYINT") for c in cols))
    p("INSERT INTO c1017_redundant SELECT * FROM c1017;")
    # as many off-page columns as a row may refer to
    n = 196 if page == 16384 else 190
    p("CREATE TABLE blobs (id INT NOT NULL PRIMARY KEY, %s) ENGINE=InnoDB ROW_FORMAT=DYNAMIC;" % ", ".join("b%d BLOB" % i for i in range(n)))
    p("INSERT INTO blobs VALUES (1,%s);" % ",".join("REPEAT('%c',%d)" % (65 + i % 26, i * 7) for i in range(n)))
    p("INSERT INTO blobs VALUES (2,%s);" % ",".join("REPEAT('%c',%d)" % (97 + i % 26, 3000 + i) for i in range(n)))
# rows of nearly 64 KB, all within the record but what is pushed out
p("CREATE TABLE row64k (id INT NOT NULL PRIMARY KEY, a VARBINARY(20000), b VARBINARY(20000), c VARBINARY(20000), d VARBINARY(5400)) ENGINE=InnoDB ROW_FORMAT=DYNAMIC;")
p("INSERT INTO row64k VALUES (1,REPEAT('a',20000),REPEAT('b',20000),REPEAT('c',20000),REPEAT('d',5400)),(2,'','','',''),(3,REPEAT('a',7000),NULL,REPEAT('c',200),NULL);")
full = {4096: 1900, 8192: 3900, 16384: 8000, 32768: 16200, 65536: 16200}[page]
if page <= 16384:
    # the fullest record that stays within its page
    p("CREATE TABLE fullest (id INT NOT NULL PRIMARY KEY, %s) ENGINE=InnoDB ROW_FORMAT=DYNAMIC;" % ", ".join("c%d CHAR(200) NOT NULL" % i for i in range(full // 200)))
    p("INSERT INTO fullest SELECT n, %s FROM t_aux.seq WHERE n < 20;" % ", ".join("REPEAT(CHAR(97 + n), 200)" for i in range(full // 200)))
sys.stdout.write("\n".join(out) + "\n")
