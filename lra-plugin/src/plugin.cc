/* The plugin: what the server sees of it. */

#include <mysql/service_my_plugin_log.h>

#include "build_id.h"
#include "handler.h"
#include "innodb.h"
#include "readers.h"
#include "variables.h"

namespace {

int init(MYSQL_PLUGIN plugin) {
  // Everything here is compiled against the server's private classes: in any other build they may
  // be laid out otherwise. The server itself compares version numbers only.
  const std::string running = lra::running_build_id();
  if (running != lra::compiled_build_id) {
    my_plugin_log_message(&plugin, MY_ERROR_LEVEL,
                          "compiled for the server build %s, but this is %s. Build the plugin "
                          "against this server's source (make plugin).",
                          lra::compiled_build_id,
                          running.empty() ? "of no build id" : running.c_str());
    return 1;
  }
  if (!lra::hook_handlers()) {
    my_plugin_log_message(&plugin, MY_ERROR_LEVEL, "this server has no InnoDB.");
    return 1;
  }
  return 0;
}

int check_uninstall(MYSQL_PLUGIN plugin) {
  const std::size_t live = lra::live_handlers();
  if (live == 0) return 0;
  my_plugin_log_message(&plugin, MY_ERROR_LEVEL,
                        "cannot be uninstalled while %zu open tables use it: FLUSH TABLES first, "
                        "then try again.",
                        live);
  return 1;
}

int deinit(MYSQL_PLUGIN) {
  lra::unhook_handlers();
  lra::readers.stop();
  return 0;
}

st_mysql_daemon descriptor = {MYSQL_DAEMON_INTERFACE_VERSION};

}  // namespace

// mysql_declare_plugin() would need MYSQL_DYNAMIC_PLUGIN, under which the server's headers give
// ha_innobase another name.
extern "C" {

MYSQL_PLUGIN_EXPORT int _mysql_plugin_interface_version_ = MYSQL_PLUGIN_INTERFACE_VERSION;
MYSQL_PLUGIN_EXPORT int _mysql_sizeof_struct_st_plugin_ = sizeof(st_mysql_plugin);
MYSQL_PLUGIN_EXPORT st_mysql_plugin _mysql_plugin_declarations_[] = {
    {
        MYSQL_DAEMON_PLUGIN,
        &descriptor,
        "lra",
        "The innoscan developers",
        "Logical read-ahead for InnoDB",
        PLUGIN_LICENSE_GPL,
        init,
        check_uninstall,
        deinit,
        0x0100,
        lra::status_variables,
        lra::system_variables,
        nullptr,
        0,
    },
    {0, nullptr, nullptr, nullptr, nullptr, 0, nullptr, nullptr, nullptr, 0, nullptr, nullptr,
     nullptr, 0},
};

}  // extern "C"
