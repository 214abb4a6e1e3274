CREATE TABLE `cities` (
  `geonameid` int unsigned NOT NULL COMMENT 'GeoNames identifier',
  `name` varchar(200) NOT NULL,
  `latitude` decimal(8,5) NOT NULL,
  `longitude` decimal(8,5) NOT NULL,
  `country` char(2) CHARACTER SET ascii COLLATE ascii_general_ci NOT NULL,
  `admin1` varchar(20) CHARACTER SET ascii COLLATE ascii_general_ci DEFAULT NULL,
  `population` int unsigned NOT NULL DEFAULT '0',
  `timezone` varchar(40) CHARACTER SET ascii COLLATE ascii_general_ci NOT NULL,
  `alternate_names` json DEFAULT NULL,
  PRIMARY KEY (`geonameid`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci COMMENT='cities of 15,000 people and more'