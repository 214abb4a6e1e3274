#include "prefetch.h"

#include <pthread.h>

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

/** Leaves that are looked at for a scan that may come. */
constexpr std::size_t leaves_to_see = 16;

/** Part of the pool's old blocks that windows may take up. A page waits there for up to two
sweeps, and what was read meanwhile came in before it. */
constexpr double old_share = 0.6;

/** A window is halved when this part of it left the pool unused, and given up when it is smaller
than so many pages. */
constexpr std::size_t lost_part = 16;
constexpr std::size_t window_least = 128;

/** The mean time between requests that are done from which on a device is slow: the scan loses less by
waiting for leaves than by reading them one by one. Not the time of a request, which is long for large
requests on any device that limits bytes. */
constexpr std::chrono::milliseconds slow_between{4};
constexpr std::size_t timed_requests = 16;

/** Parts of the tree that have a gate: more than InnoDB has threads in, as a rule. */
constexpr std::size_t gates_most = 16;

/** The longest a thread waits at a gate: it may be another session's. */
constexpr std::chrono::milliseconds gate_most{500};

/** How often gates are looked after. */
constexpr std::chrono::milliseconds gate_check{20};

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
      m_window_pages(std::min(plan.first_pages, plan.window_pages)),
      m_in_flight(plan.request_pages * m_pages.page_bytes()) {}

void Prefetch::begin() {
  m_is_begun = true;
  m_begun_at = Clock::now();
  prefetches++;
  m_tuner = learnt.of(m_pages.device());
  if (m_is_seen) add(Counter::scans);
  readers.add(this);
  readers.wake();
}

Prefetch::~Prefetch() {
  if (!m_is_begun) return;
  {
    std::lock_guard guard(m_mutex);
    m_is_stopping = true;
  }
  m_is_ending.notify_all();
  if (m_gatekeeper.joinable()) m_gatekeeper.join();
  readers.remove(this);
  learnt.keep(m_pages.device(), m_tuner);
  prefetches--;
}

std::size_t Prefetch::how_many() { return prefetches; }

std::size_t Prefetch::pool_bytes() {
  const auto old_ratio =
      static_cast<double>(buf_pool_from_array(0)->LRU_old_ratio) / BUF_LRU_OLD_RATIO_DIV;
  return static_cast<std::size_t>(static_cast<double>(srv_buf_pool_curr_size) * old_ratio *
                                  old_share);
}

void Prefetch::add(Counter counter, long long amount) {
  m_counters->add(counter, amount);
  server_counters.add(counter, amount);
}

void Prefetch::add_all(const Counters &counted) {
  for (std::size_t counter = 0; counter < Counters::size; counter++)
    add(static_cast<Counter>(counter), counted.get(static_cast<Counter>(counter)));
}

bool Prefetch::wants_leaves() const {
  if (m_is_over || m_is_collecting || m_window.ahead() >= m_window_pages) return false;
  // In portions: each is a search in the tree.
  return m_window_pages - m_window.ahead() >= std::max<std::size_t>(m_window_pages / 16, 1);
}

bool Prefetch::is_sweep_due() const {
  // A window that is only beginning to fill would be read in bits.
  if (m_is_sweeping || !m_is_filled || !m_is_seen || m_window.wanted() == 0) return false;
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
  m_timed_requests = 0;
}

std::size_t Prefetch::reads_most() const { return m_plan.reads.value_or(m_tuner.depth()); }

Work::Clock::time_point Prefetch::ready_at(std::size_t threads_in) const {
  std::lock_guard guard(m_mutex);
  if (m_is_stopping) return Clock::time_point::max();
  if (wants_leaves()) return Clock::time_point{};
  auto at = Clock::time_point::max();
  if (may_read() && threads_in < reads_most() && has_room()) at = m_asleep_until;
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
  if (!may_read() || !has_room() || m_asleep_until > Clock::now()) return;
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

  std::vector<std::vector<Page_no>> groups;
  std::size_t collected = 0;
  bool is_more = true;
  while (is_more && collected < wanted) {
    groups.emplace_back();
    is_more = m_branches.next(&groups.back(), wanted - collected);
    collected += groups.back().size();
  }

  lock->lock();
  m_is_collecting = false;
  for (const auto &leaves : groups) m_window.add(leaves);
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

std::size_t Prefetch::bytes_of(const Run &run) const {
  return (run.pages.back() - run.pages.front() + 1) * m_pages.page_bytes();
}

void Prefetch::read(std::unique_lock<std::mutex> *lock, std::size_t gap, const Run &run) {
  m_in_flight.begin(bytes_of(run));
  lock->unlock();
  Counters counted;
  const std::size_t asked = m_pages.read(run.pages, gap, &counted);
  add_all(counted);
  lock->lock();

  m_window.finish(run);
  m_in_flight.finish(bytes_of(run), counted.get(Counter::request_us));
  const Served served{asked, static_cast<std::size_t>(counted.get(Counter::bytes)),
                      static_cast<std::uint64_t>(counted.get(Counter::request_us))};
  if (asked > 0) {
    m_tuner.note(served, now_us());
    note_speed();
  }
  m_read_since_sleep += asked;
  if (m_read_since_sleep >= sleep_pages) {
    m_read_since_sleep -= sleep_pages;
    if (m_plan.sleep.count() > 0) m_timed_requests = 0;
    m_asleep_until = Clock::now() + m_plan.sleep;
  }
  m_read_of_window += asked;
  if (m_read_of_window >= m_window_pages) {
    m_read_of_window = 0;
    m_lost = 0;
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

void Prefetch::wait_to_see() {
  m_is_seen = false;
  m_window_pages = std::min(m_plan.window_pages, leaves_to_see);
}

bool Prefetch::is_scan_seen() const {
  // Not by the first leaf: InnoDB goes to the first of each part of the tree before any is scanned.
  for (std::size_t skipped = 1; skipped < m_window.ahead(); skipped++) {
    if (use_of(*m_window.next(skipped)).since >= m_begun_at) return true;
  }
  return false;
}

void Prefetch::slide_with_pool() {
  m_looks_at = Clock::now() + pool_check;
  if (!m_is_seen) {
    if (!is_scan_seen()) return;
    m_is_seen = true;
    m_window_pages = m_plan.window_pages;
    add(Counter::scans);
  }
  m_is_starved = false;
  for (auto next = m_window.next(); next; next = m_window.next()) {
    const Use use = use_of(*next);
    // Whoever waits for a held leaf has used it, as the pool sees it.
    if (m_window.is_held(*next)) {
      m_is_starved = m_has_waited = true;
      break;
    }
    if (!use.is_used()) {
      m_is_starved = m_window.is_pending(*next);
      if (m_is_starved) {
        // The scan is here, or will be before this leaf is.
        m_has_waited = true;
        break;
      }
      if (!use.is_present)
        note_lost();
      else if (!is_passed())
        break;
    }
    m_window.advance(*next);
  }
  begin_sweep_if_due();
}

bool Prefetch::is_passed() const {
  // Read after the scan had been there: it will not come back. One used leaf proves nothing (see
  // is_scan_seen()).
  const auto second = m_window.next(1);
  const auto third = m_window.next(2);
  return second && third && use_of(*second).since >= m_begun_at &&
         use_of(*third).since >= m_begun_at;
}

void Prefetch::note_lost() {
  add(Counter::evicted_unused);
  if (++m_lost < std::max(m_window_pages, window_least) / lost_part) return;
  // What is lost was read for nothing, and took the place of other pages.
  m_lost = 0;
  m_window_pages /= 2;
  if (m_window_pages < window_least) m_is_over = true;
}

void Prefetch::note_speed() {
  if (m_timed_requests == 0) m_timed_since = Clock::now();
  if (++m_timed_requests <= timed_requests) return;
  m_between_requests = (Clock::now() - m_timed_since) / timed_requests;
  m_timed_requests = 0;
  if (!m_follows_pool || m_gatekeeper.joinable() || m_between_requests < slow_between) return;
  try {
    m_gatekeeper = std::thread([this] { keep_gates(); });
  } catch (const std::system_error &) {
    // Without gates the scan reads more by itself.
  }
}

/* Gates: how a scan that is not ours is made to wait.

A scan that comes to a leaf before the sweep does reads it by itself. On a slow device those single
reads take the place of requests that would bring many pages each. So while a sweep goes on, the first
leaf still to be read of each part of the tree is held: its frame is claimed, as by any read, but the
read is begun only when no other leaf of the part is left to be read, or somebody has waited for
gate_most. The scan waits for the page as for any page that is being read.

The gatekeeper has a thread of its own, which waits for no latch and no other reader, and for a free
frame only while no gate is closed: whatever those who wait at a gate hold meanwhile, it opens in
time. */
void Prefetch::keep_gates() {
  my_thread_init();
  ::pthread_setname_np(::pthread_self(), "lra_gates");
  std::unique_lock lock(m_mutex);
  while (!m_is_stopping) {
    open_gates(&lock);
    close_gates(&lock);
    m_is_ending.wait_for(lock, gate_check, [this] { return m_is_stopping; });
  }
  open_gates(&lock);
  lock.unlock();
  Pages::free_spare(&m_spare);
  my_thread_end();
}

bool Prefetch::is_gate_time() const {
  return m_is_sweeping && !m_is_stopping && m_between_requests >= slow_between &&
         m_asleep_until <= Clock::now();
}

void Prefetch::close_gates(std::unique_lock<std::mutex> *lock) {
  if (!is_gate_time()) return;
  if (m_gates.empty() && m_spare.size() < gates_most) {
    lock->unlock();
    m_pages.take_spare(&m_spare, std::min(4 * gates_most, m_plan.window_pages / 16));
    lock->lock();
  }
  const auto is_scanned = [this](Page_no leaf) { return use_of(leaf).is_used(); };
  for (const Page_no leaf : m_window.first_wanted(gates_most, is_scanned)) {
    if (!m_window.hold(leaf)) continue;
    lock->unlock();
    buf_page_t *descriptor = m_pages.hold(leaf, &m_spare);
    lock->lock();
    if (descriptor != nullptr)
      m_gates.push_back({leaf, descriptor, {}});
    else if (m_pages.is_present(leaf))
      m_window.finish({{leaf}});
    else
      m_window.give_back(leaf);
  }
}

void Prefetch::open_gates(std::unique_lock<std::mutex> *lock) {
  std::vector<Gate> closed;
  for (Gate &gate : std::exchange(m_gates, {})) {
    const auto now = Clock::now();
    if (gate.waited_since == Clock::time_point{} && use_of(gate.leaf).is_used())
      gate.waited_since = now;
    const bool has_waited = gate.waited_since != Clock::time_point{};
    const bool is_due = has_waited && now - gate.waited_since >= gate_most;
    if (!is_due && is_gate_time() && m_window.is_hold_due(gate.leaf)) {
      closed.push_back(gate);
      continue;
    }
    lock->unlock();
    Counters counted;
    m_pages.read_held(gate.leaf, gate.descriptor, &counted);
    if (has_waited) {
      counted.add(Counter::waits);
      counted.add(Counter::wait_us, std::chrono::duration_cast<std::chrono::microseconds>(
                                        Clock::now() - gate.waited_since)
                                        .count());
    }
    add_all(counted);
    lock->lock();
    m_window.finish({{gate.leaf}});
  }
  m_gates = std::move(closed);
}

Prefetch::Use Prefetch::use_of(Page_no page) const {
  const page_id_t id(m_index->space, page);
  rw_lock_t *hash_lock = nullptr;
  const buf_page_t *descriptor = buf_page_hash_get_s_locked(buf_pool_get(id), id, &hash_lock);
  if (descriptor == nullptr) return {false, {}};
  const Use use{true, buf_page_is_accessed(descriptor)};
  rw_lock_s_unlock(hash_lock);
  return use;
}

}  // namespace lra
