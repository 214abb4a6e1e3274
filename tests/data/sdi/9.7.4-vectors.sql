CREATE TABLE `vectors` (
  `v` vector(3) DEFAULT NULL,
  `w` vector(2048) NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci
