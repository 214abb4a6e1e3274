/* What the device likes: how large a gap to read through, how many reads at once.

   Both are found by trying: a setting is kept for a while, the wanted pages that came in a second
   are counted, and the next setting up or down is tried. What seems to bring more is held against
   the setting before it once again: the scan itself may have left the processors to us meanwhile.

   More reads at once bring more pages in two ways: a device that works at several at once does
   more, and one that is busy does ours before others'. Only the first is wanted, since the device
   has other users, whose reads wait behind ours. So the reads that merely wait in the device's queue
   are estimated, from how much longer a read takes than it did at best, and kept to as few as keep
   the device busy.

   No server's header is needed here: the class is tested alone. It has no lock of its own. */

#ifndef LRA_TUNER_H
#define LRA_TUNER_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace lra {

/** A request that was done. */
struct Served {
  /** Wanted pages it brought. */
  std::size_t pages;
  std::size_t bytes;
  /** How long it took; 0 where that is not known. */
  std::uint64_t took_us;
};

class Tuner {
 public:
  /** Pages nobody wants that a request may read through. */
  std::size_t gap() const { return gaps[m_gap.at]; }

  /** Reads that may be under way at once. */
  std::size_t depth() const { return depths[m_depth.at]; }

  /** A request was done.
  @param now_us the time in microseconds, by a clock that never goes back */
  void note(const Served &request, std::uint64_t now_us);

  /** The reads were held up by something other than the device: what was counted says nothing. */
  void forget();

 private:
  static constexpr std::array<std::size_t, 8> gaps{0, 1, 2, 4, 8, 16, 32, 64};
  static constexpr std::array<std::size_t, 6> depths{1, 2, 4, 8, 16, 32};
  /** A trial ends when it has lasted this long and seen so many requests. */
  static constexpr std::uint64_t trial_us = 100'000;
  static constexpr std::size_t trial_requests = 32;
  /** At first depth doubles, by short trials, as long as that does no harm. */
  static constexpr std::uint64_t first_trial_us = 20'000;
  /** Trials without a new setting before one is tried again. */
  static constexpr unsigned rest_trials = 6;
  /** Reads of ours that may wait in the device's queue: one, which is enough for it never to rest,
  or as many as it does in this time, which nobody notices. */
  static constexpr double queued_most_us = 500;
  /** By so much the best times are forgotten each trial: devices change. */
  static constexpr double fading = 1.02;
  /** A device whose first requests take longer than this limits their number: its trials begin with a
  larger gap, since each takes long there. */
  static constexpr double slow_us = 8000;
  static constexpr std::size_t slow_gap = 5;

  /** What a setting must bring to be kept, and what may be lost where a change is welcome. */
  static constexpr double gain = 1.08;
  static constexpr double no_loss = 0.97;

  enum class Setting : std::uint8_t { gap, depth };
  struct Ladder {
    std::size_t at;
    std::size_t steps;
    /** +1 or -1: where the next step is tried. */
    int direction;
  };

  void end_trial(double elapsed_us);
  void judge(double rate);
  void keep(double rate);
  void refuse();
  void estimate_queue(double elapsed_us);
  bool widen_if_slow();
  bool relieve();
  void step(Setting setting);
  void pass_turn();
  Ladder &ladder(Setting setting) { return setting == Setting::gap ? m_gap : m_depth; }

  Ladder m_gap{1, gaps.size(), 1};
  Ladder m_depth{1, depths.size(), 1};
  /** The setting that is tried, and where its ladder stood before the trial. No pointer to it:
  tuners are copied. */
  std::optional<Setting> m_tried;
  std::size_t m_before{0};
  /** Pages a second that the setting m_before seemed to bring, while the one before it is looked at
  once again. */
  std::optional<double> m_claimed;
  /** Whether depth has only gone up. */
  bool m_is_first{true};
  /** Whose turn it is. */
  Setting m_next{Setting::depth};
  /** Pages a second at the settings that are kept. */
  double m_best_rate{0};
  unsigned m_rest{0};
  unsigned m_failures{0};

  /** The least a request, and a byte, has taken; 0 when not known. */
  double m_least_us{0};
  double m_least_us_per_byte{0};
  /** Reads of ours that waited in the device's queue, on average, in the last trial, and those
  that may. */
  double m_queued{0};
  double m_queued_most{1};

  std::uint64_t m_begin_us{0};
  std::size_t m_pages{0};
  std::size_t m_requests{0};
  std::size_t m_bytes{0};
  std::uint64_t m_took_us{0};
};

}  // namespace lra

#endif
