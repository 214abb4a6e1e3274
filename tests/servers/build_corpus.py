#!/usr/bin/env python3
"""build_corpus.py [--only PATTERN] [--torture DIR] [--small] VERSION [VARIANT] OUT

Starts a new server of VERSION, loads the torture schema, writes what the server
says about every InnoDB table of it, shuts the server down cleanly and leaves

  OUT/data/                     the data directory
  OUT/tables.tsv                a line for each table: hex of the database's name,
                                hex of the table's name, both as file names, flags
  OUT/expected/DB/TABLE.txt         SELECT * ... INTO OUTFILE, in clustered key order
  OUT/expected/DB/TABLE.create.sql  SHOW CREATE TABLE, the raw bytes
  OUT/expected/DB/TABLE.checksum    CHECKSUM TABLE
  OUT/expected/DB/TABLE.count       COUNT(*)
  OUT/expected/DB/TABLE.opts-N.txt  INTO OUTFILE with the options of line N of
  OUT/opts.tsv
  OUT/README                    versions, options, how it was made

DB and TABLE are the server's own file names.  VARIANT is one of VARIANTS below.

The torture schema is a folder of NN_theme.sql and NN_theme.py files, taken in
order.  A .py file prints SQL; it is given family, version and page size as
arguments and the names of the server's character sets, one a line, on stdin.
In the SQL these lines are read here:

  -- needs: COND        (in the first lines) the file is left out unless COND
  --@if COND, --@else, --@endif
  --@snapshot           opens a snapshot that is held until the shutdown, so that
                        purge keeps what is deleted after it
COND is alternatives, separated by '|', of words that must all hold:
mysql  mariadb  mysql>=8.0.29  mariadb<10.4  page>=16384  small (with --small)  full (without)
Any error in loading ends the build.
"""
import os, re, shutil, subprocess, sys, time

sys.dont_write_bytecode = True
from filename_codes import CODES

FILE_CODES = {first + i // 2: codes[i:i + 2] for first, codes in CODES.items() for i in range(0, len(codes), 2)}
HERE = os.path.dirname(os.path.abspath(__file__))
VARIANTS = {
    "page4k": ["--innodb-page-size=4k"],
    "page8k": ["--innodb-page-size=8k"],
    "page32k": ["--innodb-page-size=32k"],
    "page64k": ["--innodb-page-size=64k"],
    "crc32": ["--innodb-checksum-algorithm=crc32"],
    "strict_crc32": ["--innodb-checksum-algorithm=strict_crc32"],
    "innodb": ["--innodb-checksum-algorithm=innodb"],
    "none": ["--innodb-checksum-algorithm=none"],
    "full_crc32": ["--innodb-checksum-algorithm=full_crc32"],
}
# what is written with other options of INTO OUTFILE, for tables of at most this size
OPTS_LIMIT = 64 << 10
OPTS = [
    r"""FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '"' ESCAPED BY '\\' LINES TERMINATED BY '\r\n'""",
    r"""FIELDS TERMINATED BY ';' ENCLOSED BY '\'' LINES STARTING BY '>' TERMINATED BY '\n'""",
    r"""FIELDS TERMINATED BY '\t' ESCAPED BY '' LINES TERMINATED BY '\n'""",
    r"""FIELDS TERMINATED BY ',' ENCLOSED BY '"' ESCAPED BY '"' LINES TERMINATED BY '\n'""",
    r"""FIELDS TERMINATED BY '||' ESCAPED BY '!' LINES TERMINATED BY 'EOL\n'""",
]
SESSION = ("SET NAMES utf8mb4; SET time_zone = '+00:00'; SET timestamp = 1700000000.123456;"
           " SET sql_mode = 'NO_ENGINE_SUBSTITUTION';\n")


def die(msg):
    sys.exit("build_corpus: " + msg)


def version_tuple(s):
    return tuple(int(x) for x in re.findall(r"\d+", s)[:3])


class Server:
    def __init__(self, name, directory, options):
        self.name, self.dir, self.options = name, directory, options
        self.sock = None

    def cmd(self, *args, **kw):
        return subprocess.run([os.path.join(HERE, "server.sh"), self.name, *args], check=True, **kw)

    def init(self):
        self.cmd("init", self.dir, *self.options)

    def start(self):
        self.cmd("start", self.dir)
        self.sock = self.cmd("socket", self.dir, stdout=subprocess.PIPE).stdout.decode().strip()

    def stop(self):
        self.cmd("stop", self.dir)

    def client(self, *args):
        return ["mariadb", "--no-defaults", "--skip-ssl", "-uroot", "-S", self.sock,
                "--default-character-set=utf8mb4", "--max-allowed-packet=64M", *args]

    def sql(self, text, *args):
        """Runs SQL; dies on any error.  Returns what the client printed."""
        if isinstance(text, str):
            text = text.encode("utf-8")
        p = subprocess.run(self.client("--binary-mode", *args), input=SESSION.encode() + text,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if p.returncode:
            raise RuntimeError(p.stderr.decode("utf-8", "replace"))
        return p.stdout

    def rows(self, text):
        out = self.sql(text, "-N", "-B")
        return [line.split("\t") for line in out.decode("utf-8").splitlines()]


class Gate:
    """Decides COND for one server."""

    def __init__(self, family, version, page, small):
        self.family, self.version, self.page, self.small = family, version, page, small

    def word(self, w):
        if w in ("full", "small"):
            return self.small == (w == "small")
        m = re.fullmatch(r"([a-z]+)(?:(>=|<=|<|>|=)([0-9.]+))?", w)
        if not m:
            die("condition: %r" % w)
        name, op, val = m.groups()
        if name == "page":
            have, want = (self.page,), (int(val),)
        elif name in ("mysql", "mariadb"):
            if name != self.family:
                return False
            if op is None:
                return True
            want = version_tuple(val)
            have = self.version[:len(want)] if op == "=" else self.version
        else:
            die("condition: %r" % w)
        return {">=": have >= want, "<=": have <= want, "<": have < want, ">": have > want, "=": have == want}[op]

    def cond(self, text):
        return any(all(self.word(w) for w in alt.split()) for alt in text.split("|"))

    def filter(self, text, where):
        """The parts of a file that hold for this server, split at --@snapshot."""
        parts, out, stack = [], [], []
        for line in text.split(b"\n"):
            if line.startswith(b"-- needs:"):
                if not self.cond(line[9:].decode()):
                    return []
            elif line.startswith(b"--@if "):
                stack.append(self.cond(line[6:].decode()))
            elif line.startswith(b"--@else"):
                stack[-1] = not stack[-1]
            elif line.startswith(b"--@endif"):
                stack.pop()
            elif line.startswith(b"--@snapshot"):
                if all(stack):
                    parts.append(b"\n".join(out))
                    out = []
            elif line.startswith(b"--@"):
                die("%s: %r" % (where, line))
            elif all(stack):
                # every MariaDB knows PERSISTENT, MySQL only STORED
                out.append(line.replace(b" PERSISTENT", b" STORED") if self.family == "mysql" else line)
            else:
                out.append(b"")
        if stack:
            die(where + ": --@if without --@endif")
        return parts + [b"\n".join(out)]


def file_name(name):
    """The server's file name encoding of an identifier."""
    # names of devices on another system get a tail
    if re.fullmatch(r"(?i)con|prn|aux|nul|com[1-9]|lpt[1-9]", name):
        return name + "@@@"
    out = []
    for c in name:
        if c.isascii() and (c.isalnum() or c == "_"):
            out.append(c)
        else:
            out.append("@" + FILE_CODES.get(ord(c), "%04x" % ord(c)))
    return "".join(out)


def ident(name):
    return "`" + name.replace("`", "``") + "`"


def quote(s):
    return "'" + s.replace("\\", "\\\\").replace("'", "\\'") + "'"


def load(server, gate, folder, only):
    charsets = "\n".join(r[0] for r in server.rows("SELECT character_set_name FROM information_schema.character_sets ORDER BY 1"))
    snapshots = []
    for name in sorted(os.listdir(folder)):
        if not re.match(r"\d\d.*\.(sql|py)$", name):
            continue
        if only and not re.search(only, name) and not name.startswith("00"):
            continue
        path = os.path.join(folder, name)
        if name.endswith(".py"):
            text = subprocess.run([sys.executable, path, gate.family, ".".join(map(str, gate.version)), str(gate.page)],
                                  input=charsets.encode(), stdout=subprocess.PIPE, check=True).stdout
        else:
            with open(path, "rb") as f:
                text = f.read()
        start = time.time()
        for n, part in enumerate(gate.filter(text, name)):
            if n:
                p = subprocess.Popen(server.client("-N", "--unbuffered"), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
                p.stdin.write(b"SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ; START TRANSACTION WITH CONSISTENT SNAPSHOT; SELECT 'open';\n")
                p.stdin.flush()
                p.stdout.readline()
                snapshots.append(p)
            try:
                server.sql(part)
            except RuntimeError as e:
                die("%s, part %d: %s" % (name, n + 1, e))
        print("  %-28s %5.1f s" % (name, time.time() - start), flush=True)
    server.sql("DROP DATABASE t_aux;")
    return snapshots


def definitions(server, exp, tables, checksums):
    """Writes SHOW CREATE TABLE, raw, and CHECKSUM TABLE."""
    mark = "@@innoscan-mark@@"
    script = []
    for db, table, fdb, ftable, flags in tables:
        t = ident(db) + "." + ident(table)
        script.append("CHECKSUM TABLE %s; SELECT '%s'; SET character_set_results = NULL; SHOW CREATE TABLE %s; SET character_set_results = utf8mb4; SELECT '%s';" % (t, mark, t, mark))
    got = server.sql("\n".join(script), "-N", "-B", "-r").split(mark.encode() + b"\n")
    if len(got) != 2 * len(tables) + 1:
        die("%d answers for %d tables" % (len(got), len(tables)))
    for i, (db, table, fdb, ftable, flags) in enumerate(tables):
        base = os.path.join(exp, fdb, ftable)
        checksum = got[2 * i].rstrip(b"\n").rsplit(b"\t", 1)[1]
        create = got[2 * i + 1]
        head = table.encode("utf-8") + b"\t"
        if not create.startswith(head) or not create.endswith(b"\n") or not checksum.isdigit():
            die("%s.%s: %r %r" % (db, table, checksum, create[:200]))
        if checksums:
            with open(base + ".checksum", "wb") as f:
                f.write(checksum + b"\n")
        with open(base + ".create.sql", "wb") as f:
            f.write(create[len(head):-1])


def capture(server, gate, out):
    rows = server.rows(r"""
      SELECT HEX(CONVERT(t.table_schema USING utf8)), HEX(CONVERT(t.table_name USING utf8)),
             t.table_type, IFNULL(t.row_format,''), IFNULL(t.create_options,''),
             (SELECT COUNT(*) FROM information_schema.columns c WHERE c.table_schema = t.table_schema AND c.table_name = t.table_name
               AND c.extra LIKE '%VIRTUAL%')
        FROM information_schema.tables t
       WHERE t.engine = 'InnoDB' AND t.table_schema LIKE 't\_%' AND t.table_type IN ('BASE TABLE', 'SYSTEM VERSIONED')
       ORDER BY 1, 2""")
    tables = []
    for r in rows:
        db, table = (bytes.fromhex(x).decode("utf-8") for x in r[:2])
        fdb, ftable = file_name(db), file_name(table)
        flags = []
        if "partitioned" in r[4]:
            flags.append("partitioned")
        if r[3].lower() == "compressed":
            flags.append("compressed")
        if re.search(r"page_compressed`?=(1|on|'1'|'on')|compression=\"?(zlib|lz4)", r[4], re.I):
            flags.append("page_compressed")
        if db == "t_refused":
            flags.append("refused")
        if r[2] == "SYSTEM VERSIONED":
            flags.append("versioned")
        if r[5] != "0":
            flags.append("virtual")
        tables.append((db, table, fdb, ftable, flags))
    if not tables:
        die("no tables")
    exp = os.path.join(out, "expected")
    script, explain = [], []
    for db, table, fdb, ftable, flags in tables:
        os.makedirs(os.path.join(exp, fdb), exist_ok=True)
        base = os.path.join(exp, fdb, ftable)
        t = ident(db) + "." + ident(table)
        frm = t + " USE INDEX ()"
        explain.append("EXPLAIN %sSELECT * FROM %s;" % ("FORMAT=TRADITIONAL " if gate.family == "mysql" else "", frm))
        script.append("SELECT * FROM %s INTO OUTFILE %s;" % (frm, quote(base + ".txt")))
        script.append("SELECT COUNT(*) FROM %s INTO OUTFILE %s;" % (frm, quote(base + ".count")))
    # the whole clustered index is read, in its own order
    plan = server.sql("\n".join(explain), "-B").decode("utf-8", "replace").splitlines()
    header = None
    for line in plan:
        cells = line.split("\t")
        if cells[0] == "id":
            header = cells
        elif cells[header.index("key")] != "NULL" or cells[header.index("type")] not in ("ALL", "NULL", "system"):
            die("not a full scan: " + line)
    server.sql("\n".join(script))
    definitions(server, exp, tables, checksums=True)
    script = []
    for db, table, fdb, ftable, flags in tables:
        base = os.path.join(exp, fdb, ftable)
        if os.path.getsize(base + ".txt") <= OPTS_LIMIT and fdb in (("t_types",) if gate.small else ("t_types", "t_charset", "t_json", "t_rows")):
            for n, o in enumerate(OPTS, 1):
                script.append("SELECT * FROM %s.%s USE INDEX () INTO OUTFILE %s %s;" % (ident(db), ident(table), quote("%s.opts-%d.txt" % (base, n)), o))
    if script:
        server.sql("\n".join(script))
    with open(os.path.join(out, "opts.tsv"), "w") as f:
        for n, o in enumerate(OPTS, 1):
            f.write("%d\t%s\n" % (n, o))
    return tables


def write_tables(out, tables):
    """The list of what is there."""
    with open(os.path.join(out, "tables.tsv"), "w") as f:
        for db, table, fdb, ftable, flags in tables:
            f.write("\t".join([db.encode("utf-8").hex(), table.encode("utf-8").hex(), fdb, ftable, ",".join(flags) or "-"]) + "\n")


def retake_definitions(name, new, options, tables):
    """SHOW CREATE TABLE of a second server on a copy of the files: the old servers keep
    AUTO_INCREMENT in memory and find it anew at the first use after a start."""
    copy = os.path.join(new, "copy")
    os.makedirs(copy)
    shutil.copytree(os.path.join(new, "data"), os.path.join(copy, "data"), symlinks=True)
    with open(os.path.join(copy, "options"), "w") as f:
        f.write("\n".join(options) + "\n")
    server = Server(name, copy, options)
    server.start()
    try:
        definitions(server, os.path.join(new, "expected"), tables, checksums=False)
    finally:
        server.stop()
    shutil.rmtree(copy)


def main():
    args, only, folder, small = [], None, os.path.join(HERE, "..", "torture"), False
    it = iter(sys.argv[1:])
    for a in it:
        if a == "--only":
            only = next(it)
        elif a == "--torture":
            folder = next(it)
        elif a == "--small":
            small = True
        else:
            args.append(a)
    if len(args) not in (2, 3):
        die("usage: " + __doc__.splitlines()[0])
    name, variant, out = args[0], (args[1] if len(args) == 3 else None), os.path.abspath(args[-1])
    if variant and variant not in VARIANTS:
        die("variant: one of " + " ".join(sorted(VARIANTS)))
    options = ["--default-time-zone=+00:00", "--character-set-server=utf8mb4"] + (VARIANTS[variant] if variant else [])
    if small:
        options.append("--innodb-redo-log-capacity=16M" if name in ("mysql-8.0.33", "mysql-9.7") else "--innodb-log-file-size=10M")
    new = out + ".new"
    shutil.rmtree(new, ignore_errors=True)
    os.makedirs(new)
    server = Server(name, os.path.join(new, "run"), options)
    print("%s%s" % (name, " " + variant if variant else ""), flush=True)
    server.init()
    server.start()
    try:
        version, page = server.rows("SELECT VERSION(), @@innodb_page_size")[0]
        gate = Gate("mariadb" if "mariadb" in version.lower() else "mysql", version_tuple(version), int(page), small)
        server.sql("SET GLOBAL innodb_fast_shutdown = 1; SET GLOBAL innodb_purge_batch_size = 1;")
        snapshots = load(server, gate, folder, only)
        tables = capture(server, gate, new)
    finally:
        server.stop()
    for p in snapshots:
        p.stdin.close()
        p.wait()
    data = os.path.join(new, "data")
    os.rename(os.path.join(server.dir, "data"), data)
    shutil.rmtree(server.dir)
    for f in os.listdir(data):
        if f.endswith(".pem"):
            os.remove(os.path.join(data, f))
        elif f.startswith("ib_logfile"):
            subprocess.run(["fallocate", "-d", os.path.join(data, f)], check=False)
    for db, table, fdb, ftable, flags in tables:
        files = [f for f in os.listdir(os.path.join(data, fdb)) if f == ftable + ".ibd" or f.lower().startswith(ftable.lower() + "#p#")]
        if not files and "refused" not in flags:
            die("no file for %s/%s" % (fdb, ftable))
        # PARTITION BY KEY () has no word in create_options
        if ftable + ".ibd" not in files and files and "partitioned" not in flags:
            flags.append("partitioned")
    write_tables(new, tables)
    if gate.cond("mysql<8.0 | mariadb<10.2.4"):
        retake_definitions(name, new, options, tables)
    with open(os.path.join(new, "README"), "w") as f:
        f.write("server   %s (%s)\nvariant  %s\npage     %s\noptions  %s\ntables   %d\nmade by  tests/servers/build_corpus.sh %s\n"
                "SELECT * ... USE INDEX () INTO OUTFILE, SHOW CREATE TABLE, CHECKSUM TABLE and COUNT(*) were taken with time_zone = '+00:00'\n"
                "(SHOW CREATE TABLE with character_set_results = NULL), then the server was shut down cleanly (innodb_fast_shutdown = 1).\n"
                % (version, name, variant or "-", page, " ".join(options), len(tables), " ".join(sys.argv[1:])))
    old = out + ".old"
    shutil.rmtree(old, ignore_errors=True)
    if os.path.exists(out):
        os.rename(out, old)
    os.rename(new, out)
    shutil.rmtree(old, ignore_errors=True)
    print("  %d tables, %d MB" % (len(tables), sum(os.path.getsize(os.path.join(d, f)) for d, _, fs in os.walk(out) for f in fs) >> 20))


main()
