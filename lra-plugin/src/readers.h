/* The threads that read ahead, for all scans of the server. */

#ifndef LRA_READERS_H
#define LRA_READERS_H

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

namespace lra {

/** Something the threads work at, a piece at a time. */
class Work {
 public:
  virtual ~Work() = default;
  using Clock = std::chrono::steady_clock;

  /** When a thread would find something to do: the past for now, Clock::time_point::max() for not
  before the next Readers::wake(). Called with the threads' lock held.
  @param threads_in threads that are at it already */
  virtual Clock::time_point ready_at(std::size_t threads_in) const = 0;
  /** Does a piece; several threads may be in here. */
  virtual void do_piece() = 0;

 private:
  friend class Readers;
  std::size_t m_threads_in{0};
};

/** A pool of threads that grows as it is needed, up to a limit, which so is the limit of all
scans' reads under way. The works take turns. */
class Readers {
 public:
  /** The most threads there may be; fewer than there are takes effect as they fall idle. */
  void set_most(std::size_t most);

  /** Takes up a work. */
  void add(Work *work);

  /** Ends a work: when this returns no thread is in it. */
  void remove(Work *work);

  /** A work may have become ready.
  @return false when there is no thread to do it, and none can be made */
  bool wake();

  /** Ends all threads; the works must be gone. */
  void stop();

 private:
  void run();
  Work *next(Work::Clock::time_point *ready_at);
  void call_another();

  std::mutex m_mutex;
  std::condition_variable m_is_ready;
  std::condition_variable m_is_out;
  std::vector<Work *> m_works;
  std::size_t m_turn{0};
  std::vector<std::thread> m_threads;
  std::size_t m_idle{0};
  std::size_t m_most{64};
  std::size_t m_working{0};
  bool m_is_stopping{false};
};

/** The server's. */
extern Readers readers;

}  // namespace lra

#endif
