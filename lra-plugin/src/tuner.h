/* What the device likes: how large a gap to read through, how many reads at once.

   Both are found by trying: a setting is kept for a while, the wanted pages that came in a second
   are counted, and the next setting up or down is tried. A larger gap must bring more to be kept;
   fewer reads at once need only not bring less, since the device has other users too.

   No server's header is needed here: the class is tested alone. It has no lock of its own. */

#ifndef LRA_TUNER_H
#define LRA_TUNER_H

#include <array>
#include <cstddef>
#include <cstdint>

namespace lra {

class Tuner {
 public:
  /** Pages nobody wants that a request may read through. */
  std::size_t gap() const { return gaps[m_gap.at]; }

  /** Reads that may be under way at once. */
  std::size_t depth() const { return depths[m_depth.at]; }

  /** A request was done.
  @param pages  wanted pages it brought
  @param now_us the time in microseconds, by a clock that never goes back */
  void note(std::size_t pages, std::uint64_t now_us);

  /** The reads were held up by something other than the device: what was counted says nothing. */
  void forget();

 private:
  static constexpr std::array<std::size_t, 8> gaps{0, 1, 2, 4, 8, 16, 32, 64};
  static constexpr std::array<std::size_t, 6> depths{1, 2, 4, 8, 16, 32};
  /** A trial ends when it has lasted this long and seen so many requests. */
  static constexpr std::uint64_t trial_us = 200'000;
  static constexpr std::size_t trial_requests = 32;
  /** Trials without a new setting before one is tried again. */
  static constexpr unsigned rest_trials = 6;

  struct Ladder {
    std::size_t at;
    std::size_t steps;
    /** +1 or -1: where the next step is tried. */
    int direction;
  };

  void end_trial(double rate);
  void step(Ladder *ladder);

  Ladder m_gap{1, gaps.size(), 1};
  Ladder m_depth{3, depths.size(), 1};
  /** The ladder that is tried, and where it stood before the trial. */
  Ladder *m_tried{nullptr};
  std::size_t m_before{0};
  /** Which ladder's turn it is. */
  bool m_is_depth_next{false};
  /** Pages a second at the settings that are kept; 0 when not known. */
  double m_best_rate{0};
  unsigned m_rest{0};
  unsigned m_failures{0};

  std::uint64_t m_begin_us{0};
  std::size_t m_pages{0};
  std::size_t m_requests{0};
};

}  // namespace lra

#endif
