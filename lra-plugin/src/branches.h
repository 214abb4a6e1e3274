/* The leaves of an index in key order, read from the level above them. */

#ifndef LRA_BRANCHES_H
#define LRA_BRANCHES_H

#include <memory>
#include <vector>

#include "innodb.h"
#include "window.h"

namespace lra {

enum class Direction { forward, backward };

struct Heap_free {
  void operator()(mem_heap_t *heap) const { mem_heap_free(heap); }
};
using Heap = std::unique_ptr<mem_heap_t, Heap_free>;

/** A place between the records of level 1, from which leaves are taken on.

Between two calls nothing is latched and nothing pinned: the place is a key, searched for again, so
that a tree that moved meanwhile gives what it holds now. Whoever owns one keeps the table open. */
class Branches {
 public:
  /** @param index     a B-tree with a leaf level of its own pages
  @param direction of the scan
  @param start     a record of the leaf the scan is at, or nullptr for the end the scan begins at
  @param n_start   the record's fields, as btr_pcur_t keeps them
  @param stop      no leaf beyond this key is wanted; nullptr or without fields for none */
  Branches(dict_index_t *index, Direction direction, const rec_t *start, ulint n_start,
           const dtuple_t *stop);

  /** Appends the leaves of one page of level 1, or of a part of it.
  @param leaves where to
  @param most   leaves to append, at most
  @return false when there are no more */
  bool next(std::vector<Page_no> *leaves, std::size_t most);

 private:
  /** Latches the page of level 1 to go on in.
  @return nullptr when the root is a leaf, the tree is damaged or there is no further page */
  buf_block_t *find(mtr_t *mtr, const rec_t **record);
  buf_block_t *latch(page_no_t page_no, ulint level, mtr_t *mtr) const;
  bool is_beyond(const rec_t *record, const ulint *offsets) const;
  void keep_key(const rec_t *record);
  void note_siblings(const rec_t *record);
  void read_siblings();

  dict_index_t *m_index;
  Direction m_direction;
  /** The last leaf taken: its node pointer's key. nullptr before the first, unless a start was
  given. */
  dtuple_t *m_key{nullptr};
  Heap m_key_heap;
  /** Whether m_key is the key of a node pointer taken, and not the start. */
  bool m_is_taken{false};
  dtuple_t *m_stop{nullptr};
  Heap m_stop_heap;
  bool m_is_over{false};
  /** Pages of level 1 that come next, as level 2 says. */
  std::vector<page_no_t> m_siblings;
  page_no_t m_siblings_of{FIL_NULL};
};

}  // namespace lra

#endif
