CREATE TABLE `instant` (
  `a` int(11) NOT NULL,
  `b` decimal(7,2) DEFAULT NULL,
  `c` varchar(10) DEFAULT 'xyz',
  `d` int(11) DEFAULT NULL,
  PRIMARY KEY (`a`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci
