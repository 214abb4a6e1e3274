#!/usr/bin/env python3
"""build_corpus.py [--only PATTERN] [--torture DIR] [--small] [--upgrade CORPUS] VERSION [VARIANT] OUT

Starts a new server of VERSION, loads the torture schema, writes what the server
says about every InnoDB table of it, shuts the server down cleanly and leaves

  OUT/data/                     the data directory
  OUT/tables.tsv                a line for each table: hex of the database's name,
                                hex of the table's name, both as file names, flags
  OUT/expected/DB/TABLE.txt         SELECT * ... INTO OUTFILE, in clustered key order
  OUT/expected/DB/TABLE.create.sql  SHOW CREATE TABLE, the raw bytes
  OUT/expected/DB/TABLE.checksum    CHECKSUM TABLE
  OUT/expected/DB/TABLE.stored      the checksum of the stored columns, by the query of docs/restore.md; none for
                                    versioned tables
  OUT/expected/DB/TABLE.count       COUNT(*)
  OUT/expected/DB/TABLE.opts-N.txt  INTO OUTFILE with the options of line N of
  OUT/opts.tsv
  OUT/README                    versions, options, how it was made

and of servers with keys

  OUT/keys/                     the keys, for tests only
  OUT/source-options            the options for innoscan, one a line; {corpus} is OUT
  OUT/server-options            the same for server.sh: another server that can encrypt
  OUT/exported/                 of MySQL, files of FLUSH TABLES t_encrypted.exported FOR EXPORT,
                                from before the last change of the master key

of the variants shared*

  OUT/remote/                   what lies outside the data directory; README has its path of then
  OUT/source-options            where innoscan finds that
  OUT/places.tsv                a line for each table and partition: its name in the dictionary, the number
                                of its tablespace there, its flags, the file that has that number, from OUT
                                ('-' for the system tablespace), the path in the dictionary if it says one

DB and TABLE are the server's own file names.  VARIANT is one of VARIANTS below.

The torture schema is a folder of NN_theme.sql and NN_theme.py files, taken in
order, or with --upgrade nothing is loaded: the new server takes over what CORPUS of an older one
has, but partitioned tables in general tablespaces.  A .py file prints SQL; it is given family, version, page size and variant
("-" without one) as arguments and the names of the server's character sets, one a line, on stdin.
{remote} in them is the path of OUT/remote.
In the SQL these lines are read here:

  -- needs: COND        (in the first lines) the file is left out unless COND
  --@if COND, --@else, --@endif
  --@snapshot           opens a snapshot that is held until the shutdown, so that
                        purge keeps what is deleted after it
COND is alternatives, separated by '|', of words that must all hold:
mysql  mariadb  mysql>=8.0.29  mariadb<10.4  page>=16384  small (with --small)  full (without)
Any error in loading ends the build.
"""
import glob, os, re, shutil, subprocess, sys, time

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
# Servers with keys: {keys} is the folder of the corpus that has them.
ALL_LOGS = ["--innodb-undo-log-encrypt=ON", "--innodb-redo-log-encrypt=ON"]
TDE_COMPONENT = ["--keyring-component={keys}/component_keyring_file"] + ALL_LOGS
CTR = "--file-key-management-encryption-algorithm=aes_ctr"
# 10.5 and later: full_crc32
ENC = ["--plugin-load-add=file_key_management", "--file-key-management-filename={keys}/keys.txt"]
ENC_CTR = ["--plugin-load-add=file_key_management", "--file-key-management-filename={keys}/keys.enc",
           "--file-key-management-filekey=FILE:{keys}/filekey", CTR]
VARIANTS.update({
    "tde-component": TDE_COMPONENT,
    "tde-component-page4k": TDE_COMPONENT + VARIANTS["page4k"],
    "tde-plugin": ["--early-plugin-load=keyring_file.so", "--keyring-file-data={keys}/keyring"] + ALL_LOGS,
    "enc": ENC,
    "enc-page4k": ENC + VARIANTS["page4k"],
    "enc-page64k": ENC + VARIANTS["page64k"],
    "enc-ctr": ENC_CTR,
    "enc-crc32": ENC + ["--innodb-undo-tablespaces=2"] + VARIANTS["crc32"],
    # with undo in the system tablespace
    "enc-crc32-ctr": ENC + [CTR] + VARIANTS["crc32"],
    # the system tablespace, undo tablespaces, the server's own tables, the redo log
    "enc-all": ENC + ["--innodb-undo-tablespaces=2", "--innodb-encrypt-tables=ON", "--innodb-encryption-threads=2", "--innodb-encrypt-log=ON"],
    # stopped while a table is being encrypted
    "enc-half": ENC,
})
# Tables in shared tablespaces and outside the data directory: {remote} is the folder of the corpus that
# has the latter. Old servers need no option for that and know none. The system tablespace gets no larger than it must.
SHARED = ["--loose-innodb-directories={remote}", "--innodb-autoextend-increment=1"]
VARIANTS.update({
    "shared": SHARED,
    "shared-page4k": SHARED + VARIANTS["page4k"],
    # a system tablespace of two files
    "shared-ibdata": SHARED + ["--innodb-data-file-path=ibdata1:12M;ibdata2:5M:autoextend"],
    # with an encrypted general tablespace; with an encrypted system tablespace
    "shared-tde": SHARED + VARIANTS["tde-component"],
    "shared-enc": SHARED + VARIANTS["enc-all"],
})
# Test keys of 128, 192 and 256 bits; a MySQL server makes its own.
KEY_LINES = b"""# test keys
1;8f3a1c5d7e902b4466a1d0e3f5c79b28

  2;0b1e2d3c4f5a69788796a5b4c3d2e1f00f1e2d3c4b5a6978
3;c0ffee00112233445566778899aabbccddeeff0123456789abcdef9876543210 of 256 bits
# the last
"""
FILE_KEY = b"a password for tests, not a secret\n"
FILE_SALT = bytes.fromhex("5a17c0de00facade")
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

    def take(self, data):
        """A copy of another server's directory instead of a new one."""
        os.makedirs(self.dir)
        shutil.copytree(data, os.path.join(self.dir, "data"), symlinks=True)
        self.remember()

    def remember(self):
        """Its options, for every start."""
        with open(os.path.join(self.dir, "options"), "w") as f:
            f.write("\n".join(self.options) + "\n")

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


def fill_keys(folder, options):
    """Makes the folder of keys, with the files that a server wants to find."""
    os.makedirs(folder)

    def put(name, data):
        with open(os.path.join(folder, name), "wb") as f:
            f.write(data)
    if any("{keys}/keys." in o for o in options):
        put("keys.txt", KEY_LINES)
    if any("{keys}/filekey" in o for o in options):
        put("filekey", FILE_KEY)
        if not shutil.which("openssl"):
            die("openssl is missing: apt-get install openssl")
        # with a salt of its own, openssl 3 leaves the head out that older ones write; the servers want SHA-1
        p = subprocess.run(["openssl", "enc", "-aes-256-cbc", "-md", "sha1", "-S", FILE_SALT.hex(),
                            "-pass", "file:" + os.path.join(folder, "filekey")],
                           input=KEY_LINES, stdout=subprocess.PIPE, check=True)
        head = b"Salted__" + FILE_SALT
        put("keys.enc", p.stdout if p.stdout.startswith(head) else head + p.stdout)
        os.remove(os.path.join(folder, "keys.txt"))


def source_options(options):
    """What innoscan is to be told to read the files of a server with these options."""
    out = []
    for o in options:
        name, _, value = o.partition("=")
        if name in ("--keyring-component", "--keyring-file-data"):
            out.append("--keyring=" + value)
        elif name.startswith("--file-key-management-"):
            out.append(o)
        elif name == "--loose-innodb-directories":
            out.append("--innodb-directories=" + value)
    return out


def wait_for(what, done):
    """Polls until done() is true."""
    end = time.time() + int(os.environ.get("INNOSCAN_DEADLINE", "120"))
    while not done():
        if time.time() > end:
            die("no " + what)
        time.sleep(0.02)


def all_encrypted(server):
    """Waits until the server has encrypted all that it is to encrypt."""
    def done():
        # a table that is not to be encrypted has scheme 0
        state = {space: (scheme, least, turning) for space, scheme, least, turning in server.rows(
            "SELECT space, encryption_scheme, min_key_version, rotating_or_flushing FROM information_schema.innodb_tablespaces_encryption")}
        spaces = server.rows("SELECT space FROM information_schema.innodb_sys_tablespaces WHERE name <> 'innodb_temporary'")
        return all(state.get(space) == ("1", "1", "0") or space in state and state[space][0] == "0" for space, in [("0",)] + spaces)
    wait_for("encryption of all", done)


def late_encrypted(server):
    """What was made without encryption is encrypted in the background."""
    server.sql("SET GLOBAL innodb_encrypt_tables = ON; SET GLOBAL innodb_encryption_threads = 1;")
    all_encrypted(server)


def half_encrypted(server):
    """Has the one table that is left encrypted in the background, until it is done in part."""
    where = "FROM information_schema.innodb_tablespaces_encryption WHERE name = 't_encrypted/half_dynamic'"

    def done():
        # some pages at a time; all take some milliseconds, so the server itself has to look
        server.sql("""SET GLOBAL innodb_encrypt_tables = OFF; ALTER TABLE t_encrypted.half_dynamic FORCE;
FLUSH TABLES t_encrypted.half_dynamic FOR EXPORT; UNLOCK TABLES;
SET GLOBAL innodb_encryption_rotation_iops = 1; SET GLOBAL innodb_encrypt_tables = ON; SET @left = 20000;
DELIMITER //
BEGIN NOT ATOMIC
  SET GLOBAL innodb_encryption_threads = 1;
  WHILE @left > 0 AND NOT EXISTS (SELECT * %s AND (key_rotation_page_number > 1 OR min_key_version = 1))
    DO SET @left = @left - 1; END WHILE;
  SET GLOBAL innodb_encryption_threads = 0;
END //
""" % where)
        return server.rows("SELECT min_key_version " + where) == [["0"]]
    wait_for("half of an encryption", done)


BEFORE_STOP = {"enc-all": all_encrypted, "shared-enc": all_encrypted, "enc-half": half_encrypted, "enc-crc32": late_encrypted, "enc-crc32-ctr": late_encrypted}


def export(server, out):
    """Copies what the server gives away of one table, then changes its master key."""
    os.makedirs(out)
    with subprocess.Popen(server.client("-N", "--unbuffered"), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as p:
        p.stdin.write(b"FLUSH TABLES t_encrypted.exported FOR EXPORT; SELECT 'held';\n")
        p.stdin.flush()
        if p.stdout.readline() != b"held\n":
            die("nothing exported")
        for ending in "ibd", "cfp", "cfg":
            shutil.copy(os.path.join(server.dir, "data", "t_encrypted", "exported." + ending), out)
        p.stdin.write(b"UNLOCK TABLES;\n")
    server.sql("ALTER INSTANCE ROTATE INNODB MASTER KEY;")


def encrypted_pages(path, page, family):
    """How many pages of a file are encrypted, and how many that could be are not."""
    with open(path, "rb") as f:
        d = f.read()

    def number(at, size):
        return int.from_bytes(d[at:at + size], "big")
    flags = number(54, 4)
    full_crc32 = family == "mariadb" and flags & 0x10
    if not full_crc32 and flags >> 1 & 15:
        page = 512 << (flags >> 1 & 15)
    keyed = bytes.fromhex("730e0c524574") in d[:page]
    counts = [0, 0]
    for o in range(page, len(d), page):
        kind = number(o + 24, 2)
        # free pages and those that say which are free or used
        if kind in (0, 8, 9) or not any(d[o:o + page]):
            continue
        if family == "mysql":
            yes = kind in (15, 16, 17)
        else:
            # in the older form these have another number in that place and are never encrypted
            if not full_crc32 and kind == 17854:
                continue
            yes = keyed and number(o + (0 if full_crc32 else 26), 4) != 0
        counts[not yes] += 1
    return counts


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


def load(server, gate, folder, only, variant, remote):
    charsets = "\n".join(r[0] for r in server.rows("SELECT character_set_name FROM information_schema.character_sets ORDER BY 1"))
    snapshots = []
    for name in sorted(os.listdir(folder)):
        if not re.match(r"\d\d.*\.(sql|py)$", name):
            continue
        if only and not re.search(only, name) and not name.startswith("00"):
            continue
        path = os.path.join(folder, name)
        if name.endswith(".py"):
            text = subprocess.run([sys.executable, path, gate.family, ".".join(map(str, gate.version)), str(gate.page), variant or "-"],
                                  input=charsets.encode(), stdout=subprocess.PIPE, check=True).stdout
        else:
            with open(path, "rb") as f:
                text = f.read()
        if remote:
            text = text.replace(b"{remote}", remote.encode())
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


def stored_checksums(server, exp, tables):
    """Writes the checksum of the stored columns."""
    names = {}
    for schema, table, column in server.rows(r"""
      SELECT HEX(CONVERT(table_schema USING utf8)), HEX(CONVERT(table_name USING utf8)), HEX(CONVERT(column_name USING utf8))
        FROM information_schema.columns WHERE table_schema LIKE 't\_%' AND extra NOT LIKE '%VIRTUAL%'
       ORDER BY 1, 2, ordinal_position"""):
        schema, table, column = (bytes.fromhex(x).decode("utf-8") for x in (schema, table, column))
        names.setdefault((schema, table), []).append(column)
    script = []
    for db, table, fdb, ftable, flags in tables:
        if "versioned" not in flags:
            terms = ", ".join("IFNULL(CRC32(%s), '-')" % ident(column) for column in names[db, table])
            script.append("SELECT COALESCE(SUM(CRC32(CONCAT_WS(',', %s))), 0) %% 4294967296 FROM %s.%s USE INDEX () INTO OUTFILE %s;"
                          % (terms, ident(db), ident(table), quote(os.path.join(exp, fdb, ftable) + ".stored")))
    server.sql("\n".join(script))


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
    stored_checksums(server, exp, tables)
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


def dictionary(server, gate):
    """What the dictionary says of every table and partition: name, number of the tablespace, kind of it, path of its file."""
    if gate.cond("mysql>=8.0"):
        table, files, path = "innodb_tables", "innodb_datafiles", "path"
    elif gate.cond("mariadb>=10.6"):
        table, files, path = "innodb_sys_tables", "innodb_sys_tablespaces", "filename"
    else:
        table, files, path = "innodb_sys_tables", "innodb_sys_datafiles", "path"
    # the number is text in some
    paths = {int(space): path for space, path in server.rows("SELECT CONVERT(space USING utf8), %s FROM information_schema.%s" % (path, files))}
    kind = "space_type" if gate.cond("mysql>=5.7.6") else "''"
    return [(name, int(space), kind, paths.get(int(space), "")) for name, space, kind in server.rows(
        "SELECT name, space, %s FROM information_schema.%s WHERE name LIKE 't\\_%%' ORDER BY name" % (kind, table))]


def places(new, known):
    """Where each table and partition is: to what the dictionary says, flags and its file."""
    files = {}
    for pattern in "data/*.ibd", "data/*/*.ibd", "remote/**/*.ibd":
        for path in glob.glob(os.path.join(new, pattern), recursive=True):
            with open(path, "rb") as f:
                files[int.from_bytes(f.read(38)[34:], "big")] = os.path.relpath(path, new)
    out = []
    for name, space, kind, path in known:
        flags = ["system"] if space == 0 else ["general"] if kind == "General" else []
        file = files.get(space, "-") if space else "-"
        if file.startswith("remote"):
            flags.append("remote")
        out.append((name, str(space), flags, file, path or "-"))
    return out


def write_tables(out, tables):
    """The list of what is there."""
    with open(os.path.join(out, "tables.tsv"), "w") as f:
        for db, table, fdb, ftable, flags in tables:
            f.write("\t".join([db.encode("utf-8").hex(), table.encode("utf-8").hex(), fdb, ftable, ",".join(flags) or "-"]) + "\n")


def retake_definitions(name, new, options, tables):
    """SHOW CREATE TABLE of a second server on a copy of the files: the old servers keep
    AUTO_INCREMENT in memory and find it anew at the first use after a start."""
    copy, remote = os.path.join(new, "copy"), os.path.join(new, "remote")
    server = Server(name, copy, options)
    server.take(os.path.join(new, "data"))
    # the files have the path of this one
    kept = os.path.join(new, "kept")
    if os.path.exists(remote):
        os.rename(remote, kept)
        shutil.copytree(kept, remote)
    server.start()
    try:
        definitions(server, os.path.join(new, "expected"), tables, checksums=False)
    finally:
        server.stop()
    if os.path.exists(kept):
        shutil.rmtree(remote)
        os.rename(kept, remote)
    shutil.rmtree(copy)


def readme(corpus, word):
    """What the README of a corpus says."""
    with open(os.path.join(corpus, "README")) as f:
        for line in f:
            if line.startswith(word + " "):
                return line[len(word):].strip()
    die("%s: README has no %s" % (corpus, word))


def server_of(corpus):
    return readme(corpus, "server").rpartition("(")[2].rstrip(")")


def take_over(server, corpus, remote):
    """The files of an older server, with the paths of remote files as they are now."""
    old = Server(server_of(corpus), server.dir, [o for o in server.options if not o.startswith("--innodb-redo-log")])
    old.take(os.path.join(corpus, "data"))
    if remote:
        shutil.copytree(os.path.join(corpus, "remote"), remote)
        before = readme(corpus, "remote")
        for path in glob.glob(os.path.join(server.dir, "data", "**", "*.isl"), recursive=True):
            with open(path) as f:
                text = f.read()
            with open(path, "w") as f:
                f.write(text.replace(before, remote))
    # the new server follows the paths of the dictionary, not the .isl files; the old one makes them equal
    old.start()
    try:
        # from 8.0.13 on these are refused
        with open(os.path.join(corpus, "tables.tsv")) as f:
            for db, table, _, _, flags in (line.rstrip("\n").split("\t") for line in f):
                if {"partitioned", "general"} <= set(flags.split(",")):
                    old.sql("DROP TABLE " + ".".join(ident(bytes.fromhex(x).decode("utf-8")) for x in (db, table)))
    finally:
        old.stop()
    server.remember()


def main():
    args, only, folder, small, taken = [], None, os.path.join(HERE, "..", "torture"), False, None
    it = iter(sys.argv[1:])
    for a in it:
        if a == "--only":
            only = next(it)
        elif a == "--torture":
            folder = next(it)
        elif a == "--small":
            small = True
        elif a == "--upgrade":
            taken = next(it)
        else:
            args.append(a)
    if len(args) not in (2, 3):
        die("usage: " + __doc__.splitlines()[0])
    name, variant, out = args[0], (args[1] if len(args) == 3 else None), os.path.abspath(args[-1])
    if variant and variant not in VARIANTS:
        die("variant: one of " + " ".join(sorted(VARIANTS)))
    own = VARIANTS[variant] if variant else []
    options = ["--default-time-zone=+00:00", "--character-set-server=utf8mb4"] + own
    if small:
        options.append("--innodb-redo-log-capacity=16M" if name in ("mysql-8.0.33", "mysql-9.7") else "--innodb-log-file-size=10M")
    new = out + ".new"
    shutil.rmtree(new, ignore_errors=True)
    os.makedirs(new)
    keys = os.path.join(new, "keys") if any("{keys}" in o for o in own) else None
    if keys:
        fill_keys(keys, own)
    remote = os.path.join(new, "remote") if any("{remote}" in o for o in own) else None
    options = [o.replace("{keys}", keys or "").replace("{remote}", remote or "") for o in options]
    server = Server(name, os.path.join(new, "run"), options)
    print("%s%s" % (name, " " + variant if variant else ""), flush=True)
    if taken:
        take_over(server, taken, remote)
    else:
        if remote:
            os.makedirs(remote)
        server.init()
    server.start()
    try:
        version, page = server.rows("SELECT VERSION(), @@innodb_page_size")[0]
        gate = Gate("mariadb" if "mariadb" in version.lower() else "mysql", version_tuple(version), int(page), small)
        server.sql("SET GLOBAL innodb_fast_shutdown = 1; SET GLOBAL innodb_purge_batch_size = 1;")
        snapshots = [] if taken else load(server, gate, folder, only, variant, remote)
        tables = capture(server, gate, new)
        if gate.family == "mysql" and any(t[2:4] == ("t_encrypted", "exported") for t in tables):
            export(server, os.path.join(new, "exported"))
        if variant in BEFORE_STOP:
            BEFORE_STOP[variant](server)
        known = dictionary(server, gate)
    finally:
        server.stop()
    for p in snapshots:
        p.stdin.close()
        p.wait()
    data = os.path.join(new, "data")
    os.rename(os.path.join(server.dir, "data"), data)
    shutil.rmtree(server.dir)
    for f in os.listdir(data):
        # the last two are server.sh's, with paths of now
        if f.endswith(".pem") or f in ("mysqld.my", "component_keyring_file.cnf"):
            os.remove(os.path.join(data, f))
        elif f.startswith("ib_logfile"):
            subprocess.run(["fallocate", "-d", os.path.join(data, f)], check=False)
    where = places(new, known)
    for db, table, fdb, ftable, flags in tables:
        files = [f for f in os.listdir(os.path.join(data, fdb)) if f == ftable + ".ibd" or f.lower().startswith(ftable.lower() + "#p#")]
        # the name, with that of a partition
        own_places = [w for w in where if re.split("#p#", w[0], flags=re.I)[0] == fdb + "/" + ftable]
        flags += sorted({flag for w in own_places for flag in w[2]})
        if not files and not {"refused", "general", "system", "remote"} & set(flags):
            die("no file for %s/%s" % (fdb, ftable))
        # PARTITION BY KEY () has no word in create_options
        if any("#p#" in w[0].lower() for w in own_places) and "partitioned" not in flags:
            flags.append("partitioned")
        paths = sorted({"data/ibdata1" if w[1] == "0" else w[3] for w in own_places} - {"-"})
        counts = [encrypted_pages(os.path.join(new, path), gate.page, gate.family) for path in paths] if keys else []
        if any(c[0] for c in counts):
            flags.append("encrypted")
        if fdb == "t_encrypted" and ftable.startswith("half_") and not all(counts[0]):
            die("%s is not encrypted in part: %s" % (ftable, counts))
    write_tables(new, tables)
    # servers need the keys; what is remote is innoscan's to look for
    for file, lines in ("source-options", source_options(own)), ("server-options", [o for o in own if o not in SHARED] if keys else []):
        if lines:
            with open(os.path.join(new, file), "w") as f:
                f.writelines(o.replace("{keys}", "{corpus}/keys").replace("{remote}", "{corpus}/remote") + "\n" for o in lines)
    if remote:
        with open(os.path.join(new, "places.tsv"), "w") as f:
            for table, space, words, file, path in where:
                f.write("\t".join([table, space, ",".join(words) or "-", file, path]) + "\n")
    if gate.cond("mysql<8.0 | mariadb<10.2.4"):
        retake_definitions(name, new, options, tables)
    # no path of this machine
    words = ["OUT" if a == args[-1] else os.path.relpath(a, os.path.join(HERE, "..", "..")) if a == folder
             else os.path.basename(a) if a == taken else a for a in sys.argv[1:]]
    with open(os.path.join(new, "README"), "w") as f:
        f.write("server   %s (%s)\n%svariant  %s\npage     %s\noptions  %s\ntables   %d\nmade by  tests/servers/build_corpus.sh %s\n"
                "SELECT * ... USE INDEX () INTO OUTFILE, SHOW CREATE TABLE, CHECKSUM TABLE and COUNT(*) were taken with time_zone = '+00:00'\n"
                "(SHOW CREATE TABLE with character_set_results = NULL), then the server was shut down cleanly (innodb_fast_shutdown = 1).\n"
                % (version, name, "before   %s\n" % server_of(taken) if taken else "", variant or "-", page,
                   " ".join(options).replace(new + os.sep, "OUT" + os.sep), len(tables), " ".join(words)))
        if remote:
            # as it is in the server's files and answers
            f.write("remote   %s\n" % remote)
    old = out + ".old"
    shutil.rmtree(old, ignore_errors=True)
    if os.path.exists(out):
        os.rename(out, old)
    os.rename(new, out)
    shutil.rmtree(old, ignore_errors=True)
    print("  %d tables, %d MB" % (len(tables), sum(os.path.getsize(os.path.join(d, f)) for d, _, fs in os.walk(out) for f in fs) >> 20))


main()
