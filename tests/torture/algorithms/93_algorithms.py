"""MariaDB's page compression by each of its six algorithms; the tables of the theme 92_zip.

A folder of its own (build_corpus.sh --torture): the server needs the packages mariadb-plugin-provider-*."""
import os, sys

here = os.path.dirname(os.path.abspath(__file__))
source = open(os.path.join(here, "..", "92_zip.py"), encoding="utf-8").read()
head, cut, _ = source.partition("\ntables = []")
assert cut
exec(compile(head, "92_zip.py", "exec"))
out[0] = "-- needs: mariadb>=10.7"
for name in ("bzip2", "lz4", "lzma", "lzo", "snappy"):
    p("INSTALL SONAME 'provider_%s';" % name)
FLUSH = "FLUSH TABLES %s FOR EXPORT;\nUNLOCK TABLES;"
names = ["zlib", "lz4", "lzo", "lzma", "bzip2", "snappy"]
tables = []
for name in names:
    p("SET GLOBAL innodb_compression_algorithm = %s;" % name)
    tables.append(Random("pc_" + name, "PAGE_COMPRESSED=1", False))
    p(FLUSH % ("pc_" + name))
# the variable changes while the table is filled: in the old format each page is of the day it was written
p("SET GLOBAL innodb_compression_algorithm = zlib;")
mixed = Random("pc_mixed", "PAGE_COMPRESSED=1", False)
p(FLUSH % "pc_mixed")
for name in names[1:] + ["none"] + names[:2]:
    p("SET GLOBAL innodb_compression_algorithm = %s;" % name)
    mixed.more(6)
    # a value of this algorithm's own, on pages of its own
    p("INSERT INTO pc_mixed VALUES (%d,'%s',1,'c',1,RPAD('',51000,'%s '),LEFT(@noise,30000));" % (60000 + len(out), name, name))
    p(FLUSH % "pc_mixed")
p("--@snapshot")
p(HEAD)
for name, table in zip(names, tables):
    p("SET GLOBAL innodb_compression_algorithm = %s;" % name)
    table.more(16)
    p(FLUSH % ("pc_" + name))
p("SET GLOBAL innodb_compression_algorithm = bzip2;")
mixed.more(6)
p(FLUSH % "pc_mixed")
sys.stdout.buffer.write(("\n".join(out) + "\n").encode("utf-8"))
