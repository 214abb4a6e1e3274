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
  KEY by_name (name),
  KEY by_kind (kind, amount)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 ROW_FORMAT=ROWFMT;
CREATE TABLE seq (n int PRIMARY KEY);
INSERT INTO seq VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9);
INSERT INTO rows_ SELECT x.i, x.i % 5, IF(x.i % 7 = 0, NULL, REPEAT(CONCAT('é', x.i, '-'), x.i % 9)), x.i * 1.003 - 500, IF(x.i % 11 = 0, NULL, '2024-02-29 12:34:56.789' + INTERVAL x.i HOUR), 1 + x.i % 3, LPAD(x.i, 8, 'x'),
 CASE WHEN x.i % 97 = 0 THEN REPEAT(CHAR(65 + x.i % 26), 9000 + x.i) WHEN x.i % 13 = 0 THEN NULL ELSE REPEAT('z', x.i % 40) END
FROM (SELECT (a.n * 613 + b.n * 61 + c.n * 7) % 1009 AS i FROM seq a, seq b, seq c GROUP BY i) x ORDER BY x.i * 37 % 1009;
DELETE FROM rows_ WHERE id % 10 = 3;
UPDATE rows_ SET name = REPEAT('longer', 9) WHERE id % 17 = 0;
FLUSH TABLES;
