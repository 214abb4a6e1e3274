/* A handler's scan, followed leaf by leaf. */

#ifndef LRA_FOLLOW_H
#define LRA_FOLLOW_H

#include <cstddef>
#include <memory>
#include <vector>

#include "branches.h"
#include "innodb.h"
#include "prefetch.h"

namespace lra {

/** Follows the cursor of one handler, and starts to read ahead when it moves on to a second leaf.
All of it runs in the session's thread. */
class Follow {
 public:
  /** A scan begins.
  @param table  the handler's table
  @param prebuilt the handler's */
  void begin(const TABLE *table, const row_prebuilt_t *prebuilt);

  /** The scan begins anew at another place, as each range of a range scan does.
  @param is_exact whether only rows of the very key are wanted */
  void restart(bool is_exact);

  /** Whether a scan is followed. */
  bool is_on() const { return m_is_on; }

  /** A row was fetched. */
  void row(const row_prebuilt_t *prebuilt, Direction direction) {
    if (!m_is_on) return;
    const buf_block_t *block = prebuilt->pcur->m_btr_cur.page_cur.block;
    if (block == m_block && prebuilt->index == m_index) return;
    moved(prebuilt, direction);
  }

  /** In the scan that began, whole indexes are about to be read by InnoDB itself, one after the
  other.
  @param passes how many times each is */
  void read_whole(const std::vector<dict_index_t *> &indexes, unsigned passes);

  /** In the scan that began, InnoDB itself may be about to read a whole index, once: nothing is
  read ahead until it has come to the second leaf. */
  void read_if_seen(dict_index_t *index);

  /** The scan is over. */
  void end();

 private:
  /** A scan of one index: of the table's, or of a partition's. */
  struct Track {
    dict_index_t *index;
    page_no_t leaf;
    Direction direction;
    /** Leaves come to since the scan began. */
    std::size_t leaves;
    /** Leaves in a row that were not foreseen. */
    std::size_t misses;
    std::unique_ptr<Prefetch> prefetch;
  };

  void moved(const row_prebuilt_t *prebuilt, Direction direction);
  Track *track_of(dict_index_t *index);
  /** Adds a read-ahead of a whole index, which is yet to begin.
  @return nullptr when the index cannot be read ahead */
  Prefetch *add_whole(dict_index_t *index, const Plan &plan);
  void start(Track *track, const row_prebuilt_t *prebuilt);
  Plan plan_of(const dict_index_t *index);
  void close_tracks();

  bool m_is_on{false};
  bool m_is_exact{false};
  /** Nothing says that the scan may end before the last row. */
  bool m_goes_to_end{false};
  const buf_block_t *m_block{nullptr};
  const dict_index_t *m_index{nullptr};
  THD *m_thd{nullptr};
  std::vector<Track> m_tracks;
  Counters m_counters;
};

}  // namespace lra

#endif
