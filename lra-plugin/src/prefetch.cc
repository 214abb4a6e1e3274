#include "prefetch.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <utility>

namespace lra {

namespace {

/** Leaves collected before others get a look at them. */
constexpr std::size_t collect_most = 8192;

/** A sweep begins when this part of the window is to be read: a small one when the scan had to wait
since the last began, so that a device slower than the scan never rests; else a large one, since
leaves near to each other share requests. */
constexpr std::size_t sweep_part_behind = 8;
constexpr std::size_t sweep_part_ahead = 2;

/** A window grows to this many times itself when the scan has gone through it. */
constexpr std::size_t growth = 8;

/** Pages after which there is a rest, if one is wished for: as many as between two of the original's. */
constexpr std::size_t sleep_pages = 1024;

/** How often a waiting scan looks whether it was killed. */
constexpr std::chrono::milliseconds kill_check{100};

/** How often the pool is looked at where the scan cannot be seen: InnoDB tells nobody that a page
was used. */
constexpr std::chrono::milliseconds pool_check{2};

/** What was found out of devices, by their numbers, for the next scan. */
class Learnt {
 public:
  Tuner of(dev_t device) {
    std::lock_guard guard(m_mutex);
    return m_tuners[device];
  }
  void keep(dev_t device, const Tuner &tuner) {
    std::lock_guard guard(m_mutex);
    m_tuners[device] = tuner;
    m_tuners[device].forget();
  }

 private:
  std::mutex m_mutex;
  std::map<dev_t, Tuner> m_tuners;
};

Learnt learnt;

std::atomic<std::size_t> prefetches{0};

}  // namespace

Prefetch::Prefetch(dict_index_t *index, Branches branches, const Plan &plan, Counters *counters)
    : m_index(index),
      m_plan(plan),
      m_pages(index),
      m_counters(counters),
      m_branches(std::move(branches)),
      m_window_pages(std::min(plan.first_pages, plan.window_pages)) {}

void Prefetch::begin() {
  m_is_begun = true;
  prefetches++;
  m_tuner = learnt.of(m_pages.device());
  add(Counter::scans);
  readers.add(this);
  readers.wake();
}

Prefetch::~Prefetch() {
  if (!m_is_begun) return;
  {
    std::lock_guard guard(m_mutex);
    m_is_stopping = true;
  }
  readers.remove(this);
  learnt.keep(m_pages.device(), m_tuner);
  prefetches--;
}

std::size_t Prefetch::how_many() { return prefetches; }

void Prefetch::add(Counter counter, long long amount) {
  m_counters->add(counter, amount);
  server_counters.add(counter, amount);
}

bool Prefetch::wants_leaves() const {
  if (m_is_over || m_is_collecting || m_window.ahead() >= m_window_pages) return false;
  // In portions: each is a search in the tree.
  return m_window_pages - m_window.ahead() >= std::max<std::size_t>(m_window_pages / 16, 1);
}

bool Prefetch::is_sweep_due() const {
  // A window that is only beginning to fill would be read in bits.
  if (m_is_sweeping || !m_is_filled || m_window.wanted() == 0) return false;
  const std::size_t part = m_has_waited ? sweep_part_behind : sweep_part_ahead;
  if (m_is_over || m_window.wanted() >= m_window_pages / part) return true;
  return m_is_starved && !m_is_collecting && !wants_leaves();
}

void Prefetch::begin_sweep_if_due() {
  if (!is_sweep_due()) return;
  m_is_sweeping = true;
  m_has_waited = false;
  add(Counter::sweeps);
  // Between sweeps the device did nothing for us, and showed nothing.
  m_tuner.forget();
}

std::size_t Prefetch::reads_most() const { return m_plan.reads.value_or(m_tuner.depth()); }

Work::Clock::time_point Prefetch::ready_at(std::size_t threads_in) const {
  std::lock_guard guard(m_mutex);
  if (m_is_stopping) return Clock::time_point::max();
  if (wants_leaves()) return Clock::time_point{};
  auto at = Clock::time_point::max();
  if (may_read() && threads_in < reads_most()) at = m_asleep_until;
  // When all is read and used there is nothing left to look for.
  const bool is_done = m_window.ahead() == 0 && m_after == nullptr;
  if (m_follows_pool && threads_in == 0 && !is_done) at = std::min(at, m_looks_at);
  return at;
}

void Prefetch::do_piece() {
  std::unique_lock lock(m_mutex);
  if (m_is_stopping) return;
  if (m_follows_pool && m_looks_at <= Clock::now()) slide_with_pool();
  if (m_is_over && m_window.wanted() == 0 && m_after != nullptr) {
    Prefetch *after = std::exchange(m_after, nullptr);
    lock.unlock();
    after->begin();
    return;
  }
  if (wants_leaves()) {
    collect(&lock);
    return;
  }
  if (!may_read() || m_asleep_until > Clock::now()) return;
  Run run;
  const std::size_t gap = m_pages.is_vectored() ? m_plan.gap_pages.value_or(m_tuner.gap()) : 0;
  if (m_window.take_run(gap, m_plan.request_pages, &run)) {
    read(&lock, gap, run);
  } else {
    m_is_sweeping = false;
    begin_sweep_if_due();
  }
}

void Prefetch::collect(std::unique_lock<std::mutex> *lock) {
  m_is_collecting = true;
  const std::size_t wanted = std::min(m_window_pages - m_window.ahead(), collect_most);
  lock->unlock();

  std::vector<Page_no> leaves;
  bool is_more = true;
  while (is_more && leaves.size() < wanted)
    is_more = m_branches.next(&leaves, wanted - leaves.size());

  lock->lock();
  m_is_collecting = false;
  m_window.add(leaves);
  if (!is_more && m_passes_left > 0) {
    m_passes_left--;
    m_branches = Branches(m_index, Direction::forward, nullptr, 0, nullptr);
  } else if (!is_more) {
    m_is_over = true;
  }
  m_is_filled |= m_is_over || !wants_leaves();
  begin_sweep_if_due();
  m_has_come.notify_all();
}

void Prefetch::read(std::unique_lock<std::mutex> *lock, std::size_t gap, const Run &run) {
  lock->unlock();
  Counters counted;
  const std::size_t asked = m_pages.read(run.pages, gap, &counted);
  for (std::size_t counter = 0; counter < Counters::size; counter++)
    add(static_cast<Counter>(counter), counted.get(static_cast<Counter>(counter)));
  lock->lock();

  m_window.finish(run);
  const Served served{asked, static_cast<std::size_t>(counted.get(Counter::bytes)),
                      static_cast<std::uint64_t>(counted.get(Counter::request_us))};
  if (asked > 0) m_tuner.note(served, now_us());
  m_read_since_sleep += asked;
  if (m_read_since_sleep >= sleep_pages) {
    m_read_since_sleep -= sleep_pages;
    m_asleep_until = Clock::now() + m_plan.sleep;
  }
  m_read_of_window += asked;
  if (m_read_of_window >= m_window_pages) {
    m_read_of_window = 0;
    add(Counter::windows);
  }
  m_has_come.notify_all();
}

bool Prefetch::come_to(Page_no leaf, THD *thd) {
  std::unique_lock lock(m_mutex);
  while (!m_is_filled && !thd_killed(thd)) m_has_come.wait_for(lock, kill_check);
  const std::size_t before = m_window.ahead();
  const bool is_known = m_window.advance(leaf);
  if (!is_known) {
    add(Counter::misses);
    return false;
  }
  const std::size_t passed = before - m_window.ahead();
  m_passed_since_growth += passed;
  if (m_window_pages < m_plan.window_pages && m_passed_since_growth >= m_window_pages) {
    m_window_pages = std::min(m_window_pages * growth, m_plan.window_pages);
    m_passed_since_growth = 0;
  }
  if (wants_leaves()) {
    // The readers' lock comes before this one.
    lock.unlock();
    const bool is_served = readers.wake();
    if (!is_served) return true;
    lock.lock();
  }
  wait_for_next(thd, &lock);
  return true;
}

void Prefetch::wait_for_next(THD *thd, std::unique_lock<std::mutex> *lock) {
  const auto must_wait = [this] {
    const auto next = m_window.next();
    return next ? m_window.is_pending(*next) : !m_is_over;
  };
  if (must_wait()) {
    const std::uint64_t begin_us = now_us();
    add(Counter::waits);
    m_is_starved = true;
    m_has_waited = true;
    begin_sweep_if_due();
    const bool is_due = may_read();
    lock->unlock();
    if (is_due) readers.wake();
    lock->lock();
    thd_wait_begin(thd, THD_WAIT_DISKIO);
    while (must_wait() && !thd_killed(thd)) m_has_come.wait_for(*lock, kill_check);
    thd_wait_end(thd);
    m_is_starved = false;
    add(Counter::wait_us, now_us() - begin_us);
  }
  const auto next = m_window.next();
  if (next && !m_window.is_pending(*next) && !m_pages.is_present(*next))
    add(Counter::evicted_unused);
}

void Prefetch::follow_pool(unsigned passes, Prefetch *after) {
  m_follows_pool = true;
  m_passes_left = passes - 1;
  m_after = after;
}

void Prefetch::slide_with_pool() {
  m_looks_at = Clock::now() + pool_check;
  for (auto next = m_window.next(); next; next = m_window.next()) {
    if (m_window.is_pending(*next) || !is_used(*next)) break;
    m_window.advance(*next);
  }
}

bool Prefetch::is_used(Page_no page) const {
  const page_id_t id(m_index->space, page);
  rw_lock_t *hash_lock = nullptr;
  const buf_page_t *descriptor = buf_page_hash_get_s_locked(buf_pool_get(id), id, &hash_lock);
  // One that has left the pool is behind the scan, or lost to it.
  if (descriptor == nullptr) return true;
  const bool is_accessed =
      buf_page_is_accessed(descriptor) != std::chrono::steady_clock::time_point{};
  rw_lock_s_unlock(hash_lock);
  return is_accessed;
}

}  // namespace lra
