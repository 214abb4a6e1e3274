"""MySQL's binary JSON: every type, every size class, partial updates of documents that lie off the page."""
import json, random, sys

family, version, page = sys.argv[1], tuple(map(int, sys.argv[2].split("."))), int(sys.argv[3])
out = ["-- needs: mysql>=5.7.8 | mariadb>=10.2.7"]
p = out.append
p("CREATE DATABASE t_json CHARACTER SET utf8mb4;\nUSE t_json;\nSET sql_mode = 'NO_ENGINE_SUBSTITUTION';")


def q(s):
    return "'" + s.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\0", "\\0") + "'"


def dump(v):
    return json.dumps(v, ensure_ascii=False)


texts = [
    "null", "true", "false", "0", "-0", "1", "-1", "127", "128", "255", "256", "32767", "32768", "-32768", "-32769", "65535", "65536", "2147483647", "2147483648", "-2147483648", "-2147483649",
    "4294967295", "4294967296", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551615", "18446744073709551616", "-9223372036854775809", "1e0", "1.0", "-0.0", "0.1", "1.5e300",
    "1e-300", "5e-324", "1.7976931348623157e308", "3.141592653589793", "123456789012345678", "1234567890123456789012", "1e15", "1e16", "1e17", "1e20", "1e21", "1e22", "0.0001", "0.00001", "1e-5", "1e-6", "100000.0", "12345678.9", "2.5e-8",
    '""', '"a"', '"plain"', r'"esc \" \\ \/ \b \f \n \r \t \u0001 \u001f \u007f"', r'"\u00e9\u65e5\ud83d\ude00"', '"é日😀"', r'"\u0000"', '"' + "x" * 127 + '"', '"' + "x" * 128 + '"', '"' + "é" * 8191 + '"', '"' + "y" * 16383 + '"', '"' + "y" * 16384 + '"',
    "[]", "{}", "[[]]", "[{}]", '{"":""}', '{"a":null}', "[null,true,false]", "[1,-1,70000,-70000,5000000000,1.5,\"s\",[],{}]", '{"b":1,"a":2,"aa":3,"":4,"é":5,"日本":6,"😀":7,"B":8,"ab":9}', '{"dup":1,"dup":2}', '[1, [2, [3, [4, [5, {"six": [7]}]]]]]',
    '{"k":"v","n":{"x":[1,2,{"y":null}]},"t":true,"i":65535,"l":65536}', '  [ 1 ,\n2 ]  ', '{"a\\"b":"c\\\\d"}', '{"tab\\t":1,"nl\\n":2}',
]
if family == "mysql":
    deep = "[" * 99 + "1" + "]" * 99
    texts += [deep, '{"a":' * 90 + "1" + "}" * 90]
p("CREATE TABLE texts (id INT NOT NULL PRIMARY KEY, j JSON, k JSON, v INT) ENGINE=InnoDB;")
for i, t in enumerate(texts, 1):
    p("INSERT INTO texts VALUES (%d,%s,%s,%d);" % (i, q(t), "NULL" if i % 3 == 0 else q('{"n":%d}' % i), i))
p("INSERT INTO texts VALUES (1000,NULL,NULL,NULL);")
rnd = random.Random(5)
p("CREATE TABLE doubles (id INT NOT NULL PRIMARY KEY, j JSON) ENGINE=InnoDB;")
import struct
vals = []
while len(vals) < 600:
    d = struct.unpack(">d", struct.pack(">Q", rnd.getrandbits(64)))[0] if len(vals) % 2 else rnd.uniform(-1, 1) * 10 ** rnd.randint(-25, 25)
    if d == d and abs(d) != float("inf"):
        vals.append(repr(d))
for i in range(0, 600, 20):
    p("INSERT INTO doubles VALUES (%d,'[%s]');" % (i, ",".join(vals[i:i + 20])))
# sizes around 64 KB, where offsets grow from two bytes to four
p("CREATE TABLE sizes (id INT NOT NULL PRIMARY KEY, j JSON) ENGINE=InnoDB;")
i = 0
for n in (3, 200, 5000, 10922, 10923, 13105, 13106, 13107, 13108, 16000, 21844, 21845, 32768, 40000):
    i += 1
    p("--@if full" if n not in (3, 200, 10923, 13106, 21845) else "--@if full | small")
    p("INSERT INTO sizes VALUES (%d,%s);" % (i, q(dump([k % 60000 for k in range(n)]))))
    i += 1
    if n <= 22000:
        p("INSERT INTO sizes VALUES (%d,%s);" % (i, q(dump({"k%d" % k: (k if k % 2 else None) for k in range(n)}))))
    p("--@endif")
for n in (65400, 65520, 65525, 65526, 65527, 65528, 65529, 65530, 65531, 65532, 65533, 65534, 65535, 65536, 70000, 2097151, 2097152):
    i += 1
    p("--@if full" if n > 1000000 else "--@if full | small")
    p("INSERT INTO sizes VALUES (%d,CONCAT('[\"',REPEAT('z',%d),'\"]'));" % (i, n))
    i += 1
    p("INSERT INTO sizes VALUES (%d,CONCAT('{\"key\":\"',REPEAT('z',%d),'\",\"b\":[1,{\"c\":70000}]}'));" % (i, n))
    p("--@endif")
# a small container within a large one, and the other way about
p("INSERT INTO sizes VALUES (900,CONCAT('[[1,2],{\"a\":[]},\"',REPEAT('q',70000),'\",[3,{\"b\":null}]]'));")
if family == "mysql":
    p("""CREATE TABLE opaque (id INT NOT NULL PRIMARY KEY, j JSON) ENGINE=InnoDB;
INSERT INTO opaque VALUES (1,JSON_ARRAY(CAST(1.50 AS DECIMAL(10,2)),CAST(-99999999999999999999.999999999 AS DECIMAL(40,9)),CAST(0 AS DECIMAL(5,0)),CAST(-0.01 AS DECIMAL(5,2)),12345678901234567890.5,1.10,-7.0)),
 (2,JSON_ARRAY(CAST('2020-02-29' AS DATE),CAST('0000-00-00' AS DATE),CAST('9999-12-31' AS DATE))),
 (3,JSON_ARRAY(CAST('12:34:56' AS TIME),CAST('-838:59:59' AS TIME),CAST('-00:00:00.000001' AS TIME(6)),CAST('12:34:56.5' AS TIME(3)),CAST('00:00:00' AS TIME))),
 (4,JSON_ARRAY(CAST('2020-02-29 12:34:56' AS DATETIME),CAST('2020-02-29 12:34:56.789' AS DATETIME(3)),CAST('1000-01-01 00:00:00.000001' AS DATETIME(6)))),
 (5,JSON_ARRAY(TIMESTAMP('2001-02-03 04:05:06'))),
 (6,JSON_OBJECT('bin',x'00ff10','blob',CAST('text' AS BINARY),'empty',CAST('' AS BINARY),'bit',b'101','d',CAST('2020-01-01' AS DATE),'dec',1.5)),
 (7,JSON_ARRAY(CAST(REPEAT(x'ff00aa',100) AS BINARY))),
 (8,CAST(CAST(5.25 AS DECIMAL(10,2)) AS JSON)),(9,CAST(CAST('2020-01-01' AS DATE) AS JSON)),(10,CAST(CAST('1:2:3' AS TIME) AS JSON)),(11,CAST(CAST('2020-01-01 01:02:03' AS DATETIME) AS JSON)),(12,CAST(x'cafe' AS JSON)),
 (13,CAST(18446744073709551615 AS JSON)),(14,CAST(-9223372036854775808 AS JSON)),(15,CAST(1e0 AS JSON)),(16,CAST(ST_GeomFromText('POINT(1 2)') AS JSON)),(17,CAST(ST_GeomFromText('POLYGON((0 0,1 0,1 1,0 0))') AS JSON)),(18,JSON_ARRAY(b'1',_binary'x',true,1=1,NULL)),
 (19,JSON_ARRAY(CAST(x'00' AS CHAR(1)), YEAR('2020-01-01'), CAST(1 AS UNSIGNED), 0.0, -0.0, 1e100));
CREATE TABLE opaque_columns (id INT NOT NULL PRIMARY KEY, b BLOB, t TINYBLOB, bi BIT(9), e ENUM('x'), s SET('a','b'), ts TIMESTAMP(2) NULL, y YEAR, f FLOAT, de DECIMAL(65,30), bn BINARY(3), j JSON) ENGINE=InnoDB;
INSERT INTO opaque_columns VALUES (1,'blob','tiny',257,'x','a,b','2020-01-01 01:02:03.25',1999,1.1,'-12345678901234567890.123456789012345678901234567890','b',NULL);
UPDATE opaque_columns SET j = JSON_ARRAY(b, t, bi, e, s, ts, y, f, de, bn);""")
    # off-page documents changed in place
    p("CREATE TABLE partial (id INT NOT NULL PRIMARY KEY, j JSON, k JSON) ENGINE=InnoDB;")
    p("SET @doc = CONCAT('{\"a\":\"', REPEAT('a', 30000), '\",\"b\":[1,2,3,\"', REPEAT('b', 20000), '\"],\"c\":{\"d\":\"', REPEAT('d', 100), '\",\"e\":123456789},\"n\":null,\"x\":1.5,\"z\":\"', REPEAT('z', 60000), '\"}');")
    p("INSERT INTO partial SELECT n, @doc, '[1,2,3]' FROM t_aux.seq WHERE n < 24;")
    changes = [
        "JSON_SET(j,'$.c.e',1)", "JSON_SET(j,'$.a','short')", "JSON_REPLACE(j,'$.b[1]',22)", "JSON_REMOVE(j,'$.b[0]')", "JSON_REMOVE(j,'$.z')", "JSON_SET(j,'$.x',2.5)", "JSON_SET(j,'$.z',REPEAT('Z',60000))",
        "JSON_SET(j,'$.c.d',REPEAT('D',90))", "JSON_REPLACE(j,'$.n',TRUE)", "JSON_SET(j,'$.new','grown')", "JSON_REMOVE(j,'$.c','$.n')", "JSON_SET(j,'$.b[3]','b')", "JSON_SET(j,'$.z',REPEAT('é',20000),'$.a',1)", "JSON_REPLACE(j,'$.b','gone')",
    ]
    for n, c in enumerate(changes):
        p("UPDATE partial SET j = %s WHERE id = %d OR id = %d;" % (c, n, n + 7))
    for r in range(6):
        p("UPDATE partial SET j = JSON_SET(j,'$.x',%d.25,'$.c.e',%d) WHERE id %% 2 = 0;" % (r, r))
        p("UPDATE partial SET j = JSON_REPLACE(j,'$.a',REPEAT('%c',%d)) WHERE id %% 3 = 0;" % (65 + r, 29000 - 10 * r))
    p("UPDATE partial SET k = JSON_SET(j,'$.a','copy') WHERE id = 5;")
    p("UPDATE partial SET k = j WHERE id = 6;")
    p("DELETE FROM partial WHERE id IN (3,11);")
    # the same with a document of several MB
    p("""--@if full
CREATE TABLE partial_big (id INT NOT NULL PRIMARY KEY, j JSON) ENGINE=InnoDB;
INSERT INTO partial_big VALUES (1,CONCAT('{"a":[1,2,3],"big":"',REPEAT('0123456789',200000),'","big2":"',REPEAT('x',100000),'","tail":{"t":12345}}'));
UPDATE partial_big SET j = JSON_SET(j,'$.tail.t',1);
UPDATE partial_big SET j = JSON_REPLACE(j,'$.big2',REPEAT('y',99999));
UPDATE partial_big SET j = JSON_SET(j,'$.big',REPEAT('9876543210',199000),'$.a[0]',9);
UPDATE partial_big SET j = JSON_REMOVE(j,'$.a[1]');
--@endif""")
    p("""CREATE TABLE `generated` (id INT NOT NULL PRIMARY KEY, j JSON NOT NULL, v VARCHAR(20) GENERATED ALWAYS AS (JSON_UNQUOTE(JSON_EXTRACT(j,'$.name'))) VIRTUAL, s JSON GENERATED ALWAYS AS (JSON_EXTRACT(j,'$.list')) STORED, k INT) ENGINE=InnoDB;
INSERT INTO `generated` (id,j,k) VALUES (1,'{"name":"n1","list":[1,2]}',5),(2,'{"name":null}',6),(3,'[]',NULL);""")
else:
    p("CREATE TABLE checked (id INT NOT NULL PRIMARY KEY, j JSON NOT NULL DEFAULT '[]', k JSON) ENGINE=InnoDB;")
    p("INSERT INTO checked (id, k) VALUES (1, '{\"a\": 1}'), (2, NULL);")
sys.stdout.buffer.write(("\n".join(out) + "\n").encode("utf-8"))
