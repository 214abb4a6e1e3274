//! Page checksums: crc32c, innodb, none, and MariaDB full_crc32.
