CREATE TABLE `orders` (
  `id` int unsigned NOT NULL AUTO_INCREMENT,
  `customer` varchar(40) NOT NULL,
  `total` decimal(10,2) NOT NULL,
  `placed` datetime NOT NULL,
  `state` enum('new','paid','sent') NOT NULL,
  `note` text,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=515 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci
