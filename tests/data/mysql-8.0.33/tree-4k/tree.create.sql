CREATE TABLE `tree` (
  `k` varbinary(255) NOT NULL,
  `n` int NOT NULL,
  `t` varchar(100) DEFAULT NULL,
  `b` longblob,
  PRIMARY KEY (`k`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci ROW_FORMAT=DYNAMIC
