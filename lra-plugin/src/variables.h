/* What a user sets and sees. */

#ifndef LRA_VARIABLES_H
#define LRA_VARIABLES_H

#include <chrono>
#include <cstddef>
#include <optional>

#include "counters.h"
#include "innodb.h"

namespace lra {

/** A session's settings. */
struct Settings {
  /** Megabytes of the window; 0 is off. */
  std::size_t size_mb;
  std::chrono::milliseconds sleep;
  /** none: as the device likes it. */
  std::optional<std::size_t> gap_pages;
  std::size_t request_bytes;
  /** none: as the device likes it. */
  std::optional<std::size_t> reads;
};

Settings settings_of(THD *thd);

/** Moves what a scan counted to its session's counters. */
void add_to_session(THD *thd, Counters *counters);

extern SYS_VAR *system_variables[];
extern SHOW_VAR status_variables[];

}  // namespace lra

#endif
