#include "readers.h"

#include <pthread.h>

#include <algorithm>

#include "innodb.h"

namespace lra {

Readers readers;

void Readers::set_most(std::size_t most) {
  std::lock_guard guard(m_mutex);
  m_most = most;
}

void Readers::add(Work *work) {
  std::lock_guard guard(m_mutex);
  m_works.push_back(work);
}

void Readers::remove(Work *work) {
  std::unique_lock lock(m_mutex);
  std::erase(m_works, work);
  m_is_out.wait(lock, [&] { return work->m_threads_in == 0; });
}

bool Readers::wake() {
  std::lock_guard guard(m_mutex);
  call_another();
  return !m_threads.empty();
}

void Readers::call_another() {
  if (m_idle > 0) {
    m_is_ready.notify_one();
    return;
  }
  if (m_is_stopping || m_threads.size() >= m_most) return;
  try {
    m_threads.emplace_back([this] { run(); });
  } catch (const std::system_error &) {
    // The threads there are will do.
  }
}

void Readers::stop() {
  {
    std::lock_guard guard(m_mutex);
    m_is_stopping = true;
    m_is_ready.notify_all();
  }
  for (std::thread &thread : m_threads) thread.join();
  m_threads.clear();
  m_is_stopping = false;
}

Work *Readers::next(Work::Clock::time_point *ready_at) {
  *ready_at = Work::Clock::time_point::max();
  if (m_working >= m_most) return nullptr;
  const auto now = Work::Clock::now();
  for (std::size_t tried = 0; tried < m_works.size(); tried++) {
    m_turn = (m_turn + 1) % m_works.size();
    Work *work = m_works[m_turn];
    const auto at = work->ready_at(work->m_threads_in);
    if (at <= now) return work;
    *ready_at = std::min(*ready_at, at);
  }
  return nullptr;
}

void Readers::run() {
  my_thread_init();
  ::pthread_setname_np(::pthread_self(), "lra_reader");
  std::unique_lock lock(m_mutex);
  while (!m_is_stopping) {
    Work::Clock::time_point ready_at;
    Work *work = next(&ready_at);
    if (work == nullptr) {
      m_idle++;
      if (ready_at == Work::Clock::time_point::max())
        m_is_ready.wait(lock);
      else
        m_is_ready.wait_until(lock, ready_at);
      m_idle--;
      continue;
    }
    work->m_threads_in++;
    m_working++;
    // There may be enough to do for more than one.
    if (next(&ready_at) != nullptr) call_another();
    lock.unlock();
    work->do_piece();
    lock.lock();
    m_working--;
    if (--work->m_threads_in == 0) m_is_out.notify_all();
  }
  lock.unlock();
  my_thread_end();
}

}  // namespace lra
