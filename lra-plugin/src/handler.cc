#include "handler.h"

#include <atomic>
#include <type_traits>
#include <vector>

#include "my_check_opt.h"

#include "follow.h"

namespace lra {

namespace {

std::atomic<std::size_t> live{0};

/** A handler of InnoDB (ha_innobase or ha_innopart) that follows its scans. Each call does what
InnoDB does and tells the follower how far it got. */
template <class Base>
class Following final : public Base {
 public:
  Following(handlerton *hton, TABLE_SHARE *share) : Base(hton, share) { live++; }
  ~Following() override {
    m_follow.end();
    live--;
  }

  int index_init(uint index, bool is_sorted) override {
    const int error = Base::index_init(index, is_sorted);
    if (error == 0) begin();
    return error;
  }
  int index_end() override {
    m_follow.end();
    return Base::index_end();
  }
  int rnd_init(bool is_scan) override {
    const int error = Base::rnd_init(is_scan);
    if (error == 0 && is_scan) begin();
    return error;
  }
  int rnd_end() override {
    m_follow.end();
    return Base::rnd_end();
  }
  int reset() override {
    m_follow.end();
    return Base::reset();
  }
  int close() override {
    m_follow.end();
    return Base::close();
  }

  int rnd_next(uchar *row) override { return forward([&] { return Base::rnd_next(row); }); }
  int index_first(uchar *row) override {
    m_follow.restart(false);
    return forward([&] { return Base::index_first(row); });
  }
  int index_next(uchar *row) override { return forward([&] { return Base::index_next(row); }); }
  int index_next_same(uchar *row, const uchar *key, uint key_bytes) override {
    return forward([&] { return Base::index_next_same(row, key, key_bytes); });
  }
  int index_last(uchar *row) override {
    m_follow.restart(false);
    return backward([&] { return Base::index_last(row); });
  }
  int index_prev(uchar *row) override { return backward([&] { return Base::index_prev(row); }); }
  int index_read_map(uchar *row, const uchar *key, key_part_map parts,
                     ha_rkey_function flag) override {
    m_follow.restart(flag == HA_READ_KEY_EXACT);
    return Base::index_read_map(row, key, parts, flag);
  }
  int index_read_last_map(uchar *row, const uchar *key, key_part_map parts) override {
    m_follow.restart(false);
    return Base::index_read_last_map(row, key, parts);
  }

  int records(ha_rows *rows) override {
    begin_whole(1);
    const int error = Base::records(rows);
    m_follow.end();
    return error;
  }
  bool inplace_alter_table(TABLE *altered, Alter_inplace_info *info, const dd::Table *old_definition,
                           dd::Table *new_definition) override {
    // Partitions are built one after the other: the next one's leaves would wait in the pool while
    // this one's indexes are sorted and written.
    if constexpr (std::is_same_v<Base, ha_innobase>) {
      begin();
      if (m_follow.is_on()) m_follow.read_if_seen(clustered().front());
    }
    const bool is_failed = Base::inplace_alter_table(altered, info, old_definition, new_definition);
    m_follow.end();
    return is_failed;
  }
  int check(THD *thd, HA_CHECK_OPT *options) override {
    // Of ALTER TABLE ... CHECK PARTITION: what else InnoDB would only set in its own check.
    if constexpr (std::is_same_v<Base, ha_innopart>) {
      if (this->set_altered_partitions()) return Base::check(thd, options);
    }
    // The tree is gone through to validate it, and again to count its rows.
    begin_whole((options->flags & T_QUICK) ? 1 : 2);
    const int error = Base::check(thd, options);
    m_follow.end();
    return error;
  }

 private:
  template <class Fetch>
  int forward(Fetch fetch) {
    return follow(Direction::forward, fetch);
  }
  template <class Fetch>
  int backward(Fetch fetch) {
    return follow(Direction::backward, fetch);
  }
  /** Fetches a row. When nothing is followed this is a test and a jump: it is done for each row of
  the server. */
  template <class Fetch>
  int follow(Direction direction, Fetch fetch) {
    if (!m_follow.is_on()) return fetch();
    const int error = fetch();
    if (error == 0) m_follow.row(this->m_prebuilt, direction);
    return error;
  }
  void begin() { m_follow.begin(this->table, this->m_prebuilt); }
  void begin_whole(unsigned passes) {
    begin();
    if (m_follow.is_on()) m_follow.read_whole(clustered(), passes);
  }
  /** The clustered indexes of the table, or of the partitions the statement is for. */
  std::vector<dict_index_t *> clustered() {
    if constexpr (std::is_same_v<Base, ha_innobase>) {
      return {this->m_prebuilt->table->first_index()};
    } else {
      std::vector<dict_index_t *> indexes;
      for (uint part = this->m_part_info->get_first_used_partition(); part < this->m_tot_parts;
           part = this->m_part_info->get_next_used_partition(part))
        indexes.push_back(this->m_part_share->get_table_part(part)->first_index());
      return indexes;
    }
  }

  Follow m_follow;
};

using Create = decltype(handlerton::create);

handlerton *innodb = nullptr;
Create create_before = nullptr;

/** Whether a table is one that users scan: the server keeps its own open at any time, so theirs
would make the plugin always in use. */
bool is_users(const TABLE_SHARE *share) {
  return share != nullptr && share->tmp_table == NO_TMP_TABLE &&
         share->table_category == TABLE_CATEGORY_USER &&
         my_strcasecmp(system_charset_info, share->db.str, "mysql") != 0;
}

handler *create(handlerton *hton, TABLE_SHARE *share, bool is_partitioned, MEM_ROOT *root) {
  if (!is_users(share)) return create_before(hton, share, is_partitioned, root);
  if (!is_partitioned) return new (root) Following<ha_innobase>(hton, share);
  auto *partitioned = new (root) Following<ha_innopart>(hton, share);
  if (partitioned != nullptr && partitioned->init_partitioning(root)) {
    ::destroy_at(partitioned);
    return nullptr;
  }
  return partitioned;
}

}  // namespace

bool hook_handlers() {
  innodb = ha_resolve_by_legacy_type(current_thd, DB_TYPE_INNODB);
  if (innodb == nullptr || innodb->create == nullptr) return false;
  create_before = innodb->create;
  innodb->create = create;
  return true;
}

void unhook_handlers() {
  if (innodb != nullptr && innodb->create == create) innodb->create = create_before;
}

bool is_hooked() { return innodb != nullptr && innodb->create == create; }

std::size_t live_handlers() { return live; }

}  // namespace lra
