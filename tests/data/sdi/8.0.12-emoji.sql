CREATE TABLE `emoji` (
  `e` varchar(9) DEFAULT 'é?',
  `w` varbinary(10) DEFAULT '?\0'
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci
