-- Odd names, every kind of column the families share, keys and none, and what is no table.
SET NAMES utf8mb4;
SET sql_mode = 'NO_ENGINE_SUBSTITUTION,ALLOW_INVALID_DATES';
SET foreign_key_checks = 0;
CREATE DATABASE plain CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;
CREATE DATABASE `größe-1 x` CHARACTER SET latin1 COLLATE latin1_german1_ci;
CREATE DATABASE `a.b'c` CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
USE plain;
CREATE TABLE kinds (
  id INT NOT NULL PRIMARY KEY, ti TINYINT UNSIGNED ZEROFILL, si SMALLINT, mi MEDIUMINT, bi BIGINT UNSIGNED,
  de DECIMAL(20,5), fl FLOAT, fd FLOAT(7,3), dou DOUBLE, bi1 BIT(1), bi17 BIT(17), ye YEAR, da DATE, ti3 TIME(3),
  dt DATETIME(6), ts TIMESTAMP(2) NULL, ch CHAR(10), ch1 CHAR(10) CHARACTER SET latin1, u2 VARCHAR(20) CHARACTER SET ucs2,
  sj VARCHAR(20) CHARACTER SET sjis, gb VARCHAR(20) CHARACTER SET gbk, v8 VARCHAR(100), v3 VARCHAR(20) CHARACTER SET utf8mb3,
  tt TINYTEXT, lt LONGTEXT CHARACTER SET latin1, bn BINARY(5), vb VARBINARY(20), bl BLOB, lb LONGBLOB,
  en ENUM('one','it''s','é','a;b') CHARACTER SET latin1, en8 ENUM('日','','x'), se SET('p','q','r s') , ge GEOMETRY, po POINT
) COMMENT='of; every ''kind''\nin lines;';
INSERT INTO kinds VALUES
 (1,7,-32768,8388607,18446744073709551615,12345.67890,1.1754944e-38,3.142,-0e0,1,0x15c5c,2024,'2024-02-29','-838:59:58.999',
  '9999-12-31 23:59:59.999999','2038-01-19 03:14:07.5','tail  ','café','日本é','ソ表','漢字','tab\tnl\ncr\r;\nq"\'b\\z\Z0\0','é',
  '','\'); DROP TABLE kinds;\n',0x0001ff,'\\N',0x00010a0d091a5c2722ff,REPEAT(0x5c0a00, 5000),2,'','p,r s',ST_GeomFromText('POINT(1 2)'),ST_GeomFromText('POINT(-1.5 1e300)')),
 (2,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL),
 (-3,0,0,0,0,0,0.1,0,1e-310,0,0,0,'0000-00-00','00:00:00','0000-00-00 00:00:00','0000-00-00 00:00:00','','','','','','\\N','','NULL','',
  '','','','','é','日','',NULL,ST_GeomFromText('POINT(0 0)')),
 (4,255,1,-1,1,-0.00001,3.4028234e38,-1.5,1.7976931348623157e308,1,1,1901,'1000-01-01','12:34:56.789','2000-02-29 00:00:00','2000-01-01','\\','\\t','a','b','c',
  'DELIMITER ;;','d','e','f','g','h','i','j','a;b','x','q',NULL,NULL);
CREATE TABLE invalid_dates (id INT NOT NULL PRIMARY KEY, d DATE, t DATETIME);
INSERT INTO invalid_dates VALUES (1,'2024-02-31','2023-02-29 12:00:00');
CREATE TABLE empty_one (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, v INT) AUTO_INCREMENT=77;
CREATE TABLE `no key` (a INT, b VARCHAR(10), KEY (b));
INSERT INTO `no key` VALUES (1,'x'),(1,'x'),(NULL,NULL),(2,'y');
CREATE TABLE `dot.dot` (`a.b` INT NOT NULL PRIMARY KEY);
INSERT INTO `dot.dot` VALUES (1);
CREATE TABLE `quo'te"d` (`it's` INT NOT NULL PRIMARY KEY, `"` INT);
INSERT INTO `quo'te"d` VALUES (1,2);
CREATE TABLE `日本 été-1` (`é` INT NOT NULL PRIMARY KEY) COMMENT='комментарий';
INSERT INTO `日本 été-1` VALUES (1),(2);
CREATE TABLE `a-schema` (id INT NOT NULL PRIMARY KEY);
INSERT INTO `a-schema` VALUES (9);
CREATE TABLE mydumper_0 (id INT NOT NULL PRIMARY KEY);
INSERT INTO mydumper_0 VALUES (8);
CREATE TABLE `@%/@@0` (id INT NOT NULL PRIMARY KEY);
INSERT INTO `@%/@@0` VALUES (7);
CREATE TABLE calculated (id INT NOT NULL PRIMARY KEY, a INT, v INT AS (a + 1) VIRTUAL, b VARCHAR(10), s VARCHAR(20) AS (CONCAT(b, '-', a)) STORED, KEY kv (v), UNIQUE KEY ks (s));
INSERT INTO calculated (id, a, b) VALUES (1,2,'x'),(2,NULL,'y'),(3,4,NULL);
CREATE TABLE child (id INT NOT NULL PRIMARY KEY, p INT, q INT, CONSTRAINT `f;1` FOREIGN KEY (p) REFERENCES parent (id) ON DELETE CASCADE,
  CONSTRAINT f2 FOREIGN KEY (q) REFERENCES `größe-1 x`.other (id) ON UPDATE SET NULL);
CREATE TABLE parent (id INT NOT NULL PRIMARY KEY, up INT, KEY (up), CONSTRAINT self FOREIGN KEY (up) REFERENCES parent (id));
CREATE TABLE `größe-1 x`.other (id INT NOT NULL PRIMARY KEY, t VARCHAR(20), UNIQUE KEY (t), FULLTEXT KEY ft (t)) ENGINE=InnoDB;
INSERT INTO parent VALUES (1,2),(2,NULL);
INSERT INTO `größe-1 x`.other VALUES (1,'Ä'),(2,'b');
INSERT INTO child VALUES (1,1,1),(2,2,2),(3,NULL,NULL);
CREATE TABLE parts (id INT NOT NULL, v INT, PRIMARY KEY (id)) PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN MAXVALUE);
INSERT INTO parts VALUES (1,1),(20,2),(3,3);
CREATE TABLE digit (n INT NOT NULL PRIMARY KEY);
INSERT INTO digit VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9);
CREATE TABLE many (id INT NOT NULL PRIMARY KEY, t VARCHAR(200), b VARBINARY(50), KEY kt (t)) CHARACTER SET latin1;
INSERT INTO many SELECT a.n*1000+b.n*100+c.n*10+d.n, REPEAT(CHAR(65 + d.n), a.n * 10 + b.n), UNHEX(SHA1(a.n*1000+b.n*100+c.n*10+d.n)) FROM digit a, digit b, digit c, digit d;
CREATE TABLE `other engine` (id INT NOT NULL PRIMARY KEY, t TEXT CHARACTER SET latin1, b BLOB, bits BIT(12), at DATETIME, e ENUM('a','b'), s SET('p','q','r'), d DECIMAL(5,1), g INT AS (id + 1) STORED) ENGINE=MyISAM;
INSERT INTO `other engine` (id, t, b, bits, at, e, s, d) VALUES (1, 'café; \'q\'\n\t\\', 0x00ff1a, 0x203, '2024-02-29 12:34:56', 'b', 'p,r', -1.5), (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
USE `a.b'c`;
CREATE TABLE `t.1` (id INT NOT NULL PRIMARY KEY, v VARCHAR(20)) CHARACTER SET utf8mb4;
INSERT INTO `t.1` VALUES (1,'x'),(2,'日本');
CREATE DEFINER=`root`@`localhost` VIEW `v.1` AS SELECT id AS `i;d`, v FROM `t.1`;
USE plain;
CREATE DEFINER=`root`@`localhost` VIEW z_view AS SELECT id, en AS `é x`, 'a;b' AS lit FROM kinds;
CREATE DEFINER=`root`@`localhost` SQL SECURITY INVOKER VIEW a_view AS SELECT v.id, v.`é x` FROM z_view v WHERE v.id > 1;
DELIMITER $$
SET sql_mode = 'ANSI_QUOTES,NO_ENGINE_SUBSTITUTION'$$
CREATE DEFINER=`root`@`localhost` PROCEDURE "p;1"(IN a INT)
BEGIN
  DECLARE x INT;
  SET x = a;
  -- a comment; with an end;
  SELECT "id", ';', 'é' FROM kinds WHERE id = x;
END$$
SET sql_mode = 'STRICT_TRANS_TABLES'$$
CREATE DEFINER=`root`@`localhost` FUNCTION f(a INT) RETURNS INT DETERMINISTIC RETURN a + 1$$
CREATE DEFINER=`root`@`localhost` TRIGGER before_child BEFORE INSERT ON child FOR EACH ROW
BEGIN
  SET NEW.q = f(NEW.q);
  SET NEW.p = NULL;
END$$
CREATE DEFINER=`root`@`localhost` TRIGGER `tr 2` AFTER DELETE ON `dot.dot` FOR EACH ROW INSERT INTO digit VALUES (OLD.`a.b` + 100)$$
SET NAMES latin1 COLLATE latin1_german2_ci$$
CREATE DEFINER=`root`@`localhost` PROCEDURE latin() SELECT 'café' AS "Ä"$$
SET NAMES utf8mb4$$
DELIMITER ;
