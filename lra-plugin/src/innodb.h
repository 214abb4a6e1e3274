/* The server's own headers, in the order they need. */

#ifndef LRA_INNODB_H
#define LRA_INNODB_H

#include "my_config.h"

#include <mysql/plugin.h>

#include "sql/current_thd.h"
#include "sql/handler.h"
#include "sql/sql_class.h"
#include "sql/sql_lex.h"
#include "sql/table.h"
#include "storage/innobase/handler/ha_innodb.h"
#include "storage/innobase/handler/ha_innopart.h"

#include "btr0btr.h"
#include "btr0cur.h"
#include "btr0pcur.h"
#include "buf0buf.h"
#include "buf0lru.h"
#include "buf0rea.h"
#include "dict0dd.h"
#include "dict0dict.h"
#include "fil0fil.h"
#include "fsp0fsp.h"
#include "mtr0mtr.h"
#include "os0file.h"
#include "page0cur.h"
#include "page0page.h"
#include "rem0cmp.h"
#include "rem0rec.h"
#include "row0mysql.h"
#include "srv0srv.h"
#include "srv0start.h"

#endif
