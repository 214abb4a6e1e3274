#!/usr/bin/env python3
"""trim.py CORPUS: keeps of a corpus what a reader of tables needs.

Kept: the torture databases' files, ibdata1, the redo log and of
mysql.ibd the first pages (with the AUTO_INCREMENT counters of MySQL 8) and the SDI.  Taken away: the server's
other tables, undo tablespaces, temporary files.  Made zero, so that it
compresses to nothing: redo records from before the last checkpoint, undo log
pages and the doublewrite buffer of ibdata1.  After a clean shutdown none of it
is read.
"""
import os, shutil, struct, sys


def u16(b, o):
    return struct.unpack_from(">H", b, o)[0]


def u32(b, o):
    return struct.unpack_from(">I", b, o)[0]


def u64(b, o):
    return struct.unpack_from(">Q", b, o)[0]


def trim_ibdata(path):
    with open(path, "r+b") as f:
        d = bytearray(f.read())
        # the page size is that of the server: the space's flags are of no help in old files
        page = PAGE
        for o in range(0, len(d), page):
            dblwr = 64 <= o // page < 64 + 2 * ((1 << 20) // page) and page == 16384
            if u16(d, o + 24) == 2 or dblwr:
                d[o:o + page] = bytes(page)
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
        for n in os.listdir(innodb_redo):
            if n.endswith("_tmp"):
                os.remove(os.path.join(innodb_redo, n))
        return
    first = os.path.join(data, "ib_logfile0")
    with open(first, "rb") as f:
        head = f.read(16384)
    if head[:4] == b"Phys":
        # MariaDB 10.8 and later: bytes, not blocks; the checkpoint's place follows from its LSN
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
for n in sorted(os.listdir(data)):
    p = os.path.join(data, n)
    if n.startswith("t_") or n in ("ibdata1", "mysql.ibd") or n.startswith("ib_logfile") or n == "#innodb_redo":
        continue
    (shutil.rmtree if os.path.isdir(p) else os.remove)(p)
# tables in shared tablespaces live outside their folder and are to be refused anyhow
trim_ibdata(os.path.join(data, "ibdata1"))
trim_redo(data)
mysql_ibd = os.path.join(data, "mysql.ibd")
if os.path.exists(mysql_ibd):
    # innodb_dynamic_metadata has its root on page 5 and its definition in the SDI
    # (index pages of type 17853, long ones' pages of types 18 and 19)
    with open(mysql_ibd, "r+b") as f:
        d = bytearray(f.read())
        for o in range(16 * PAGE, len(d), PAGE):
            if u16(d, o + 24) not in (17853, 18, 19):
                d[o:o + PAGE] = bytes(PAGE)
        f.seek(0)
        f.write(d)
