-- needs: mysql>=5.7.6 | mariadb
-- Generated columns, stored and virtual, among the others; invisible columns.
CREATE DATABASE t_generated CHARACTER SET latin1;
USE t_generated;
SET sql_mode = 'NO_ENGINE_SUBSTITUTION';
CREATE TABLE stored_only (a INT, s1 INT GENERATED ALWAYS AS (a + 1) PERSISTENT, b VARCHAR(20), s2 VARCHAR(50) AS (CONCAT(b, '-', a)) PERSISTENT COMMENT 'gen', id INT NOT NULL PRIMARY KEY) ENGINE=InnoDB;
INSERT INTO stored_only (a, b, id) VALUES (1, 'x', 1), (2, NULL, 2), (NULL, 'z', 3);
CREATE TABLE virtual_only (v0 INT AS (a * 2) VIRTUAL, a INT, v1 VARCHAR(30) AS (CONCAT('v', a, b)) VIRTUAL, b VARCHAR(20), id INT NOT NULL PRIMARY KEY, v2 VARCHAR(5) AS (c) VIRTUAL, c CHAR(3)) ENGINE=InnoDB;
INSERT INTO virtual_only (a, b, id, c) VALUES (1, 'x', 1, 'c'), (2, NULL, 2, NULL), (NULL, 'z', 3, 'd');
CREATE TABLE both_kinds (id INT NOT NULL, v1 INT AS (id + 1) VIRTUAL, s1 INT AS (id + 2) PERSISTENT, x VARCHAR(10), v2 VARCHAR(10) AS (x) VIRTUAL, s2 VARCHAR(10) AS (UPPER(x)) PERSISTENT, y INT NOT NULL DEFAULT 5, PRIMARY KEY (id)) ENGINE=InnoDB;
INSERT INTO both_kinds (id, x) VALUES (1, 'a'), (2, NULL), (-3, 'c');
CREATE TABLE redundant (id INT NOT NULL PRIMARY KEY, v1 INT AS (id + 1) VIRTUAL, s1 CHAR(5) AS (CONCAT('s', id)) PERSISTENT, x INT) ENGINE=InnoDB ROW_FORMAT=REDUNDANT;
INSERT INTO redundant (id, x) VALUES (1, 1), (2, NULL);
CREATE TABLE expressions (a INT, b INT, c VARCHAR(20) CHARACTER SET utf8, d DATE, e DOUBLE,
  g1 INT AS (a + b * 2 - 1) PERSISTENT, g2 INT AS (a DIV 2) PERSISTENT, g3 INT AS (a % 3) PERSISTENT, g4 VARCHAR(50) AS (CONCAT(c, 'it''s "q" \\ é')) PERSISTENT, g5 INT AS (YEAR(d)) PERSISTENT, g6 DOUBLE AS (ROUND(e, 2)) PERSISTENT,
  g7 INT AS (CASE WHEN a > 1 THEN 1 ELSE 0 END) PERSISTENT, g8 INT AS (IF(a IS NULL, -1, a)) PERSISTENT, g9 INT AS (a IN (1, 2, 3)) PERSISTENT, g10 INT AS (c LIKE 'x%') PERSISTENT, g11 VARCHAR(10) AS (SUBSTR(c, 1, 3)) PERSISTENT, g12 INT AS (NOT a) PERSISTENT, g13 INT AS (a BETWEEN 1 AND b) PERSISTENT, g14 INT AS (a << 2 | 1 & b ^ 3) PERSISTENT,
  g15 DATE AS (d + INTERVAL 1 DAY) PERSISTENT, g16 VARCHAR(30) AS (REPLACE(c, 'x', '%Y-%m')) PERSISTENT, g17 BIGINT AS (CAST(c AS SIGNED)) PERSISTENT, g18 INT AS (COALESCE(a, b, 0)) PERSISTENT, g19 INT AS (-a) PERSISTENT, g20 INT AS (a <=> NULL) PERSISTENT, g21 INT AS (a AND b OR NOT a XOR b) PERSISTENT
) ENGINE=InnoDB;
INSERT INTO expressions (a, b, c, d, e) VALUES (1, 2, '12', '2020-01-31', 1.005), (NULL, NULL, NULL, NULL, NULL), (5, 1, 'xyzzy', '1999-12-31', -2.675);
--@if mysql | mariadb>=10.2
CREATE TABLE virtual_keys (id INT NOT NULL PRIMARY KEY, a INT, v INT AS (a * 3) VIRTUAL, w VARCHAR(20) AS (CONCAT('w', a)) VIRTUAL, s INT AS (a + 1) STORED, KEY kv (v), UNIQUE KEY kw (w), KEY ks (s)) ENGINE=InnoDB;
INSERT INTO virtual_keys (id, a) SELECT n, n * 2 FROM t_aux.seq WHERE n < 300;
DELETE FROM virtual_keys WHERE id % 3 = 0;
UPDATE virtual_keys SET a = a + 1000 WHERE id % 5 = 0;
CREATE TABLE added_virtual (id INT NOT NULL PRIMARY KEY, a INT, z INT) ENGINE=InnoDB;
INSERT INTO added_virtual VALUES (1, 2, 3);
ALTER TABLE added_virtual ADD COLUMN v INT AS (a + 1) VIRTUAL AFTER a;
INSERT INTO added_virtual (id, a, z) VALUES (4, 5, 6);
CREATE TABLE stored_not_null (id INT NOT NULL PRIMARY KEY, a INT) ENGINE=InnoDB;
INSERT INTO stored_not_null VALUES (1, 2);
ALTER TABLE stored_not_null ADD COLUMN s INT AS (a + 1) STORED;
--@endif
--@if mysql
CREATE TABLE stored_pk (a INT NOT NULL, s INT AS (a * 10) STORED NOT NULL COMMENT 'key', v INT AS (a) VIRTUAL NOT NULL, PRIMARY KEY (s)) ENGINE=InnoDB;
INSERT INTO stored_pk (a) VALUES (3), (1), (2);
--@endif
--@if mysql>=8.0.23
CREATE TABLE invisible (id INT NOT NULL PRIMARY KEY, a INT INVISIBLE, b VARCHAR(10), c INT NOT NULL DEFAULT 9 INVISIBLE COMMENT 'hidden', d INT AS (id + 1) STORED INVISIBLE, e CHAR(3)) ENGINE=InnoDB;
INSERT INTO invisible (id, a, b, e) VALUES (1, 2, 'b', 'e'), (2, NULL, NULL, NULL);
ALTER TABLE invisible ALTER COLUMN b SET INVISIBLE;
--@endif
--@if mysql>=8.0.30
SET SESSION sql_generate_invisible_primary_key = ON;
CREATE TABLE invisible_pk (a INT, b VARCHAR(10)) ENGINE=InnoDB;
SET SESSION sql_generate_invisible_primary_key = OFF;
INSERT INTO invisible_pk VALUES (1, 'x'), (2, 'y');
--@endif
--@if mariadb>=10.3
CREATE TABLE invisible (id INT NOT NULL PRIMARY KEY, a INT INVISIBLE, b VARCHAR(10), c INT NOT NULL DEFAULT 9 INVISIBLE COMMENT 'hidden', e CHAR(3)) ENGINE=InnoDB;
INSERT INTO invisible (id, a, b, e) VALUES (1, 2, 'b', 'e'), (2, NULL, NULL, NULL);
--@endif
