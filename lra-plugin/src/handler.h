/* InnoDB's handler, with its scans followed. */

#ifndef LRA_HANDLER_H
#define LRA_HANDLER_H

#include <cstddef>

#include "innodb.h"

namespace lra {

/** Makes InnoDB's handlertons create handlers that follow their scans.
@return false when there is no InnoDB */
bool hook_handlers();

/** Undoes it; handlers there are stay. */
void unhook_handlers();

/** Whether the plugin is at work. */
bool is_hooked();

/** Handlers there are, whose code is this plugin's. */
std::size_t live_handlers();

}  // namespace lra

#endif
