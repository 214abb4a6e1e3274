CREATE TABLE `texts` (
  `c` char(5) CHARACTER SET ucs2 COLLATE ucs2_general_ci DEFAULT 'äb',
  `v` varchar(20) CHARACTER SET latin1 COLLATE latin1_swedish_ci NOT NULL DEFAULT 'Ärger''s',
  `e` enum('a','b''c','ü\\') COLLATE utf8mb4_bin DEFAULT 'b''c',
  `s` set('x','y','zé') CHARACTER SET latin1 COLLATE latin1_swedish_ci DEFAULT 'x,zé',
  `b` binary(4) DEFAULT 'ab\0\0',
  `t` tinytext COLLATE utf8mb4_bin,
  KEY `k` (`v`(5) DESC,`c`),
  KEY `p` (`t`(10))
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin COMMENT='it''s'
