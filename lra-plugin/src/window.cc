#include "window.h"

namespace lra {

void Window::add(std::span<const Page_no> leaves) {
  for (const Page_no leaf : leaves) {
    const std::uint64_t place = m_first_place + m_order.size();
    if (!m_leaves.try_emplace(leaf, Leaf{place, State::wanted}).second) continue;
    m_order.push_back(leaf);
    m_wanted.insert(leaf);
  }
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
    if (leaf != m_leaves.end() && leaf->second.state == State::reading)
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
  return true;
}

std::optional<Page_no> Window::next() const {
  if (m_order.empty()) return std::nullopt;
  return m_order.front();
}

bool Window::is_pending(Page_no leaf) const {
  const auto found = m_leaves.find(leaf);
  return found != m_leaves.end() && found->second.state != State::finished;
}

}  // namespace lra
