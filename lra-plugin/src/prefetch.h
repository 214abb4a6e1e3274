/* One index, read ahead of one scan. */

#ifndef LRA_PREFETCH_H
#define LRA_PREFETCH_H

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "branches.h"
#include "counters.h"
#include "in_flight.h"
#include "pages.h"
#include "readers.h"
#include "tuner.h"
#include "window.h"

namespace lra {

/** How a scan is read ahead of. */
struct Plan {
  /** Leaves that may be read and not yet come to. */
  std::size_t window_pages;
  /** Leaves to begin with; it grows to window_pages as the scan shows that it goes on. */
  std::size_t first_pages;
  /** Pages a request may read through; none: as the device likes it. */
  std::optional<std::size_t> gap_pages;
  /** Pages of a request. */
  std::size_t request_pages;
  /** Reads under way at once; none: as the device likes it. */
  std::optional<std::size_t> reads;
  /** Rest after each 1024 pages. */
  std::chrono::milliseconds sleep;
};

/** The window of a scan and the threads' work at it.

It lives within one scan, on the scan's own thread, which keeps the table open meanwhile. */
class Prefetch final : public Work {
 public:
  /** @param counters the scan's; what is counted is added to the server's too */
  Prefetch(dict_index_t *index, Branches branches, const Plan &plan, Counters *counters);
  ~Prefetch() override;

  /** How many there are in the server, each with a window. */
  static std::size_t how_many();

  /** Bytes of the pool that all windows together may take up. */
  static std::size_t pool_bytes();

  /** Whether the tablespace could be opened. */
  bool is_open() const { return m_pages.is_open(); }

  /** Begins to read. The space must be open. */
  void begin();

  /** The scan came to a leaf: lets the window slide, and waits until the leaf after it is there.
  @return whether the window knew the leaf */
  bool come_to(Page_no leaf, THD *thd);

  /** Lets the window slide as the pages of the pool are used, for scans whose place cannot be
  seen. To be said before it begins.
  @param passes times the whole index is gone through
  @param after  what is to begin when all leaves are read; it outlives this. Or nullptr */
  void follow_pool(unsigned passes, Prefetch *after);

  /** Lets it read nothing until the scan was seen in the pool, since there may be none. To be said
  after follow_pool(). */
  void wait_to_see();

  Clock::time_point ready_at(std::size_t threads_in) const override;
  void do_piece() override;

 private:
  bool wants_leaves() const;
  bool may_read() const { return m_is_sweeping && m_window.wanted() > 0; }
  bool is_sweep_due() const;
  void begin_sweep_if_due();
  std::size_t reads_most() const;
  bool has_room() const { return m_plan.reads || m_in_flight.admits(); }
  std::size_t bytes_of(const Run &run) const;
  void collect(std::unique_lock<std::mutex> *lock);
  void read(std::unique_lock<std::mutex> *lock, std::size_t gap, const Run &run);
  void slide_with_pool();
  void note_speed();
  void keep_gates();
  void close_gates(std::unique_lock<std::mutex> *lock);
  void open_gates(std::unique_lock<std::mutex> *lock);
  bool is_gate_time() const;
  bool is_scan_seen() const;
  bool is_passed() const;
  void note_lost();
  /** A page of the index in the pool. */
  struct Use {
    bool is_present;
    /** When it was first used; no time at all if it was not. */
    Clock::time_point since;
    bool is_used() const { return since != Clock::time_point{}; }
  };
  Use use_of(Page_no page) const;
  void wait_for_next(THD *thd, std::unique_lock<std::mutex> *lock);
  void add(Counter counter, long long amount = 1);
  void add_all(const Counters &counted);

  dict_index_t *const m_index;
  const Plan m_plan;
  Pages m_pages;
  Counters *const m_counters;

  mutable std::mutex m_mutex;
  /** A leaf came, or will not. */
  std::condition_variable m_has_come;
  Window m_window;
  /** Used by one thread at a time: the one that set m_is_collecting. */
  Branches m_branches;
  bool m_is_collecting{false};
  /** The branches have no more leaves. */
  bool m_is_over{false};
  /** The window was once filled, as far as there were leaves. */
  bool m_is_filled{false};
  bool m_is_stopping{false};
  bool m_is_sweeping{false};
  /** The scan waits for a leaf. */
  bool m_is_starved{false};
  /** It did, since the sweep began. */
  bool m_has_waited{false};
  std::size_t m_window_pages;
  std::size_t m_passed_since_growth{0};
  std::size_t m_read_since_sleep{0};
  std::size_t m_read_of_window{0};
  Clock::time_point m_asleep_until{};
  Tuner m_tuner;
  In_flight m_in_flight;
  bool m_is_begun{false};
  bool m_follows_pool{false};
  Prefetch *m_after{nullptr};
  unsigned m_passes_left{0};
  Clock::time_point m_looks_at{};
  /** The scan was seen, or said to come. */
  bool m_is_seen{true};
  Clock::time_point m_begun_at{};
  /** Pages that left the pool unused, of late. */
  std::size_t m_lost{0};

  /** A leaf that the scan has to wait for: see keep_gates(). */
  struct Gate {
    Page_no leaf;
    buf_page_t *descriptor;
    /** When a thread was first seen to wait; none yet if that is no time at all. */
    Clock::time_point waited_since;
  };
  /** The gatekeeper's own. */
  std::vector<Gate> m_gates;
  std::vector<buf_block_t *> m_spare;
  std::thread m_gatekeeper;
  std::condition_variable m_is_ending;
  /** Requests of the batch that is timed, and when its first was done. */
  std::size_t m_timed_requests{0};
  Clock::time_point m_timed_since{};
  /** The mean time between two requests that were done, of late. */
  Clock::duration m_between_requests{};
};

}  // namespace lra

#endif
