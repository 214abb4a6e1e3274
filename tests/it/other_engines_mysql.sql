USE d;
CREATE TABLE documents_ (id INT, j JSON, g GEOMETRY NOT NULL, SPATIAL KEY (g)) @FORMAT;
INSERT INTO documents_ VALUES (1, '{"a": [1, 2.5, "x", null, true]}', POINT(1, 2)), (2, NULL, POINT(0, 0)),
  (3, '[]', ST_GeomFromText('LINESTRING(0 0,1 1)')), (4, CONCAT('"', REPEAT('j', 70000), '"'), POINT(3, 3));
CREATE TABLE virtual_ (a INT, v INT AS (a + 1) VIRTUAL, b BIT(3), w VARCHAR(9) AS (CONCAT('w', a)) VIRTUAL,
  c BIT(6), d INT NOT NULL) @FORMAT;
INSERT INTO virtual_ (a, b, c, d) VALUES (1, 5, 63, 1), (NULL, NULL, NULL, 2), (3, 1, 32, 3);
