CREATE TABLE `rows_` (
  `id` int NOT NULL,
  `part` smallint unsigned NOT NULL DEFAULT '7',
  `name` varchar(60) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci DEFAULT NULL,
  `amount` decimal(12,3) DEFAULT NULL,
  `at` datetime(3) DEFAULT NULL,
  `kind` enum('a','bb','ccc') CHARACTER SET latin1 COLLATE latin1_swedish_ci DEFAULT NULL,
  `fixed` char(8) CHARACTER SET latin1 COLLATE latin1_swedish_ci NOT NULL,
  `data` mediumblob,
  PRIMARY KEY (`id`,`part`),
  KEY `by_name` (`name`)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=4 ENCRYPTION='Y'
