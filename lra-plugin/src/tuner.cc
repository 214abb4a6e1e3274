#include "tuner.h"

namespace lra {

void Tuner::note(std::size_t pages, std::uint64_t now_us) {
  if (m_begin_us == 0) {
    // The first request of a trial only starts its clock: it was begun under another setting.
    m_begin_us = now_us;
    return;
  }
  m_pages += pages;
  m_requests++;
  const std::uint64_t elapsed_us = now_us - m_begin_us;
  if (elapsed_us < trial_us || m_requests < trial_requests) return;
  end_trial(static_cast<double>(m_pages) * 1e6 / static_cast<double>(elapsed_us));
  forget();
}

void Tuner::forget() {
  m_begin_us = 0;
  m_pages = 0;
  m_requests = 0;
}

void Tuner::end_trial(double rate) {
  if (m_tried == nullptr) {
    m_best_rate = rate;
    if (m_rest > 0) {
      m_rest--;
      return;
    }
    step(m_is_depth_next ? &m_depth : &m_gap);
    return;
  }

  Ladder *tried = m_tried;
  m_tried = nullptr;
  const bool is_fewer_reads = tried == &m_depth && tried->at < m_before;
  const double needed = m_best_rate * (is_fewer_reads ? 0.97 : 1.08);
  if (rate >= needed) {
    m_best_rate = rate;
    m_failures = 0;
    step(tried);
    return;
  }
  tried->at = m_before;
  tried->direction = -tried->direction;
  m_failures++;
  // Each ladder is tried both ways; then the settings stand for a while.
  if (m_failures % 2 == 0) m_is_depth_next = !m_is_depth_next;
  if (m_failures >= 4) {
    m_failures = 0;
    m_rest = rest_trials;
  }
}

void Tuner::step(Ladder *ladder) {
  const bool is_at_end = ladder->direction > 0 ? ladder->at + 1 == ladder->steps : ladder->at == 0;
  if (is_at_end) {
    ladder->direction = -ladder->direction;
    m_is_depth_next = !m_is_depth_next;
    return;
  }
  m_before = ladder->at;
  m_tried = ladder;
  ladder->at = ladder->direction > 0 ? ladder->at + 1 : ladder->at - 1;
}

}  // namespace lra
