-- What a stopped server's files do not hold, or not where innoscan reads it; what some server's own
-- dump stumbles over.
USE d;
CREATE TABLE compressed (id INT NOT NULL PRIMARY KEY, v VARCHAR(50), b BLOB) ENGINE=InnoDB ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=8;
INSERT INTO compressed SELECT * FROM redundant;
CREATE TABLE comma (a INT NOT NULL, b VARCHAR(20) NOT NULL) ENGINE=CSV;
INSERT INTO comma VALUES (1, 'a'), (2, 'b');
CREATE TABLE merged (id INT NOT NULL, n INT, KEY (id)) ENGINE=MERGE UNION=(my_fixed) INSERT_METHOD=NO;
CREATE TABLE archived (id INT, v VARCHAR(20)) ENGINE=ARCHIVE;
INSERT INTO archived VALUES (1, 'x');
CREATE TABLE black (id INT) ENGINE=BLACKHOLE;
CREATE TABLE gone (id INT) ENGINE=InnoDB;
CREATE VIEW broken AS SELECT id FROM gone;
DROP TABLE gone;
CREATE TABLE elsewhere (id INT NOT NULL PRIMARY KEY) ENGINE=InnoDB DATA DIRECTORY='@DIRECTORY@';
INSERT INTO elsewhere VALUES (1);
