#!/bin/sh
# Makes orders.ibd and what the server says of it, with MySQL 8.0.33 on pages of 4 KiB.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
server="$here/../../servers/server.sh"
dir=$(mktemp -d)
trap '"$server" mysql-8.0.33 stop "$dir" >/dev/null 2>&1 || true; rm -rf "$dir"' EXIT
"$server" mysql-8.0.33 run "$dir" --innodb-page-size=4096
"$server" mysql-8.0.33 sql "$dir" <<'SQL'
SET time_zone = '+00:00';
CREATE DATABASE shop;
USE shop;
CREATE TABLE orders (
  id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  customer VARCHAR(40) NOT NULL,
  total DECIMAL(10,2) NOT NULL,
  placed DATETIME NOT NULL,
  state ENUM('new','paid','sent') NOT NULL,
  note TEXT
) CHARSET=utf8mb4;
INSERT INTO orders (customer, total, placed, state, note) VALUES
  ('Ada', 19.90, '2024-01-31 08:15:00', 'sent', NULL),
  ('Grace', 250.00, '2024-02-01 17:30:05', 'paid', 'call first'),
  ('Zoë', 7.05, '2024-02-02 00:00:00', 'new', REPEAT('a long note. ', 1500));
INSERT INTO orders (customer, total, placed, state)
  SELECT CONCAT('customer ', n), n / 4, '2024-03-01' + INTERVAL n HOUR, 1 + n % 3
  FROM (WITH RECURSIVE s AS (SELECT 4 AS n UNION ALL SELECT n + 1 FROM s WHERE n < 400)
        SELECT n FROM s) AS numbers;
SQL
"$server" mysql-8.0.33 sql "$dir" -N --raw -e 'SHOW CREATE TABLE shop.orders' |
  cut -f 2- >"$here/orders.create.sql"
"$server" mysql-8.0.33 sql "$dir" -N -e 'CHECKSUM TABLE shop.orders' | cut -f 2 >"$here/orders.checksum"
"$server" mysql-8.0.33 sql "$dir" -N -e "SET time_zone = '+00:00'; SELECT * FROM shop.orders" >"$here/orders.txt"
"$server" mysql-8.0.33 stop "$dir"
cp "$dir/data/shop/orders.ibd" "$here/orders.ibd"
