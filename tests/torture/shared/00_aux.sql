-- Numbers to select from.  Loaded first, dropped before the results are taken.
CREATE DATABASE t_aux CHARACTER SET latin1;
USE t_aux;
CREATE TABLE digit (n INT NOT NULL PRIMARY KEY) ENGINE=InnoDB;
INSERT INTO digit VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9);
CREATE TABLE hex (n INT NOT NULL PRIMARY KEY) ENGINE=InnoDB;
INSERT INTO hex VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9),(10),(11),(12),(13),(14),(15);
-- 0 .. 9999, or fewer where the result is to be small
CREATE TABLE seq (n INT NOT NULL PRIMARY KEY) ENGINE=InnoDB;
INSERT INTO seq SELECT a.n*1000+b.n*100+c.n*10+d.n FROM digit a, digit b, digit c, digit d ORDER BY 1;
--@if small
DELETE FROM seq WHERE n >= 800;
--@endif
