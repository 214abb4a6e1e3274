#include "variables.h"

#include "mysqld_error.h"
#include "sql/sql_error.h"

#include "prefetch.h"
#include "readers.h"

namespace lra {

namespace {

/** Of lra_gap, lra_max_io and lra_threads. */
constexpr long automatic = -1;

/** Bytes of a request where lra_max_io is automatic. */
constexpr std::size_t request_bytes_automatic = 1 << 20;

/** Says that the pool cannot hold so large a window. Said when it is set, and not by the statements
that scan: their warnings are their own. */
void warn_of_window(THD *thd, unsigned long size_mb) {
  const std::size_t usable_mb = Prefetch::pool_bytes() >> 20;
  if (size_mb <= usable_mb) return;
  push_warning_printf(thd, Sql_condition::SL_WARNING, ER_UNKNOWN_ERROR,
                      "lra_size is %lu MB, but only %zu MB of unused pages would stay in "
                      "the buffer pool: windows are reduced to that size. Raise innodb_old_blocks_pct "
                      "or innodb_buffer_pool_size, or lower lra_size.",
                      size_mb, usable_mb);
}

void update_size(THD *thd, SYS_VAR *, void *var, const void *value) {
  const auto size_mb = *static_cast<const unsigned long *>(value);
  *static_cast<unsigned long *>(var) = size_mb;
  warn_of_window(thd, size_mb);
}

MYSQL_THDVAR_ULONG(size, PLUGIN_VAR_RQCMDARG,
                   "Megabytes of leaf pages that a scan is read ahead of; 0 is off.", nullptr,
                   update_size, 0, 0, 16384, 0);
MYSQL_THDVAR_ULONG(sleep, PLUGIN_VAR_RQCMDARG,
                   "Milliseconds to pause after each 1024 pages, to let others read.", nullptr, nullptr,
                   0, 0, 1000, 0);
MYSQL_THDVAR_LONG(gap, PLUGIN_VAR_RQCMDARG,
                  "Unneeded pages that one request may read through; -1: chosen by measuring the "
                  "device.",
                  nullptr, nullptr, automatic, automatic, 1000, 0);
MYSQL_THDVAR_LONG(max_io, PLUGIN_VAR_RQCMDARG,
                  "Maximum kilobytes of one request; -1: 1024.", nullptr, nullptr, automatic,
                  automatic, 16384, 0);
MYSQL_THDVAR_LONG(threads, PLUGIN_VAR_RQCMDARG,
                  "Maximum reads in flight of one scan; -1: chosen by measuring the "
                  "device.",
                  nullptr, nullptr, automatic, automatic, 256, 0);

/** A session's counters have their place among its variables, so they end with it. */
#define LRA_SESSION_COUNTER(name, text)                                                  \
  MYSQL_THDVAR_LONGLONG(session_##name, PLUGIN_VAR_NOSYSVAR | PLUGIN_VAR_NOCMDOPT, text, \
                        nullptr, nullptr, 0, 0, LLONG_MAX, 0);
LRA_COUNTERS(LRA_SESSION_COUNTER)
#undef LRA_SESSION_COUNTER

unsigned long reads_most;

void update_reads_most(THD *, SYS_VAR *, void *var, const void *value) {
  *static_cast<unsigned long *>(var) = *static_cast<const unsigned long *>(value);
  readers.set_most(reads_most);
}

MYSQL_SYSVAR_ULONG(max_reads, reads_most, PLUGIN_VAR_RQCMDARG,
                   "Maximum reads in flight of all scans together.", nullptr,
                   update_reads_most, 64, 1, 256, 0);

/** Fills in what one status variable shows. */
int show(SHOW_VAR *var, char *buffer, long long value) {
  var->type = SHOW_LONGLONG;
  var->value = buffer;
  *reinterpret_cast<long long *>(buffer) = value;
  return 0;
}

#define LRA_SHOW(name, text)                                                             \
  int show_##name(THD *, SHOW_VAR *var, char *buffer) {                                  \
    return show(var, buffer, server_counters.get(Counter::name)); \
  }                                                                                      \
  int show_session_##name(THD *thd, SHOW_VAR *var, char *buffer) {                       \
    return show(var, buffer, THDVAR(thd, session_##name));                               \
  }
LRA_COUNTERS(LRA_SHOW)
#undef LRA_SHOW

}  // namespace

Settings settings_of(THD *thd) {
  const auto number = [](long set) -> std::optional<std::size_t> {
    if (set == automatic) return std::nullopt;
    return static_cast<std::size_t>(set);
  };
  Settings settings;
  settings.size_mb = THDVAR(thd, size);
  settings.sleep = std::chrono::milliseconds(THDVAR(thd, sleep));
  settings.gap_pages = number(THDVAR(thd, gap));
  const auto request_kb = number(THDVAR(thd, max_io));
  settings.request_bytes = request_kb ? *request_kb << 10 : request_bytes_automatic;
  settings.reads = number(THDVAR(thd, threads));
  if (settings.reads == 0) settings.reads = 1;
  return settings;
}

void add_to_session(THD *thd, Counters *counters) {
#define LRA_ADD(name, text) \
  THDVAR(thd, session_##name) += counters->take(Counter::name);
  LRA_COUNTERS(LRA_ADD)
#undef LRA_ADD
}

SYS_VAR *system_variables[] = {MYSQL_SYSVAR(size),    MYSQL_SYSVAR(sleep),
                               MYSQL_SYSVAR(gap),     MYSQL_SYSVAR(max_io),
                               MYSQL_SYSVAR(threads), MYSQL_SYSVAR(max_reads),
#define LRA_SYSVAR(name, text) MYSQL_SYSVAR(session_##name),
                               LRA_COUNTERS(LRA_SYSVAR)
#undef LRA_SYSVAR
                                   nullptr};

SHOW_VAR status_variables[] = {
#define LRA_STATUS(name, text)                                                      \
  {"lra_" #name, reinterpret_cast<char *>(show_##name), SHOW_FUNC, SHOW_SCOPE_GLOBAL}, \
      {"lra_session_" #name, reinterpret_cast<char *>(show_session_##name), SHOW_FUNC, \
       SHOW_SCOPE_SESSION},
    LRA_COUNTERS(LRA_STATUS)
#undef LRA_STATUS
        {nullptr, nullptr, SHOW_UNDEF, SHOW_SCOPE_GLOBAL}};

}  // namespace lra
