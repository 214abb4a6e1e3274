-- Row formats, clustered keys of every kind, and trees of several heights.
CREATE DATABASE t_rows CHARACTER SET latin1;
USE t_rows;
SET sql_mode = 'NO_ENGINE_SUBSTITUTION';

CREATE TABLE `empty` (id INT NOT NULL PRIMARY KEY, v VARCHAR(10)) ENGINE=InnoDB;
CREATE TABLE one_row (id INT NOT NULL PRIMARY KEY, v VARCHAR(10)) ENGINE=InnoDB;
INSERT INTO one_row VALUES (1, 'one');
CREATE TABLE one_column (v INT) ENGINE=InnoDB;
INSERT INTO one_column VALUES (3), (NULL), (1);
CREATE TABLE one_varchar (v VARCHAR(20)) ENGINE=InnoDB;
INSERT INTO one_varchar VALUES ('b'), (NULL), (''), ('a');

-- no primary key
CREATE TABLE no_pk (a INT, b VARCHAR(20), c CHAR(5)) ENGINE=InnoDB;
INSERT INTO no_pk SELECT 1000 - n, CONCAT('row ', n), IF(n % 3, n, NULL) FROM t_aux.seq WHERE n < 1000 ORDER BY n;
CREATE TABLE unique_not_null (v VARCHAR(20), a INT NOT NULL, b INT NOT NULL, UNIQUE KEY ub (b), UNIQUE KEY ua (a)) ENGINE=InnoDB;
INSERT INTO unique_not_null SELECT CONCAT('row ', n), (n * 7919) % 1000, (n * 4327) % 1000 FROM t_aux.seq WHERE n < 1000 ORDER BY n;
CREATE TABLE unique_nullable (v VARCHAR(20), a INT, UNIQUE KEY ua (a)) ENGINE=InnoDB;
INSERT INTO unique_nullable VALUES ('a', 3), ('b', NULL), ('c', 1), ('d', NULL);
-- the first unique key has a nullable column or a prefix: neither is the clustered one
CREATE TABLE unique_second (v VARCHAR(20) NOT NULL, a INT, b INT NOT NULL, c INT NOT NULL, UNIQUE KEY u1 (a, b), UNIQUE KEY u2 (v(3)), UNIQUE KEY u3 (c, b)) ENGINE=InnoDB;
INSERT INTO unique_second VALUES ('zzz1', 1, 1, 9), ('yyy2', NULL, 2, 8), ('xxx3', NULL, 2, 7);

-- keys out of the columns' order
CREATE TABLE pk_order (a INT, b VARCHAR(10) NOT NULL, c INT NOT NULL, d CHAR(3), e BIGINT NOT NULL, PRIMARY KEY (e, b, c)) ENGINE=InnoDB;
INSERT INTO pk_order SELECT n, CONCAT('b', n % 10), n % 7, 'dd', -n FROM t_aux.seq WHERE n < 500;
-- prefix keys
CREATE TABLE pk_prefix (a TEXT NOT NULL, v INT, b VARBINARY(50) NOT NULL, PRIMARY KEY (a(10), b(3))) ENGINE=InnoDB;
INSERT INTO pk_prefix SELECT CONCAT(RIGHT(CONCAT('00000', n), 6), ' and so on, past the prefix ', n), n, CONCAT('b', n, 'tail of it') FROM t_aux.seq WHERE n < 300;
INSERT INTO pk_prefix VALUES ('', 1, ''), ('x', NULL, 'y'), ('exactly10c', 2, 'abc'), ('exactly10', 2, 'ab');
CREATE TABLE pk_prefix_char (c CHAR(30) NOT NULL, v INT, d CHAR(30) CHARACTER SET utf8mb4 NOT NULL, PRIMARY KEY (d(4), c(5))) ENGINE=InnoDB;
INSERT INTO pk_prefix_char VALUES ('abcdefghij', 1, 'äöüß and more'), ('ab', 2, '😀😁😂😃😄'), ('', 3, ''), ('abcde', 4, 'abcd'), ('abcdef', 5, 'abc');
CREATE TABLE pk_prefix_blob (b BLOB NOT NULL, t TEXT CHARACTER SET utf8mb4 NOT NULL, PRIMARY KEY (b(20), t(5))) ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
INSERT INTO pk_prefix_blob SELECT REPEAT(CHAR(65 + n), 30 + n * 400), REPEAT('é', n * 300) FROM t_aux.seq WHERE n < 20;
CREATE TABLE pk_prefix_redundant (b BLOB NOT NULL, c CHAR(20) CHARACTER SET utf8 NOT NULL, PRIMARY KEY (b(20), c(5))) ENGINE=InnoDB ROW_FORMAT=REDUNDANT;
INSERT INTO pk_prefix_redundant SELECT REPEAT(CHAR(65 + n), 30 + n * 400), REPEAT('é', n) FROM t_aux.seq WHERE n < 20;
-- every kind of column in a key
CREATE TABLE pk_types (a TINYINT NOT NULL, b DECIMAL(10,3) NOT NULL, c DOUBLE NOT NULL, d FLOAT NOT NULL, e DATE NOT NULL, f BINARY(3) NOT NULL, g ENUM('x','y') NOT NULL,
  h YEAR NOT NULL, i BIT(9) NOT NULL, j MEDIUMINT UNSIGNED NOT NULL, k CHAR(4) NOT NULL, l VARCHAR(10) CHARACTER SET utf8mb4 NOT NULL, v INT, PRIMARY KEY (a,b,c,d,e,f,g,h,i,j,k,l)) ENGINE=InnoDB;
INSERT INTO pk_types VALUES (-1,-1.5,-2.5,-3.5,'2001-01-01','abc','y',1999,5,7,'k','l',1),(-1,-1.5,-2.5,3.5,'2001-01-01','abc','y',1999,5,7,'k','l',2),(-1,-1.5,2.5,-3.5,'2001-01-01','abc','y',1999,5,7,'k','l',3),
 (-1,1.5,-2.5,-3.5,'2001-01-01','abc','y',1999,5,7,'k','l',4),(1,-1.5,-2.5,-3.5,'2001-01-01','abc','y',1999,5,7,'k','l',5),(-1,-1.5,-2.5,-3.5,'2001-01-01','abc','x',1999,5,7,'k','l',6),
 (-1,-1.5,-2.5,-3.5,'2001-01-01','abc','y',1999,5,7,'k','😀',7),(-1,-1.5,-2.5,-3.5,'2000-01-01','abc','y',1999,5,7,'k','l',8),(0,0,0,0,'0000-00-00','','x',0,0,0,'','',9);
--@if mysql>=8.0 | mariadb>=10.8
CREATE TABLE pk_desc (a INT NOT NULL, b VARCHAR(10) NOT NULL, v INT, PRIMARY KEY (a DESC, b ASC), KEY vd (v DESC, b)) ENGINE=InnoDB;
INSERT INTO pk_desc SELECT n % 50, CONCAT('b', n), n FROM t_aux.seq WHERE n < 2000;
CREATE TABLE pk_desc_str (b VARCHAR(10) NOT NULL, c CHAR(3) NOT NULL, v INT, PRIMARY KEY (b DESC, c DESC)) ENGINE=InnoDB;
INSERT INTO pk_desc_str SELECT CONCAT('b', n % 100), n DIV 100, n FROM t_aux.seq WHERE n < 2000;
--@endif

-- row formats: the same rows in each
SET @step = 1;
--@if small
SET @step = 6;
--@endif
--@if page>=8192
CREATE TABLE f_redundant (id INT NOT NULL, a VARCHAR(100), b CHAR(10) CHARACTER SET utf8, c INT, d VARCHAR(300), e CHAR(20) NOT NULL, f CHAR(255) CHARACTER SET utf8, g TEXT, h BINARY(5), i BIT(3), j VARCHAR(10) NOT NULL, PRIMARY KEY (id)) ENGINE=InnoDB ROW_FORMAT=REDUNDANT;
CREATE TABLE f_compact LIKE f_redundant;
ALTER TABLE f_compact ROW_FORMAT=COMPACT;
CREATE TABLE f_dynamic LIKE f_redundant;
ALTER TABLE f_dynamic ROW_FORMAT=DYNAMIC;
CREATE TABLE f_default (id INT NOT NULL, a VARCHAR(100), b CHAR(10) CHARACTER SET utf8, c INT, d VARCHAR(300), e CHAR(20) NOT NULL, f CHAR(255) CHARACTER SET utf8, g TEXT, h BINARY(5), i BIT(3), j VARCHAR(10) NOT NULL, PRIMARY KEY (id)) ENGINE=InnoDB;
INSERT INTO f_redundant SELECT n, IF(n % 5, REPEAT('a', n % 101), NULL), IF(n % 4, REPEAT('é', n % 11), NULL), IF(n % 3, n, NULL), IF(n % 7, REPEAT('d', n % 301), NULL), n, IF(n % 6, REPEAT('日', n % 86), NULL),
  IF(n % 9, REPEAT('text ', n % 60), NULL), IF(n % 2, 'bin', NULL), IF(n % 8, n % 8, NULL), '' FROM t_aux.seq WHERE n < 700 AND n % @step = 0;
INSERT INTO f_compact SELECT * FROM f_redundant;
INSERT INTO f_dynamic SELECT * FROM f_redundant;
INSERT INTO f_default SELECT * FROM f_redundant;
--@endif
-- nothing but NULLs or empty strings; more than 8 and more than 16 nullable columns
CREATE TABLE nullables (c1 INT, c2 INT, c3 INT, c4 INT, c5 VARCHAR(3), c6 VARCHAR(3), c7 VARCHAR(3), c8 VARCHAR(3), c9 CHAR(3), c10 CHAR(3), c11 CHAR(3), c12 CHAR(3), c13 INT, c14 INT, c15 INT, c16 INT, c17 INT, c18 VARCHAR(300), c19 BLOB) ENGINE=InnoDB;
INSERT INTO nullables () VALUES ();
INSERT INTO nullables (c1) VALUES (1); INSERT INTO nullables (c8) VALUES (''); INSERT INTO nullables (c9) VALUES ('x'); INSERT INTO nullables (c17) VALUES (1); INSERT INTO nullables (c18) VALUES (REPEAT('x',200)); INSERT INTO nullables (c19) VALUES ('');
CREATE TABLE nullables_redundant (c1 INT, c2 INT, c3 INT, c4 INT, c5 VARCHAR(3), c6 VARCHAR(3), c7 VARCHAR(3), c8 VARCHAR(3), c9 CHAR(3), c10 CHAR(3), c11 CHAR(3), c12 CHAR(3), c13 INT, c14 INT, c15 INT, c16 INT, c17 INT, c18 VARCHAR(300), c19 BLOB) ENGINE=InnoDB ROW_FORMAT=REDUNDANT;
INSERT INTO nullables_redundant SELECT * FROM nullables;
-- lengths of one and two bytes, around 127/128 and 255/256
CREATE TABLE lengths (id INT NOT NULL PRIMARY KEY, v200 VARCHAR(200), v255 VARCHAR(255), v256 VARCHAR(256), v400 VARCHAR(400), u60 VARCHAR(60) CHARACTER SET utf8mb4, u64 VARCHAR(64) CHARACTER SET utf8mb4, c200 CHAR(200) CHARACTER SET utf8mb4, tb TINYBLOB, bb BLOB) ENGINE=InnoDB;
INSERT INTO lengths SELECT n, REPEAT('a', LEAST(n, 200)), REPEAT('b', LEAST(n, 255)), REPEAT('c', LEAST(n, 256)), REPEAT('d', LEAST(n, 400)), REPEAT('e', LEAST(n, 60)), REPEAT('😀', LEAST(n, 64)), REPEAT('ü', LEAST(n, 200)), REPEAT('t', LEAST(n, 255)), REPEAT('B', n)
  FROM t_aux.seq WHERE n IN (0, 1, 31, 32, 59, 60, 61, 63, 64, 65, 126, 127, 128, 129, 199, 200, 201, 254, 255, 256, 257, 399, 400);
--@if page>=8192
CREATE TABLE lengths_redundant (id INT NOT NULL PRIMARY KEY, v200 VARCHAR(200), v255 VARCHAR(255), v256 VARCHAR(256), v400 VARCHAR(400), u60 VARCHAR(60) CHARACTER SET utf8mb4, u64 VARCHAR(64) CHARACTER SET utf8mb4, c200 CHAR(200) CHARACTER SET utf8mb4, tb TINYBLOB, bb BLOB) ENGINE=InnoDB ROW_FORMAT=REDUNDANT;
INSERT INTO lengths_redundant SELECT * FROM lengths;
--@endif
CREATE TABLE tiny_redundant (id TINYINT NOT NULL PRIMARY KEY, v VARCHAR(20)) ENGINE=InnoDB ROW_FORMAT=REDUNDANT;
INSERT INTO tiny_redundant VALUES (1, 'x'), (2, NULL), (3, '');

-- trees: ascending, descending and shuffled insert order
CREATE TABLE asc2 (id INT NOT NULL PRIMARY KEY, v VARCHAR(60)) ENGINE=InnoDB;
INSERT INTO asc2 SELECT n, CONCAT('value ', n) FROM t_aux.seq ORDER BY n;
CREATE TABLE desc2 (id INT NOT NULL PRIMARY KEY, v VARCHAR(60)) ENGINE=InnoDB;
INSERT INTO desc2 SELECT n, CONCAT('value ', n) FROM t_aux.seq ORDER BY n DESC;
CREATE TABLE shuffled2 (id BIGINT UNSIGNED NOT NULL PRIMARY KEY, v VARCHAR(60), KEY v (v)) ENGINE=InnoDB;
INSERT INTO shuffled2 SELECT (n * 7919) % 10007, CONCAT('value ', n) FROM t_aux.seq ORDER BY n;
CREATE TABLE redundant2 (id INT NOT NULL PRIMARY KEY, v VARCHAR(60)) ENGINE=InnoDB ROW_FORMAT=REDUNDANT;
INSERT INTO redundant2 SELECT (n * 7919) % 10007, CONCAT('value ', n) FROM t_aux.seq ORDER BY n;
-- long keys: three levels out of few rows
CREATE TABLE tall3 (k VARCHAR(250) NOT NULL, v INT, f CHAR(250) NOT NULL, PRIMARY KEY (k, f)) ENGINE=InnoDB;
INSERT INTO tall3 SELECT CONCAT(REPEAT('k', 200), LPAD((n * 7919) % 10007, 6, '0')), n, REPEAT('f', 250) FROM t_aux.seq WHERE n < 2500 ORDER BY n;
CREATE TABLE tall_redundant (k VARCHAR(250) NOT NULL, v INT, f CHAR(250) NOT NULL, PRIMARY KEY (k, f)) ENGINE=InnoDB ROW_FORMAT=REDUNDANT;
INSERT INTO tall_redundant SELECT * FROM tall3 ORDER BY v LIMIT 1500;
