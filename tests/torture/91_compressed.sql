-- Compressed tables, pages and columns; tables in shared tablespaces, which are refused by name. (92_zip has more of
-- the first.)
CREATE DATABASE t_refused CHARACTER SET latin1;
USE t_refused;
SET sql_mode = 'NO_ENGINE_SUBSTITUTION';
--@if page=16384 | page=8192 | page=4096
CREATE TABLE zip4 (id INT NOT NULL PRIMARY KEY, v VARCHAR(200), b BLOB) ENGINE=InnoDB ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=4;
INSERT INTO zip4 SELECT n, CONCAT('v', n), REPEAT('b', n * 10) FROM t_aux.seq WHERE n < 1500;
CREATE TABLE zip_default (id INT NOT NULL PRIMARY KEY, v VARCHAR(200)) ENGINE=InnoDB ROW_FORMAT=COMPRESSED;
INSERT INTO zip_default VALUES (1, 'x');
--@endif
--@if mariadb>=10.3
CREATE TABLE compressed_column (id INT NOT NULL PRIMARY KEY, b BLOB COMPRESSED, t TEXT COMPRESSED DEFAULT 'x', v VARCHAR(500) COMPRESSED) ENGINE=InnoDB;
INSERT INTO compressed_column VALUES (1, REPEAT('b', 5000), REPEAT('t', 1000), REPEAT('v', 500)), (2, '', 'short', NULL);
--@endif
--@if mariadb page>=16384
CREATE TABLE page_compressed (id INT NOT NULL PRIMARY KEY, v VARCHAR(200)) ENGINE=InnoDB PAGE_COMPRESSED=1;
INSERT INTO page_compressed SELECT n, REPEAT('v', 100) FROM t_aux.seq WHERE n < 1000;
--@endif
--@if mysql>=5.7.8 page>=16384
CREATE TABLE page_compressed (id INT NOT NULL PRIMARY KEY, v VARCHAR(200)) ENGINE=InnoDB COMPRESSION='zlib';
INSERT INTO page_compressed SELECT n, REPEAT('v', 100) FROM t_aux.seq WHERE n < 1000;
--@endif
--@if mysql>=5.7.6
CREATE TABLESPACE t_shared ADD DATAFILE 't_shared.ibd';
CREATE TABLE in_general (id INT NOT NULL PRIMARY KEY, v VARCHAR(200)) ENGINE=InnoDB TABLESPACE=t_shared;
INSERT INTO in_general VALUES (1, 'x');
CREATE TABLE in_system (id INT NOT NULL PRIMARY KEY, v VARCHAR(200)) ENGINE=InnoDB TABLESPACE=innodb_system;
INSERT INTO in_system VALUES (1, 'x');
--@endif
SET GLOBAL innodb_file_per_table = OFF;
CREATE TABLE not_per_table (id INT NOT NULL PRIMARY KEY, v VARCHAR(200)) ENGINE=InnoDB;
INSERT INTO not_per_table VALUES (1, 'x');
SET GLOBAL innodb_file_per_table = ON;
