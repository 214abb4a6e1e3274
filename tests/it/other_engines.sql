CREATE DATABASE d CHARACTER SET utf8mb4;
USE d;
SET sql_mode = '';

-- every type; @FORMAT stands for an engine and a row format
CREATE TABLE fixed_ (
  id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, a TINYINT, b SMALLINT UNSIGNED, c MEDIUMINT, d BIGINT,
  e BIGINT UNSIGNED NOT NULL, f FLOAT, g DOUBLE NOT NULL, h DECIMAL(14,4), i DECIMAL(65,30) NOT NULL,
  j BIT(1), k BIT(11) NOT NULL, l BIT(64), m YEAR, n DATE, o TIME, p TIME(3), q DATETIME, r DATETIME(6),
  s TIMESTAMP NULL, t TIMESTAMP(2) NULL, u CHAR(10) CHARACTER SET latin1, v CHAR(7), w BINARY(5),
  x ENUM('a','b','c'), y SET('x','y','z','w','v','u','t','s','r'), z CHAR(0), aa CHAR(1) NOT NULL,
  bb CHAR(120), cc CHAR(255) CHARACTER SET latin1 NOT NULL, dd BIT(7)
) @FORMAT;
INSERT INTO fixed_ (e, g, i, k, aa, cc) VALUES (0, 0, 0, 0, '', '');
INSERT INTO fixed_ VALUES
  (NULL, -128, 65535, -8388608, -9223372036854775808, 18446744073709551615, -1.5e10, 3.141592653589793,
   -1234567890.1234, 99999999999999999999999999999999999.999999999999999999999999999999, b'1',
   b'10101010101', x'8000000000000001', 2155, '9999-12-31', '-838:59:59', '-12:34:56.789',
   '9999-12-31 23:59:59', '1000-01-01 00:00:00.000001', '2038-01-19 03:14:07', '1970-01-01 00:00:01.23',
   'é latin', 'ééééééé', 'ab', 'c', 'x,z,r', '', 'é', REPEAT('é', 120), REPEAT('x', 255), b'1010101'),
  (NULL, 127, 0, 8388607, 9223372036854775807, 1, 0, -0.0, 0, -0.000000000000000000000000000001, b'0',
   b'1', 0, 1901, '0000-00-00', '00:00:00', '00:00:00', '0000-00-00 00:00:00', '2024-02-29 12:00:00.5',
   '2024-05-05 05:05:05', '2024-05-05 05:05:05.55', 'trail  ', '😀', '\0\0\0\0\0', 'a', '', NULL, ' ',
   '  lead', 'y   ', b'0');
INSERT INTO fixed_ SELECT NULL, a, b, c, d, e ^ 1, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w,
  x, y, z, aa, bb, cc, dd FROM fixed_;
INSERT INTO fixed_ SELECT NULL, a, b, c, d, e, f, g, h, i, dd & 1, k, l, m, n, o, p, q, r, s, t, u, v, w,
  x, y, z, aa, bb, cc, k & 127 FROM fixed_;
INSERT INTO fixed_ SELECT NULL, a, b, c, d, e, f, g, h, i, NULL, k + 1, l, m, n, o, p, q, r, s, t, u, v, w,
  x, y, z, aa, bb, cc, NULL FROM fixed_;
DELETE FROM fixed_ WHERE id % 5 = 0;
INSERT INTO fixed_ (e, g, i, k, aa, cc) VALUES (7, 7, 7, 7, '7', '7');

CREATE TABLE varying_ (
  id INT NOT NULL, a VARCHAR(10) CHARACTER SET latin1, b VARCHAR(255) CHARACTER SET latin1 NOT NULL,
  c VARCHAR(256) CHARACTER SET latin1, d VARCHAR(2000), e VARBINARY(300), f TINYTEXT, g TEXT, h MEDIUMTEXT,
  i LONGTEXT, j TINYBLOB, k BLOB NOT NULL, l MEDIUMBLOB, m LONGBLOB, n GEOMETRY, o CHAR(50), p INT NOT NULL,
  q CHAR(255), r ENUM('a','b') NOT NULL, s BIT(3), t DECIMAL(10,2), KEY (id), KEY (a), UNIQUE KEY (id, b(5)),
  FULLTEXT KEY (g), KEY (k(10))
) @FORMAT;
INSERT INTO varying_ (id, b, k) VALUES (0, '', '');
INSERT INTO varying_ VALUES
  (1, 'é', REPEAT('b', 255), REPEAT('c', 256), REPEAT('😀', 2000), REPEAT('\0', 300), REPEAT('t', 255),
   REPEAT('text ', 10000), REPEAT('é', 100000), REPEAT('long', 300000), 'tiny', REPEAT('k', 65535),
   REPEAT('m', 70000), REPEAT('l', 1000001), ST_GeomFromText('POLYGON((0 0,0 1,1 1,0 0))'), 'char   ', 1,
   REPEAT('q', 255), 'b', b'101', 12.34),
  (2, '', 'b', 'c', 'd', 'e', '', '', '', '', '', '', '', '', POINT(1, 2), '', 0, '', 'a', b'000', 0),
  (3, 'aaa', 'b', REPEAT('c', 254), REPEAT('d', 255), REPEAT('e', 254), 'f', 'g', 'h', 'i', 'j', 'k', 'l',
   'm', NULL, '    x', 3, ' q', 'a', NULL, -99999999.99);
INSERT INTO varying_ SELECT id + 4, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t FROM varying_;
INSERT INTO varying_ SELECT id + 8, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t FROM varying_;
DELETE FROM varying_ WHERE id IN (2, 5, 9);
UPDATE varying_ SET d = CONCAT(d, REPEAT('grown', 300)) WHERE id IN (3, 7);
UPDATE varying_ SET g = REPEAT('h', 60000), b = 'split' WHERE id IN (0, 6, 11);
UPDATE varying_ SET m = NULL, i = 'shrunk' WHERE id = 13;
INSERT INTO varying_ (id, b, k, l) VALUES (20, 'x', 'y', REPEAT('filling holes ', 20000));

CREATE TABLE many_ (id INT PRIMARY KEY AUTO_INCREMENT, a VARCHAR(100), b BLOB) @FORMAT;
INSERT INTO many_ (a, b) VALUES ('a', 'b');
INSERT INTO many_ (a, b) SELECT REPEAT(id, id % 97), REPEAT('b', id * 37 % 3001) FROM many_;
INSERT INTO many_ (a, b) SELECT REPEAT(id, id % 97), REPEAT('b', id * 37 % 3001) FROM many_;
INSERT INTO many_ (a, b) SELECT REPEAT(id, id % 97), REPEAT('b', id * 37 % 3001) FROM many_;
INSERT INTO many_ (a, b) SELECT REPEAT(id, id % 97), REPEAT('b', id * 37 % 3001) FROM many_;
INSERT INTO many_ (a, b) SELECT REPEAT(id, id % 97), REPEAT('b', id * 37 % 3001) FROM many_;
INSERT INTO many_ (a, b) SELECT REPEAT(id, id % 97), REPEAT('b', id * 37 % 3001) FROM many_;
INSERT INTO many_ (a, b) SELECT REPEAT(id, id % 97), REPEAT('b', id * 37 % 3001) FROM many_;
INSERT INTO many_ (a, b) SELECT REPEAT(id, id % 97), REPEAT('b', id * 37 % 3001) FROM many_;
INSERT INTO many_ (a, b) SELECT REPEAT(id, id % 97), REPEAT('b', id * 37 % 3001) FROM many_;
INSERT INTO many_ (a, b) SELECT REPEAT(id, id % 97), REPEAT('b', id * 37 % 3001) FROM many_;
INSERT INTO many_ (a, b) SELECT REPEAT(id, id % 97), REPEAT('b', id * 37 % 3001) FROM many_;
DELETE FROM many_ WHERE id % 7 = 3;
UPDATE many_ SET b = REPEAT('longer', 400 + id % 800) WHERE id % 11 = 2;
UPDATE many_ SET a = NULL, b = '' WHERE id % 13 = 5;
INSERT INTO many_ (a, b) SELECT REPEAT('n', id % 100), REPEAT('new', id % 2222) FROM many_ WHERE id % 3 = 0;

CREATE TABLE empty_ (id INT, a VARCHAR(10)) @FORMAT;
CREATE TABLE emptied_ (id INT, a VARCHAR(10)) @FORMAT;
INSERT INTO emptied_ VALUES (1, 'a'), (2, 'b');
DELETE FROM emptied_;
CREATE TABLE one_bit_ (a BIT(1) NOT NULL) @FORMAT;
INSERT INTO one_bit_ VALUES (b'1'), (b'0'), (b'1');
CREATE TABLE generated_ (a INT NOT NULL, v INT AS (a + 1) VIRTUAL, s VARCHAR(20) AS (CONCAT('s', a)) @STORED,
  b VARCHAR(20), c INT) @FORMAT;
INSERT INTO generated_ (a, b, c) VALUES (1, 'one', NULL), (2, NULL, 2), (3, '', 3);
CREATE TABLE summed_ (id INT, a VARCHAR(300), b BLOB, c CHAR(20), d BIT(9)) CHECKSUM=1 @FORMAT;
INSERT INTO summed_ VALUES (1, 'a', 'b', 'c', 300), (NULL, NULL, NULL, NULL, NULL), (3, REPEAT('é', 300),
  REPEAT('b', 60000), '', 0), (4, '', '', 'd', 1);
DELETE FROM summed_ WHERE id = 1;
UPDATE summed_ SET a = REPEAT('u', 250) WHERE id = 4;
CREATE TABLE summed_fixed_ (id INT NOT NULL, a CHAR(5) NOT NULL) CHECKSUM=1 @FORMAT;
INSERT INTO summed_fixed_ VALUES (1, 'a'), (2, 'b'), (3, 'c');
DELETE FROM summed_fixed_ WHERE id = 2;
CREATE PROCEDURE first_ (a INT, OUT b VARCHAR(20)) COMMENT 'é' SELECT a INTO b;
CREATE FUNCTION second_ (a INT) RETURNS INT DETERMINISTIC RETURN a + 1;
CREATE TABLE dates_ (y YEAR, d DATE, t TIME, i INT ZEROFILL, f FLOAT(7,2), g DOUBLE UNSIGNED) @FORMAT;
INSERT INTO dates_ VALUES (1999, '1999-12-31', '-00:00:01', 42, -12.34, 1e300), (0, 0, 0, 0, 0, 0),
  (NULL, NULL, NULL, NULL, NULL, NULL);
CREATE TABLE by_key_ (id INT NOT NULL, v VARCHAR(20)) @FORMAT PARTITION BY KEY (id) PARTITIONS 3;
INSERT INTO by_key_ VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd'), (5, 'e'), (6, NULL);
