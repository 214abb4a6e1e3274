CREATE TABLE `rows_` (
  `id` int(11) NOT NULL,
  `part` smallint(5) unsigned NOT NULL DEFAULT 7,
  `name` varchar(60) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci DEFAULT NULL,
  `amount` decimal(12,3) DEFAULT NULL,
  `at` datetime(3) DEFAULT NULL,
  `kind` enum('a','bb','ccc') DEFAULT NULL,
  `fixed` char(8) NOT NULL,
  `data` mediumblob DEFAULT NULL,
  PRIMARY KEY (`id`,`part`),
  KEY `by_name` (`name`)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci `PAGE_COMPRESSED`='1' `ENCRYPTED`='YES'
