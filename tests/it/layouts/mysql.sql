-- What MySQL alone has.
USE plain;
SET sql_mode = '';
CREATE TABLE mine (id INT NOT NULL PRIMARY KEY, j JSON, h INT INVISIBLE, KEY fk ((id + 1)), p POINT NOT NULL SRID 4326, d VARCHAR(20) DEFAULT (CONCAT('a;', id)));
INSERT INTO mine (id, j, h, p, d) VALUES (1, '{"a": "b;\\n\\u0007", "c": [1, null]}', 3, ST_GeomFromText('POINT(1 2)', 4326), 'x'), (2, NULL, NULL, ST_GeomFromText('POINT(0 0)', 4326), NULL);
SET time_zone = '+02:00';
CREATE DEFINER=`root`@`localhost` EVENT nightly ON SCHEDULE EVERY 1 DAY STARTS '2030-01-01 00:00:00' DISABLE COMMENT 'at; night' DO DELETE FROM digit WHERE n > 100;
