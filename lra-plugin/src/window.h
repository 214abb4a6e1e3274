/* The window: which leaves are to be read, in which order, and what became of them.

   Leaves come in key order and are read in page order, in sweeps of the file from its start to its
   end; a leaf that joins the window behind the sweep waits for the next one. So a window of N
   leaves costs at most one sweep for every N leaves of the scan, whatever their order, and never
   holds more than N leaves that the scan has not come to.

   No server's header is needed here: the class is tested alone. It has no lock of its own. */

#ifndef LRA_WINDOW_H
#define LRA_WINDOW_H

#include <algorithm>
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
  /** Adds leaves at the end of the key order; those it holds already are left out. They are a group
  of their own: a part of the tree that one thread goes through. */
  void add(std::span<const Page_no> leaves);

  /** Takes the next pages of the sweep that one request can read.
  @param gap        pages nobody wants that may lie between two that are wanted
  @param pages_most pages of a request, those of the gaps included
  @param run        the pages; as it was when there are none
  @return false when the sweep is over: the next call begins another */
  bool take_run(std::size_t gap, std::size_t pages_most, Run *run);

  /** The first leaf after the scan that nobody has begun to read, of each of the first groups; groups
  that have none, or of which a leaf is held, are left out.
  @param is_used whether the scan has come to a leaf: asked of a group's leaves in key order, until
  it has not */
  template <class Is_used>
  std::vector<Page_no> first_wanted(std::size_t groups_most, Is_used is_used) {
    std::vector<Page_no> leaves;
    std::uint64_t begin = m_first_place;
    for (std::size_t nth = 0; nth < std::min(groups_most, m_groups.size()); nth++) {
      Group &group = m_groups[nth];
      group.scan = std::max(group.scan, begin);
      while (group.scan < group.end && !is_held(at(group.scan)) && is_used(at(group.scan)))
        group.scan++;
      if (const auto leaf = first_wanted(group)) leaves.push_back(*leaf);
      begin = group.end;
    }
    return leaves;
  }

  /** Holds a leaf: no run will have it.
  @return whether it was still wanted */
  bool hold(Page_no leaf);

  bool is_held(Page_no leaf) const;

  /** Whether a leaf is held and others of its group are wanted. */
  bool is_hold_due(Page_no leaf) const;

  /** Gives back a leaf that was held, for a run to take it. */
  void give_back(Page_no leaf);

  /** The pages of a run are in the pool, or never will be. */
  void finish(const Run &run);

  /** The scan came to a leaf: it and those before it need not be kept any longer.
  @return whether the window holds it */
  bool advance(Page_no leaf);

  /** The leaf the scan comes to after `skipped` others, if the window knows it. */
  std::optional<Page_no> next(std::size_t skipped = 0) const;

  /** Whether the leaf is still to be read, or being read. */
  bool is_pending(Page_no leaf) const;

  /** Leaves the scan has not come to. */
  std::size_t ahead() const { return m_order.size(); }

  /** Leaves nobody has begun to read. */
  std::size_t wanted() const { return m_wanted.size(); }

 private:
  enum class State : std::uint8_t { wanted, held, reading, finished };
  struct Leaf {
    std::uint64_t place;
    State state;
  };
  /** Leaves up to a place, in key order. */
  struct Group {
    std::uint64_t end;
    /** Where the scan is. */
    std::uint64_t scan;
  };
  std::optional<Page_no> first_wanted(const Group &group) const;
  Page_no at(std::uint64_t place) const { return m_order[place - m_first_place]; }

  std::deque<Page_no> m_order;
  /** The place of the first of m_order. */
  std::uint64_t m_first_place{0};
  /** The first group is the one that m_first_place is in. */
  std::deque<Group> m_groups;
  std::unordered_map<Page_no, Leaf> m_leaves;
  std::set<Page_no> m_wanted;
  /** Where the sweep goes on. */
  Page_no m_sweep{0};
};

}  // namespace lra

#endif
