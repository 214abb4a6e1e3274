#include "window.h"

namespace lra {

void Window::add(std::span<const Page_no> leaves) {
  for (const Page_no leaf : leaves) {
    const std::uint64_t place = m_first_place + m_order.size();
    if (!m_leaves.try_emplace(leaf, Leaf{place, State::wanted}).second) continue;
    m_order.push_back(leaf);
    m_wanted.insert(leaf);
  }
  const std::uint64_t end = m_first_place + m_order.size();
  const std::uint64_t begin = m_groups.empty() ? m_first_place : m_groups.back().end;
  if (begin < end) m_groups.push_back({end, begin});
}

std::optional<Page_no> Window::first_wanted(const Group &group) const {
  for (std::uint64_t place = group.scan; place < group.end; place++) {
    const State state = m_leaves.at(at(place)).state;
    if (state == State::held) return std::nullopt;
    if (state == State::wanted) return at(place);
  }
  return std::nullopt;
}

bool Window::hold(Page_no leaf) {
  const auto found = m_leaves.find(leaf);
  if (found == m_leaves.end() || found->second.state != State::wanted) return false;
  found->second.state = State::held;
  m_wanted.erase(leaf);
  return true;
}

bool Window::is_held(Page_no leaf) const {
  const auto found = m_leaves.find(leaf);
  return found != m_leaves.end() && found->second.state == State::held;
}

bool Window::is_hold_due(Page_no leaf) const {
  const auto found = m_leaves.find(leaf);
  if (found == m_leaves.end() || found->second.state != State::held) return false;
  const std::uint64_t held = found->second.place;
  const auto group = std::find_if(m_groups.begin(), m_groups.end(),
                                  [held](const Group &one) { return one.end > held; });
  for (std::uint64_t place = held + 1; place < group->end; place++) {
    if (m_leaves.at(at(place)).state == State::wanted) return true;
  }
  return false;
}

void Window::give_back(Page_no leaf) {
  const auto found = m_leaves.find(leaf);
  if (found == m_leaves.end() || found->second.state != State::held) return;
  found->second.state = State::wanted;
  m_wanted.insert(leaf);
}

bool Window::take_run(std::size_t gap, std::size_t pages_most, Run *run) {
  auto next = m_wanted.lower_bound(m_sweep);
  if (next == m_wanted.end()) {
    m_sweep = 0;
    return false;
  }

  run->pages.clear();
  const Page_no first = *next;
  do {
    run->pages.push_back(*next);
    m_leaves.at(*next).state = State::reading;
    next = m_wanted.erase(next);
  } while (next != m_wanted.end() && *next - run->pages.back() <= gap + 1 &&
           *next - first < pages_most);
  m_sweep = run->pages.back() + 1;
  return true;
}

void Window::finish(const Run &run) {
  for (const Page_no page : run.pages) {
    const auto leaf = m_leaves.find(page);
    if (leaf != m_leaves.end() && leaf->second.state != State::wanted)
      leaf->second.state = State::finished;
  }
}

bool Window::advance(Page_no leaf) {
  const auto found = m_leaves.find(leaf);
  if (found == m_leaves.end()) return false;
  const std::uint64_t place = found->second.place;
  while (m_first_place <= place) {
    const Page_no passed = m_order.front();
    m_order.pop_front();
    m_first_place++;
    m_wanted.erase(passed);
    m_leaves.erase(passed);
  }
  while (!m_groups.empty() && m_groups.front().end <= m_first_place) m_groups.pop_front();
  return true;
}

std::optional<Page_no> Window::next(std::size_t skipped) const {
  if (skipped >= m_order.size()) return std::nullopt;
  return m_order[skipped];
}

bool Window::is_pending(Page_no leaf) const {
  const auto found = m_leaves.find(leaf);
  return found != m_leaves.end() && found->second.state != State::finished;
}

}  // namespace lra
