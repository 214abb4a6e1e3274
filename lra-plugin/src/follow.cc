#include "follow.h"

#include <algorithm>

#include "variables.h"

namespace lra {

namespace {

/** The window's first bytes where the scan may end early: what such a scan can lose. */
constexpr std::size_t first_bytes = 2 << 20;

/** Indexes that one handler reads ahead of at once: partitions merged in key order. */
constexpr std::size_t tracks_most = 16;

/** Partitions that are read ahead of where InnoDB goes through them by itself: each has a file open. */
constexpr std::size_t whole_most = 64;

/** Leaves that were not foreseen, in a row, after which the tree has moved too far. */
constexpr std::size_t misses_most = 64;

bool goes_to_end(const TABLE *table, THD *thd) {
  switch (thd->lex->sql_command) {
    case SQLCOM_HA_READ:
    case SQLCOM_HA_OPEN:
      return false;
    default:
      break;
  }
  if (table->pos_in_table_list == nullptr) return true;
  const Query_block *block = table->pos_in_table_list->query_block;
  if (block == nullptr) return true;
  return !block->has_limit() && block->leaf_table_count <= 1 &&
         block->outer_query_block() == nullptr;
}

bool is_readable(const dict_table_t *table) {
  return !table->is_intrinsic() && !table->is_temporary() && !table->ibd_file_missing &&
         !dict_table_is_discarded(table) && !table->is_corrupted();
}

bool has_leaves_in_order(const dict_index_t *index) {
  return index != nullptr && !dict_index_is_spatial(index) && !(index->type & DICT_FTS) &&
         !index->is_corrupted() && index->space != SPACE_UNKNOWN;
}

}  // namespace

void Follow::begin(const TABLE *table, const row_prebuilt_t *prebuilt) {
  end();
  THD *thd = current_thd;
  if (thd == nullptr || settings_of(thd).size_mb == 0 || !is_readable(prebuilt->table)) return;
  m_thd = thd;
  m_is_on = true;
  m_is_exact = false;
  m_goes_to_end = goes_to_end(table, thd);
}

void Follow::restart(bool is_exact) {
  if (!m_is_on) return;
  close_tracks();
  m_is_exact = is_exact;
}

void Follow::end() {
  if (!m_is_on) return;
  close_tracks();
  m_is_on = false;
  add_to_session(m_thd, &m_counters);
}

void Follow::close_tracks() {
  // In order: a partition's read-ahead may begin the next one's.
  for (Track &track : m_tracks) track.prefetch.reset();
  m_tracks.clear();
  m_block = nullptr;
  m_index = nullptr;
}

Follow::Track *Follow::track_of(dict_index_t *index) {
  const auto found = std::find_if(m_tracks.begin(), m_tracks.end(),
                                  [&](const Track &track) { return track.index == index; });
  if (found != m_tracks.end()) return &*found;
  // Partitions read one after the other: the first of them are done with.
  if (m_tracks.size() == tracks_most) m_tracks.erase(m_tracks.begin());
  m_tracks.push_back({index, FIL_NULL, Direction::forward, 0, 0, nullptr});
  return &m_tracks.back();
}

void Follow::moved(const row_prebuilt_t *prebuilt, Direction direction) {
  btr_pcur_t *cursor = prebuilt->pcur;
  m_block = cursor->m_btr_cur.page_cur.block;
  m_index = prebuilt->index;
  if (!has_leaves_in_order(prebuilt->index)) return;
  const page_no_t leaf =
      cursor->m_block_when_stored.run_with_hint([](const buf_block_t *block) {
        return block == nullptr ? FIL_NULL : block->page.id.page_no();
      });
  Track *track = track_of(prebuilt->index);
  if (leaf == FIL_NULL || leaf == track->leaf) return;
  track->leaf = leaf;
  track->leaves++;
  if (track->direction != direction) {
    track->prefetch.reset();
    track->direction = direction;
  }
  if (!track->prefetch && track->leaves > 1) start(track, prebuilt);
  if (!track->prefetch) return;
  if (track->prefetch->come_to(leaf, m_thd)) {
    track->misses = 0;
  } else if (++track->misses == misses_most) {
    track->prefetch.reset();
    track->misses = 0;
  }
}

void Follow::start(Track *track, const row_prebuilt_t *prebuilt) {
  const btr_pcur_t *cursor = prebuilt->pcur;
  if (!cursor->is_positioned() || cursor->m_old_rec == nullptr) return;
  const dtuple_t *stop = m_is_exact ? prebuilt->search_tuple : prebuilt->m_stop_tuple;
  Branches branches(track->index, track->direction, cursor->m_old_rec, cursor->m_old_n_fields,
                    stop);
  auto prefetch = std::make_unique<Prefetch>(track->index, std::move(branches),
                                             plan_of(track->index), &m_counters);
  if (!prefetch->is_open()) return;
  prefetch->begin();
  track->prefetch = std::move(prefetch);
}

void Follow::read_whole(const std::vector<dict_index_t *> &indexes, unsigned passes) {
  for (dict_index_t *index : indexes) {
    if (m_tracks.size() == whole_most) break;
    Plan plan = plan_of(index);
    // The next partition's window fills while the last leaves of the one before are still unused.
    if (indexes.size() > 1) plan.window_pages = std::max<std::size_t>(plan.window_pages / 2, 1);
    add_whole(index, plan);
  }
  // The last first: the first begins, and each calls the one after it.
  Prefetch *after = nullptr;
  for (auto track = m_tracks.rbegin(); track != m_tracks.rend(); ++track) {
    track->prefetch->follow_pool(passes, after);
    after = track->prefetch.get();
  }
  if (after != nullptr) after->begin();
}

Prefetch *Follow::add_whole(dict_index_t *index, const Plan &plan) {
  if (!has_leaves_in_order(index) || !is_readable(index->table)) return nullptr;
  auto prefetch = std::make_unique<Prefetch>(
      index, Branches(index, Direction::forward, nullptr, 0, nullptr), plan, &m_counters);
  if (!prefetch->is_open()) return nullptr;
  m_tracks.push_back({index, FIL_NULL, Direction::forward, 0, 0, std::move(prefetch)});
  return m_tracks.back().prefetch.get();
}

void Follow::read_if_seen(dict_index_t *index) {
  Prefetch *prefetch = add_whole(index, plan_of(index));
  if (prefetch == nullptr) return;
  prefetch->follow_pool(1, nullptr);
  prefetch->wait_to_see();
  prefetch->begin();
}

Plan Follow::plan_of(const dict_index_t *index) {
  const Settings settings = settings_of(m_thd);
  const std::size_t page_bytes = dict_table_page_size(index->table).physical();
  const std::size_t asked_pages = std::max<std::size_t>((settings.size_mb << 20) / page_bytes, 1);
  const std::size_t usable_bytes = Prefetch::pool_bytes() / (Prefetch::how_many() + 1);
  // A compressed page has a frame of the whole page's size too.
  const std::size_t usable = std::max<std::size_t>(
      usable_bytes / dict_table_page_size(index->table).logical(), 1);

  Plan plan;
  plan.window_pages = std::min(asked_pages, usable);
  plan.first_pages = m_goes_to_end ? plan.window_pages : first_bytes / page_bytes;
  plan.gap_pages = settings.gap_pages;
  // The pages of all requests under way are claimed in the pool: small pools, small requests.
  const std::size_t request_pages = std::min(settings.request_bytes / page_bytes, usable / 16);
  plan.request_pages = std::max<std::size_t>(request_pages, 1);
  plan.reads = settings.reads;
  plan.sleep = settings.sleep;
  return plan;
}

}  // namespace lra
