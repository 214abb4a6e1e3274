//! InnoDB's own dictionary: the `SYS_` tables of MySQL 5.x and MariaDB.
