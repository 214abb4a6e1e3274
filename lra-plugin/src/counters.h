/* What was read ahead and what came of it, for the server since it started and for each session. */

#ifndef LRA_COUNTERS_H
#define LRA_COUNTERS_H

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace lra {

/** The time in microseconds, by a clock that never goes back. */
inline std::uint64_t now_us() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

/** The counters: name, and what it counts. */
#define LRA_COUNTERS(COUNTER)                                                        \
  COUNTER(scans, "scans with read-ahead")                                    \
  COUNTER(windows, "windows of leaves read")                                  \
  COUNTER(sweeps, "passes over the file from its start")                  \
  COUNTER(pages_prefetched, "pages read ahead")                                      \
  COUNTER(pages_present, "leaves that were in the buffer pool already")              \
  COUNTER(pages_failed, "pages that could not be read ahead")                        \
  COUNTER(misses, "leaves reached without read-ahead")                  \
  COUNTER(evicted_unused, "pages evicted before the scan reached them")   \
  COUNTER(requests, "read requests")                                     \
  COUNTER(request_us, "total time of the requests, in microseconds")                        \
  COUNTER(bytes, "bytes read, gaps included")                                        \
  COUNTER(gap_bytes, "bytes read in gaps between wanted pages")                        \
  COUNTER(waits, "times the scan waited for a leaf")                                 \
  COUNTER(wait_us, "microseconds it waited")

enum class Counter : std::size_t {
#define LRA_COUNTER_NAME(name, text) name,
  LRA_COUNTERS(LRA_COUNTER_NAME)
#undef LRA_COUNTER_NAME
      count_of_counters
};

/** One number a counter. Any thread may add. */
class Counters {
 public:
  static constexpr std::size_t size = static_cast<std::size_t>(Counter::count_of_counters);

  void add(Counter counter, long long amount = 1) {
    m_values[static_cast<std::size_t>(counter)].fetch_add(amount, std::memory_order_relaxed);
  }
  long long get(Counter counter) const {
    return m_values[static_cast<std::size_t>(counter)].load(std::memory_order_relaxed);
  }
  /** Takes a counter's value out, leaving 0. */
  long long take(Counter counter) {
    return m_values[static_cast<std::size_t>(counter)].exchange(0, std::memory_order_relaxed);
  }

 private:
  std::array<std::atomic<long long>, size> m_values{};
};

/** The whole server's. */
inline Counters server_counters;

}  // namespace lra

#endif
