#include "branches.h"

namespace lra {

namespace {

/** Pages of level 1 that are asked for before they are needed. */
constexpr std::size_t siblings_most = 8;

page_no_t child_of(const rec_t *record, const ulint *offsets) {
  return btr_node_ptr_get_child_page_no(record, offsets);
}

Heap new_heap() { return Heap(mem_heap_create(256, UT_LOCATION_HERE)); }

}  // namespace

Branches::Branches(dict_index_t *index, Direction direction, const rec_t *start, ulint n_start,
                   const dtuple_t *stop)
    : m_index(index), m_direction(direction) {
  if (start != nullptr) {
    m_key_heap = new_heap();
    m_key = dict_index_build_data_tuple(index, const_cast<rec_t *>(start), n_start,
                                        m_key_heap.get());
  }
  if (stop != nullptr && dtuple_get_n_fields(stop) > 0) {
    m_stop_heap = new_heap();
    m_stop = dtuple_copy(stop, m_stop_heap.get());
    for (ulint field = 0; field < dtuple_get_n_fields(m_stop); field++)
      dfield_dup(dtuple_get_nth_field(m_stop, field), m_stop_heap.get());
  }
}

bool Branches::next(std::vector<Page_no> *leaves, std::size_t most) {
  if (m_is_over) return false;
  const std::size_t before = leaves->size();
  const bool is_forward = m_direction == Direction::forward;

  mtr_t mtr;
  mtr.start();
  mtr_s_lock(dict_index_get_lock(m_index), &mtr, UT_LOCATION_HERE);
  const rec_t *record = nullptr;
  const buf_block_t *block = find(&mtr, &record);
  const rec_t *last = nullptr;
  m_is_over = block == nullptr;
  Rec_offsets offsets;
  while (!m_is_over && page_rec_is_user_rec(record) && leaves->size() - before < most) {
    const ulint *record_offsets = offsets.compute(record, m_index);
    if (is_beyond(record, record_offsets)) {
      // Going back, the leaf whose first key lies before the range's start may hold its first rows.
      if (!is_forward) leaves->push_back(child_of(record, record_offsets));
      m_is_over = true;
      break;
    }
    leaves->push_back(child_of(record, record_offsets));
    last = record;
    record = is_forward ? page_rec_get_next_const(record) : page_rec_get_prev_const(record);
  }
  if (last != nullptr) keep_key(last);
  // A page that has nothing to go on from: the next search would find it again.
  if (leaves->size() == before) m_is_over = true;
  mtr.commit();

  // Nothing is latched now: reading may wait.
  read_siblings();
  return !m_is_over;
}

buf_block_t *Branches::latch(page_no_t page_no, ulint level, mtr_t *mtr) const {
  const page_id_t id(m_index->space, page_no);
  buf_block_t *block =
      buf_page_get_gen(id, dict_table_page_size(m_index->table), RW_S_LATCH, nullptr,
                       Page_fetch::POSSIBLY_FREED, UT_LOCATION_HERE, mtr);
  if (block == nullptr) return nullptr;
  const page_t *page = buf_block_get_frame(block);
  const bool is_right = fil_page_index_page_check(page) &&
                        btr_page_get_index_id(page) == m_index->id &&
                        (level == ULINT_UNDEFINED || btr_page_get_level(page) == level);
  return is_right ? block : nullptr;
}

buf_block_t *Branches::find(mtr_t *mtr, const rec_t **record) {
  const bool is_forward = m_direction == Direction::forward;
  buf_block_t *block = latch(dict_index_get_page(m_index), ULINT_UNDEFINED, mtr);
  if (block == nullptr) return nullptr;
  ulint level = btr_page_get_level(buf_block_get_frame(block));
  if (level == 0) return nullptr;

  // Going back, the leaf before the last one taken is wanted: at every level what is less than
  // that leaf's key. The index's latch keeps the levels above the leaves as they are to each other.
  const page_cur_mode_t mode = m_is_taken && !is_forward ? PAGE_CUR_L : PAGE_CUR_LE;
  Rec_offsets offsets;
  for (;;) {
    const page_t *page = buf_block_get_frame(block);
    if (m_key != nullptr) {
      page_cur_t cursor;
      ulint up_match = 0;
      ulint low_match = 0;
      page_cur_search_with_match(block, m_index, m_key, mode, &up_match, &low_match, &cursor,
                                 nullptr);
      *record = page_cur_get_rec(&cursor);
      if (level > 1 && page_rec_is_infimum(*record)) {
        if (!is_forward) return nullptr;
        *record = page_rec_get_next_const(*record);
      }
    } else {
      *record = is_forward ? page_rec_get_next_const(page_get_infimum_rec(page))
                           : page_rec_get_prev_const(page_get_supremum_rec(page));
    }
    if (level == 1) break;
    if (!page_rec_is_user_rec(*record)) return nullptr;
    if (level == 2) note_siblings(*record);
    level--;
    block = latch(child_of(*record, offsets.compute(*record, m_index)), level, mtr);
    if (block == nullptr) return nullptr;
  }

  if (!is_forward || m_key == nullptr) return block;
  if (page_rec_is_infimum(*record) || m_is_taken) *record = page_rec_get_next_const(*record);
  if (!page_rec_is_supremum(*record)) return block;
  // The page's leaves are all taken.
  const page_no_t next_no = btr_page_get_next(buf_block_get_frame(block), mtr);
  if (next_no == FIL_NULL) return nullptr;
  block = latch(next_no, 1, mtr);
  if (block != nullptr)
    *record = page_rec_get_next_const(page_get_infimum_rec(buf_block_get_frame(block)));
  return block;
}

bool Branches::is_beyond(const rec_t *record, const ulint *offsets) const {
  if (m_stop == nullptr) return false;
  const int order = cmp_dtuple_rec(m_stop, record, m_index, offsets);
  return m_direction == Direction::forward ? order < 0 : order > 0;
}

void Branches::keep_key(const rec_t *record) {
  Heap heap = new_heap();
  m_key = dict_index_build_node_ptr(m_index, record, 0, heap.get(), 1);
  m_key_heap = std::move(heap);
  m_is_taken = true;
}

void Branches::note_siblings(const rec_t *record) {
  Rec_offsets offsets;
  const page_no_t child = child_of(record, offsets.compute(record, m_index));
  if (child == m_siblings_of) return;
  m_siblings_of = child;
  m_siblings.clear();
  const bool is_forward = m_direction == Direction::forward;
  while (m_siblings.size() < siblings_most) {
    record = is_forward ? page_rec_get_next_const(record) : page_rec_get_prev_const(record);
    if (!page_rec_is_user_rec(record)) break;
    m_siblings.push_back(child_of(record, offsets.compute(record, m_index)));
  }
}

void Branches::read_siblings() {
  for (const page_no_t page_no : m_siblings) {
    const page_id_t id(m_index->space, page_no);
    if (!buf_page_peek(id))
      buf_read_page_background(id, dict_table_page_size(m_index->table), false);
  }
  if (!m_siblings.empty()) os_aio_simulated_wake_handler_threads();
  m_siblings.clear();
}

}  // namespace lra
