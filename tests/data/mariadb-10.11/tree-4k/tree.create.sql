CREATE TABLE `tree` (
  `k` varbinary(255) NOT NULL,
  `n` int(11) NOT NULL,
  `t` varchar(100) DEFAULT NULL,
  `b` longblob DEFAULT NULL,
  PRIMARY KEY (`k`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci ROW_FORMAT=DYNAMIC
