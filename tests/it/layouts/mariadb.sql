-- What MariaDB alone has.
USE plain;
SET sql_mode = '';
CREATE TABLE maria (id UUID NOT NULL PRIMARY KEY, a INET6, b INET4, j JSON, c TEXT, i INT INVISIBLE);
INSERT INTO maria (id, a, b, j, c, i) VALUES ('123e4567-e89b-12d3-a456-426655440000','2001:db8::1','192.0.2.1','{"a": "b;\\n"}',REPEAT('x;', 500),5),
 ('01890a5d-ac96-774b-bcce-b302099a8057','::','0.0.0.0','[]','',NULL),('00000000-0000-0000-0000-000000000000',NULL,NULL,NULL,NULL,-1);
CREATE SEQUENCE ids START WITH 100 INCREMENT BY 5 CACHE 10;
SELECT NEXTVAL(ids);
-- Not in `plain`: Debian's myloader makes sequences after the tables.
CREATE TABLE `a.b'c`.uses_sequence (id BIGINT NOT NULL DEFAULT NEXTVAL(plain.ids) PRIMARY KEY, v INT);
INSERT INTO `a.b'c`.uses_sequence (v) VALUES (1),(2);
SET time_zone = '+02:00';
CREATE DEFINER=`root`@`localhost` EVENT nightly ON SCHEDULE EVERY 1 DAY STARTS '2030-01-01 00:00:00' DISABLE COMMENT 'at; night' DO DELETE FROM digit WHERE n > 100;
