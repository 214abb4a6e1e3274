CREATE TABLE `instant` (
  `d` int DEFAULT NULL,
  `a` int NOT NULL,
  `c` varchar(10) DEFAULT 'xyz',
  PRIMARY KEY (`a`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci
