#!/usr/bin/env python3
"""trim.py CORPUS: keeps of a corpus what a reader of tables needs.

Kept: the torture databases' files, general tablespaces, the system tablespace, the redo log and of
mysql.ibd the first pages (with the AUTO_INCREMENT counters of MySQL 8) and the SDI; of MySQL 8.0.12 all of it, since
some definitions are only there.  Taken away: the server's
other tables, undo tablespaces, temporary files, of encrypted corpora the tables of
fulltext indexes.  Made zero, so that it
compresses to nothing: redo records from before the last checkpoint, undo log
pages and the doublewrite buffer of the system tablespace.  After a clean shutdown none of it
is read.
"""
import os, shutil, struct, sys


def u16(b, o):
    return struct.unpack_from(">H", b, o)[0]


def u32(b, o):
    return struct.unpack_from(">I", b, o)[0]


def u64(b, o):
    return struct.unpack_from(">Q", b, o)[0]


def trim_ibdata(paths):
    # the page size is that of the server: the space's flags are of no help in old files
    page = PAGE
    number, dblwr = 0, set()
    for path in paths:
        with open(path, "r+b") as f:
            d = bytearray(f.read())
            # it is where page 5 says, in every server that made or took over a file with one
            at = 6 * page - 200 + 10
            if number == 0 and u32(d, at) == 536853855:
                for first in u32(d, at + 4), u32(d, at + 8):
                    dblwr.update(range(first, first + max(64, (1 << 20) // page)))
            for o in range(0, len(d), page):
                if u16(d, o + 24) == 2 or number in dblwr:
                    d[o:o + page] = bytes(page)
                number += 1
            f.seek(0)
            f.write(d)


def trim_log(path, header, keep):
    """Zeroes all blocks of 512 bytes of a redo log file but those that keep() names."""
    with open(path, "r+b") as f:
        d = bytearray(f.read())
        for o in range(header, len(d), 512):
            if not keep(d, o):
                d[o:o + 512] = bytes(512)
        f.seek(0)
        f.write(d)


def trim_redo(data):
    # MySQL 8.0.30 and later: files that wait to be used again have the suffix _tmp
    innodb_redo = os.path.join(data, "#innodb_redo")
    if os.path.isdir(innodb_redo):
        newest = 0
        for n in os.listdir(innodb_redo):
            p = os.path.join(innodb_redo, n)
            if n.endswith("_tmp"):
                os.remove(p)
                continue
            with open(p, "rb") as f:
                head = f.read(2048)
            newest = max(newest, u64(head, 512 + 8), u64(head, 1536 + 8))
        for n in os.listdir(innodb_redo):
            p = os.path.join(innodb_redo, n)
            with open(p, "rb") as f:
                at = 2048 + newest - u64(f.read(2048), 8)
            trim_log(p, 2048, lambda d, o: at - 4096 <= o <= at + 4096)
        return
    first = os.path.join(data, "ib_logfile0")
    with open(first, "rb") as f:
        head = f.read(16384)
    if head[:4] in (b"Phys", b"\xd0hys", b"\xf0\x9f\x97\x9d"):
        # MariaDB 10.8 and later, plain and encrypted: bytes, not blocks; the checkpoint's place follows from its LSN
        start, lsn = u64(head, 8), max(u64(head, 4096), u64(head, 8192))
        capacity = os.path.getsize(first) - 12288
        at = 12288 + (lsn - start) % capacity
        trim_log(first, 12288, lambda d, o: at - 1024 <= o <= at + 4096)
        return
    lsn = max(u64(head, 512 + 8), u64(head, 1536 + 8))
    number = (lsn // 512) & 0x3FFFFFFF
    for n in sorted(os.listdir(data)):
        if n.startswith("ib_logfile"):
            trim_log(os.path.join(data, n), 2048, lambda d, o: abs((u32(d, o) & 0x3FFFFFFF) - number) <= 8)


root = sys.argv[1]
PAGE = 16384
with open(os.path.join(root, "README")) as f:
    for line in f:
        if line.startswith("page "):
            PAGE = int(line.split()[1])
data = os.path.join(root, "data")

def real_type(d, o):
    """The type of a page of MySQL, which is elsewhere when the page is encrypted."""
    return u16(d, o + 28) if u16(d, o + 24) == 15 else u16(d, o + 24)


for n in sorted(os.listdir(data)):
    p = os.path.join(data, n)
    # .ibd and .isl: general tablespaces
    if n.startswith(("t_", "ibdata", "ib_logfile")) or n.endswith((".ibd", ".isl")) or n == "#innodb_redo":
        continue
    (shutil.rmtree if os.path.isdir(p) else os.remove)(p)
# a fulltext index's own tables are no tables of the user's; where all is encrypted they are most of the bytes
encrypted = os.path.join(data, "t_encrypted")
if os.path.isdir(encrypted):
    for n in os.listdir(encrypted):
        if n.lower().startswith("fts_"):
            os.remove(os.path.join(encrypted, n))
trim_ibdata([os.path.join(data, n) for n in sorted(os.listdir(data)) if n.startswith("ibdata")])
trim_redo(data)
mysql_ibd = os.path.join(data, "mysql.ibd")
if os.path.exists(mysql_ibd) and not os.path.basename(root).startswith("mysql-8.0.12"):
    # innodb_dynamic_metadata has its root on page 5 and its definition in the SDI
    # (index pages of type 17853, long ones' pages of types 18 and 19)
    with open(mysql_ibd, "r+b") as f:
        d = bytearray(f.read())
        # what is encrypted does not compress, and the root is among the first
        first = 6 if u32(d, 54) & 0x2000 else 16
        for o in range(first * PAGE, len(d), PAGE):
            if real_type(d, o) not in (17853, 18, 19):
                d[o:o + PAGE] = bytes(PAGE)
        f.seek(0)
        f.write(d)
