CREATE DATABASE d;
USE d;
CREATE TABLE rows_ (
  id int NOT NULL,
  part smallint unsigned NOT NULL DEFAULT 7,
  name varchar(60) CHARACTER SET utf8mb4 DEFAULT NULL,
  amount decimal(12,3) DEFAULT NULL,
  at datetime(3) DEFAULT NULL,
  kind enum('a','bb','ccc') CHARACTER SET latin1 DEFAULT NULL,
  fixed char(8) CHARACTER SET latin1 NOT NULL,
  data mediumblob,
  PRIMARY KEY (id, part),
  KEY by_name (name)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 TABLE_OPTIONS;
CREATE TABLE seq (n int PRIMARY KEY);
INSERT INTO seq VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9);
CREATE TABLE numbers (n int PRIMARY KEY);
INSERT INTO numbers SELECT a.n * 100 + b.n * 10 + c.n FROM seq a, seq b, seq c;
INSERT INTO rows_ SELECT n, n % 5, IF(n % 7 = 0, NULL, REPEAT(CONCAT('é', n, '-'), n % 9)), n * 1.003 - 500, IF(n % 11 = 0, NULL, '2024-02-29 12:34:56.789' + INTERVAL n HOUR), 1 + n % 3, LPAD(n, 8, 'x'),
 CASE WHEN n % 97 = 0 THEN REPEAT(CHAR(65 + n % 26), 9000 + n) WHEN n % 13 = 0 THEN NULL ELSE REPEAT('z', n % 40) END
FROM numbers WHERE n < 800 ORDER BY n * 37 % 1009;
DELETE FROM rows_ WHERE id % 10 = 3;
UPDATE rows_ SET name = REPEAT('longer', 9) WHERE id % 17 = 0;
-- statements of one row each, which stay in the logs of pages
UPDATE rows_ SET amount = 1 WHERE id = 100;
UPDATE rows_ SET amount = 2 WHERE id = 200;
UPDATE rows_ SET name = 'again' WHERE id = 300;
INSERT INTO rows_ (id, fixed, data) VALUES (1000, 'last', 'one');
INSERT INTO rows_ (id, fixed, data) VALUES (403, 'between', 'two');
DELETE FROM rows_ WHERE id = 411;
-- off-page values that do not compress to nothing: one chain of pages, and in MySQL 8 two parts
SET SESSION group_concat_max_len = 1000000;
UPDATE rows_ SET data = (SELECT GROUP_CONCAT(MD5(n) ORDER BY n) FROM numbers WHERE n < 400) WHERE id = 97;
UPDATE rows_ SET data = (SELECT REPEAT(GROUP_CONCAT(MD5(n) ORDER BY n), 9) FROM numbers WHERE n < 500) WHERE id = 194;
FLUSH TABLES;
