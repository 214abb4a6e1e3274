-- What MySQL alone has.
USE d;
SET sql_mode = '';
CREATE TABLE documents (id INT NOT NULL PRIMARY KEY, j JSON, h INT INVISIBLE, KEY fk ((id + 1))) ENGINE=InnoDB;
INSERT INTO documents (id, j, h) VALUES (1, '{"a": "b", "c": [1, null]}', 3), (2, NULL, NULL);
