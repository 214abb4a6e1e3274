#include "tuner.h"

#include <algorithm>
#include <utility>

namespace lra {

namespace {

/** The lesser of a value and what was the least, which fades. */
double least(double was, double fading, double value) {
  return was == 0 ? value : std::min(was * fading, value);
}

}  // namespace

void Tuner::note(const Served &request, std::uint64_t now_us) {
  if (m_begin_us == 0) {
    // The first request of a trial only starts its clock: it was begun under another setting.
    m_begin_us = now_us;
    return;
  }
  m_pages += request.pages;
  m_bytes += request.bytes;
  m_took_us += request.took_us;
  m_requests++;
  const std::uint64_t elapsed_us = now_us - m_begin_us;
  if (elapsed_us < (m_is_first ? first_trial_us : trial_us) || m_requests < trial_requests) return;
  end_trial(static_cast<double>(elapsed_us));
  forget();
}

void Tuner::forget() {
  m_begin_us = 0;
  m_pages = 0;
  m_requests = 0;
  m_bytes = 0;
  m_took_us = 0;
}

void Tuner::end_trial(double elapsed_us) {
  estimate_queue(elapsed_us);
  if (!widen_if_slow() && !relieve()) judge(static_cast<double>(m_pages) * 1e6 / elapsed_us);
}

bool Tuner::widen_if_slow() {
  const bool is_fresh = m_is_first && !m_tried && m_best_rate == 0;
  const double mean_us = static_cast<double>(m_took_us) / static_cast<double>(m_requests);
  if (!is_fresh || mean_us < slow_us || m_gap.at >= slow_gap) return false;
  m_gap.at = slow_gap;
  return true;
}

void Tuner::estimate_queue(double elapsed_us) {
  m_queued = 0;
  if (m_took_us == 0 || m_bytes == 0) return;
  const double took_us = static_cast<double>(m_took_us);
  const double mean_us = took_us / static_cast<double>(m_requests);
  const double us_per_byte = took_us / static_cast<double>(m_bytes);
  m_least_us = least(m_least_us, fading, mean_us);
  m_least_us_per_byte = least(m_least_us_per_byte, fading, us_per_byte);
  const double alone_us = std::max(m_least_us, m_least_us_per_byte * mean_us / us_per_byte);
  const double under_way = took_us / elapsed_us;
  m_queued = under_way * std::max(1 - alone_us / mean_us, 0.0);
  m_queued_most = std::max(static_cast<double>(m_requests) * queued_most_us / elapsed_us, 1.0);
}

bool Tuner::relieve() {
  if (m_queued <= m_queued_most || m_depth.at == 0) return false;
  if (m_tried == Setting::gap && !m_claimed) m_gap.at = m_before;
  m_tried.reset();
  m_claimed.reset();
  m_depth.at--;
  m_depth.direction = -1;
  m_is_first = false;
  return true;
}

void Tuner::judge(double rate) {
  if (!m_tried) {
    m_best_rate = rate;
    if (m_rest > 0) {
      m_rest--;
      return;
    }
    step(m_next);
    return;
  }

  Ladder &tried = ladder(*m_tried);
  if (m_claimed) {
    const double claimed = *std::exchange(m_claimed, std::nullopt);
    m_best_rate = rate;
    if (claimed < rate * gain) {
      refuse();
      return;
    }
    std::swap(tried.at, m_before);
    keep(claimed);
    return;
  }

  const bool is_fewer_reads = m_tried == Setting::depth && tried.at < m_before;
  // At first the queue alone limits depth: the trials are too short to tell a small gain.
  const bool is_welcome = is_fewer_reads || m_is_first;
  if (rate < m_best_rate * (is_welcome ? no_loss : gain)) {
    tried.at = m_before;
    refuse();
  } else if (is_welcome) {
    keep(rate);
  } else {
    m_claimed = rate;
    std::swap(tried.at, m_before);
  }
}

void Tuner::keep(double rate) {
  m_best_rate = rate;
  m_failures = 0;
  step(*m_tried);
}

void Tuner::refuse() {
  m_is_first = false;
  Ladder &tried = ladder(*m_tried);
  tried.direction = -tried.direction;
  m_tried.reset();
  m_failures++;
  // Each ladder is tried both ways; then the settings stand for a while.
  if (m_failures % 2 == 0) pass_turn();
  if (m_failures >= 4) {
    m_failures = 0;
    m_rest = rest_trials;
  }
}

void Tuner::pass_turn() { m_next = m_next == Setting::gap ? Setting::depth : Setting::gap; }

void Tuner::step(Setting setting) {
  Ladder &stepped = ladder(setting);
  const bool is_up = stepped.direction > 0;
  const bool is_at_end = is_up ? stepped.at + 1 == stepped.steps : stepped.at == 0;
  // Twice the reads on a device that is busy are twice those that wait.
  const bool is_crowded = setting == Setting::depth && is_up && 2 * m_queued > m_queued_most;
  if (is_at_end || is_crowded) {
    m_is_first = false;
    m_tried.reset();
    stepped.direction = -stepped.direction;
    pass_turn();
    return;
  }
  m_before = stepped.at;
  m_tried = setting;
  stepped.at = is_up ? stepped.at + 1 : stepped.at - 1;
}

}  // namespace lra
