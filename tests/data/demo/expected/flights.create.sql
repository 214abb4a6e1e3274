CREATE TABLE `flights` (
  `carrier` char(2) CHARACTER SET ascii COLLATE ascii_general_ci NOT NULL,
  `flight` smallint(5) unsigned NOT NULL,
  `scheduled` datetime NOT NULL COMMENT 'scheduled departure, local time',
  `tailnum` varchar(6) CHARACTER SET ascii COLLATE ascii_general_ci DEFAULT NULL,
  `origin` enum('EWR','JFK','LGA') NOT NULL,
  `dest` char(3) CHARACTER SET ascii COLLATE ascii_general_ci NOT NULL,
  `departed` time DEFAULT NULL,
  `dep_delay` smallint(6) DEFAULT NULL COMMENT 'minutes; early is negative',
  `arrived` time DEFAULT NULL,
  `arr_delay` smallint(6) DEFAULT NULL,
  `air_hours` decimal(4,2) DEFAULT NULL,
  `distance` float NOT NULL COMMENT 'miles',
  `hour_utc` timestamp NOT NULL DEFAULT '2013-01-01 00:00:00',
  PRIMARY KEY (`carrier`,`flight`,`scheduled`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci COMMENT='flights out of New York, January to April 2013'