CREATE TABLE `newer` (
  `id` int NOT NULL,
  `u` varchar(36) DEFAULT (uuid()),
  `w` varbinary(10) DEFAULT 0xFF00,
  `h` int DEFAULT NULL /*!80023 INVISIBLE */,
  `e` varchar(9) DEFAULT 0xF09F9880,
  PRIMARY KEY (`id`),
  KEY `i` (`h`) /*!80000 INVISIBLE */,
  KEY `f` (((`id` + 1)),(upper(`u`)) DESC),
  FULLTEXT KEY `u` (`u`),
  CONSTRAINT `c` CHECK ((`id` > 0)) /*!80016 NOT ENFORCED */
) /*!80023 AUTOEXTEND_SIZE=4194304 */ ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci
