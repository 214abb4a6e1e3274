/* The window: which leaves are to be read, in which order, and what became of them.

   Leaves come in key order and are read in page order, in sweeps of the file from its start to its
   end; a leaf that joins the window behind the sweep waits for the next one. So a window of N
   leaves costs at most one sweep for every N leaves of the scan, whatever their order, and never
   holds more than N leaves that the scan has not come to.

   No server's header is needed here: the class is tested alone. It has no lock of its own. */

#ifndef LRA_WINDOW_H
#define LRA_WINDOW_H

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

namespace lra {

using Page_no = std::uint32_t;

/** Pages that one request reads: `pages`, ascending, and what lies between them. */
struct Run {
  std::vector<Page_no> pages;
};

class Window {
 public:
  /** Adds leaves at the end of the key order; those it holds already are left out. */
  void add(std::span<const Page_no> leaves);

  /** Takes the next pages of the sweep that one request can read.
  @param gap        pages nobody wants that may lie between two that are wanted
  @param pages_most pages of a request, those of the gaps included
  @param run        the pages; as it was when there are none
  @return false when the sweep is over: the next call begins another */
  bool take_run(std::size_t gap, std::size_t pages_most, Run *run);

  /** The pages of a run are in the pool, or never will be. */
  void finish(const Run &run);

  /** The scan came to a leaf: it and those before it need not be kept any longer.
  @return whether the window holds it */
  bool advance(Page_no leaf);

  /** The leaf the scan comes to next, if the window knows it. */
  std::optional<Page_no> next() const;

  /** Whether the leaf is still to be read, or being read. */
  bool is_pending(Page_no leaf) const;

  /** Leaves the scan has not come to. */
  std::size_t ahead() const { return m_order.size(); }

  /** Leaves nobody has begun to read. */
  std::size_t wanted() const { return m_wanted.size(); }

 private:
  enum class State : std::uint8_t { wanted, reading, finished };
  struct Leaf {
    std::uint64_t place;
    State state;
  };

  std::deque<Page_no> m_order;
  /** The place of the first of m_order. */
  std::uint64_t m_first_place{0};
  std::unordered_map<Page_no, Leaf> m_leaves;
  std::set<Page_no> m_wanted;
  /** Where the sweep goes on. */
  Page_no m_sweep{0};
};

}  // namespace lra

#endif
