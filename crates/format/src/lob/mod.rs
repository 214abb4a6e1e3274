//! Off-page columns as machines that ask for pages: the old BLOB chain and MySQL 8's LOB index.
