"""A table with as many row versions as the server takes."""
import sys

family, version = sys.argv[1], tuple(map(int, sys.argv[2].split(".")))
print("-- needs: mysql>=8.0.29\nUSE t_instant;")
limit = 64
for v in range(1, limit + 1):
    if v % 3:
        print("ALTER TABLE versions_64 ADD COLUMN c%d %s, ALGORITHM=INSTANT;" % (v, ["INT DEFAULT %d" % v, "VARCHAR(9) NOT NULL DEFAULT 'd%d' FIRST" % v][v % 2]))
    else:
        print("ALTER TABLE versions_64 DROP COLUMN c%d, ALGORITHM=INSTANT;" % (v - 1))
    print("INSERT INTO versions_64 (id, a) VALUES (%d, %s);" % (v, "NULL" if v % 5 == 0 else v))
