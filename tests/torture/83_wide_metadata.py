"""A metadata record whose list of columns fills more than a BLOB page's first part."""
print("-- needs: mariadb>=10.4 page>=16384\nUSE t_instant;")
print("ALTER TABLE wide_metadata " + ", ".join("ADD COLUMN c%d VARCHAR(10) DEFAULT 'd%d' FIRST" % (i, i) for i in range(400)) + ", ALGORITHM=INSTANT;")
print("INSERT INTO wide_metadata (id, a) VALUES (2, 2);")
print("ALTER TABLE wide_metadata " + ", ".join("DROP COLUMN c%d" % i for i in range(0, 400, 2)) + ", ALGORITHM=INSTANT;")
print("INSERT INTO wide_metadata (id, a, c1, c399) VALUES (3, 3, NULL, 'last');")
