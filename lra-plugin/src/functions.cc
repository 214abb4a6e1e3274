/* Functions of SQL: buf_warmup('db', 'table') and lra_prefetch('db/table', MB). */

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <string>

#include <mysql/udf_registration_types.h>

#include "branches.h"
#include "counters.h"
#include "handler.h"
#include "innodb.h"
#include "pages.h"

namespace lra {

namespace {

/** Pages of one request. */
constexpr std::size_t request_bytes = 1 << 20;

/** A table, open for as long as this is there. */
class Open_table {
 public:
  explicit Open_table(const std::string &name)
      : m_table(dd_table_open_on_name(current_thd, &m_ticket, name.c_str(), false,
                                      DICT_ERR_IGNORE_NONE)) {}
  ~Open_table() {
    if (m_table != nullptr) dd_table_close(m_table, current_thd, &m_ticket, false);
  }
  Open_table(const Open_table &) = delete;
  Open_table &operator=(const Open_table &) = delete;

  dict_index_t *clustered() const {
    if (m_table == nullptr || m_table->ibd_file_missing || dict_table_is_discarded(m_table))
      return nullptr;
    return m_table->first_index();
  }

 private:
  MDL_ticket *m_ticket{nullptr};
  dict_table_t *m_table;
};

/** Reads pages, a request's worth at a time, until all are read or the statement is killed.
@return pages that were not in the pool */
long long read_all(Pages *pages, std::span<const Page_no> numbers) {
  const std::size_t request_pages = std::max<std::size_t>(request_bytes / pages->page_bytes(), 1);
  long long read = 0;
  while (!numbers.empty() && !thd_killed(current_thd)) {
    const std::size_t count = std::min(numbers.size(), request_pages);
    read += pages->read(numbers.first(count), 0, &server_counters);
    numbers = numbers.subspan(count);
  }
  return read;
}

bool is_string(const UDF_ARGS *args, unsigned index) {
  return index < args->arg_count && args->arg_type[index] == STRING_RESULT;
}

std::string string_of(const UDF_ARGS *args, unsigned index) {
  return args->args[index] == nullptr ? std::string()
                                      : std::string(args->args[index], args->lengths[index]);
}

bool refuse(char *message, const char *text) {
  std::snprintf(message, MYSQL_ERRMSG_SIZE, "%s", text);
  return true;
}

}  // namespace

}  // namespace lra

extern "C" {

bool buf_warmup_init(UDF_INIT *, UDF_ARGS *args, char *message) {
  if (!lra::is_hooked()) return lra::refuse(message, "buf_warmup: the plugin lra is not installed");
  const bool is_right =
      args->arg_count == 2 && lra::is_string(args, 0) && lra::is_string(args, 1);
  return is_right ? false : lra::refuse(message, "buf_warmup('database', 'table')");
}

/** Reads a table's whole file, all its indexes, from its start to its end.
@return pages that were not in the pool; NULL when there is no such table */
long long buf_warmup(UDF_INIT *, UDF_ARGS *args, unsigned char *is_null, unsigned char *) {
  const std::string name = lra::string_of(args, 0) + "/" + lra::string_of(args, 1);
  const lra::Open_table table(name);
  dict_index_t *index = table.clustered();
  *is_null = index == nullptr;
  if (index == nullptr) return 0;
  lra::Pages pages(index);
  *is_null = !pages.is_open();
  if (!pages.is_open()) return 0;
  std::vector<lra::Page_no> numbers(pages.file_pages());
  std::iota(numbers.begin(), numbers.end(), lra::Page_no{0});
  return lra::read_all(&pages, numbers);
}

bool lra_prefetch_init(UDF_INIT *, UDF_ARGS *args, char *message) {
  if (!lra::is_hooked())
    return lra::refuse(message, "lra_prefetch: the plugin lra is not installed");
  if (args->arg_count != 2 || !lra::is_string(args, 0))
    return lra::refuse(message, "lra_prefetch('database/table', megabytes)");
  args->arg_type[1] = INT_RESULT;
  return false;
}

/** Reads the first leaves of a table, in key order so many megabytes, in page order.
@return pages that were not in the pool; NULL when there is no such table */
long long lra_prefetch(UDF_INIT *, UDF_ARGS *args, unsigned char *is_null, unsigned char *) {
  const long long megabytes =
      args->args[1] == nullptr ? 0 : *reinterpret_cast<const long long *>(args->args[1]);
  const lra::Open_table table(lra::string_of(args, 0));
  dict_index_t *index = table.clustered();
  *is_null = index == nullptr || megabytes < 0;
  if (*is_null) return 0;
  lra::Pages pages(index);
  *is_null = !pages.is_open();
  if (!pages.is_open()) return 0;

  const std::size_t most = (static_cast<std::size_t>(megabytes) << 20) / pages.page_bytes();
  std::vector<lra::Page_no> leaves;
  lra::Branches branches(index, lra::Direction::forward, nullptr, 0, nullptr);
  while (leaves.size() < most && !thd_killed(current_thd) &&
         branches.next(&leaves, most - leaves.size())) {
  }
  std::sort(leaves.begin(), leaves.end());
  return lra::read_all(&pages, leaves);
}

}  // extern "C"
