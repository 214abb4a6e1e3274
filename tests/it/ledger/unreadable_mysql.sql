-- Tablespaces that several tables are in.
USE d;
CREATE TABLESPACE general ADD DATAFILE 'general.ibd' ENGINE=InnoDB;
CREATE TABLE in_general (id INT NOT NULL PRIMARY KEY, v INT) TABLESPACE=general ENGINE=InnoDB;
INSERT INTO in_general VALUES (1, 2);
CREATE TABLE in_system (id INT NOT NULL PRIMARY KEY) TABLESPACE=innodb_system ENGINE=InnoDB;
