CREATE TABLE `numbers` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  `i` int(6) unsigned zerofill DEFAULT '000007',
  `o` tinyint(1) DEFAULT '1',
  `d` decimal(10,3) unsigned DEFAULT '1.500',
  `f` float(7,3) DEFAULT NULL,
  `y` year(4) DEFAULT '2001',
  `b` bit(9) DEFAULT b'101',
  `g` int(11) GENERATED ALWAYS AS ((`i` + 1)) VIRTUAL,
  PRIMARY KEY (`id`) COMMENT 'pk',
  UNIQUE KEY `u` (`i`) USING BTREE
) ENGINE=InnoDB AUTO_INCREMENT=41 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci MAX_ROWS=9 STATS_PERSISTENT=0 ROW_FORMAT=COMPACT
