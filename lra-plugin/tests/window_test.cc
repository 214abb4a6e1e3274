/* The window and the tuner, without a server: c++ -std=c++20 -I../src, exits with 1 on a failure. */

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <random>
#include <vector>

#include "in_flight.h"
#include "tuner.h"
#include "window.h"

namespace {

int passed = 0;
int failed = 0;

void check(bool is_so, const char *what) {
  if (is_so) {
    passed++;
  } else {
    failed++;
    std::printf("FAILED: %s\n", what);
  }
}

using Pages = std::vector<lra::Page_no>;

Pages take(lra::Window *window, std::size_t gap, std::size_t most) {
  lra::Run run;
  return window->take_run(gap, most, &run) ? run.pages : Pages{};
}

void runs_are_sorted_and_joined() {
  lra::Window window;
  window.add(Pages{9, 3, 20, 4, 6, 21});
  check(take(&window, 0, 64) == Pages{3, 4}, "neighbours are one run");
  check(take(&window, 2, 64) == Pages{6, 9}, "a gap of two is read through");
  check(take(&window, 64, 1) == Pages{20}, "a run is no longer than it may be");
  check(take(&window, 64, 64) == Pages{21}, "the rest follows");
  check(take(&window, 64, 64).empty(), "the sweep ends");
}

void a_sweep_goes_forward() {
  lra::Window window;
  window.add(Pages{10, 50});
  check(take(&window, 0, 64) == Pages{10}, "the first");
  window.add(Pages{5, 30});
  check(take(&window, 0, 64) == Pages{30}, "what joined ahead of the sweep is met by it");
  check(take(&window, 0, 64) == Pages{50}, "then what was there");
  check(take(&window, 0, 64).empty(), "what joined behind waits");
  check(take(&window, 0, 64) == Pages{5}, "for the next sweep");
}

void the_scan_slides_it() {
  lra::Window window;
  window.add(Pages{7, 2, 5});
  check(window.ahead() == 3 && window.next() == 7u, "all are ahead");
  check(!window.advance(99), "a leaf it does not hold");
  check(window.advance(2), "a leaf passed over takes those before it along");
  check(window.ahead() == 1 && window.next() == 5u && window.wanted() == 1, "one is left");
  lra::Run run;
  check(window.take_run(0, 64, &run) && window.is_pending(5), "it is being read");
  window.finish(run);
  check(!window.is_pending(5), "and is there");
  check(window.advance(5) && !window.next(), "nothing is left");
  window.finish(run);
  check(window.ahead() == 0, "a run that ends late changes nothing");
}

/** Whatever the order, gap and length: each leaf is read once, in ascending runs. */
void every_leaf_once() {
  std::mt19937 random(7);
  for (int round = 0; round < 200; round++) {
    Pages leaves(1 + random() % 400);
    std::iota(leaves.begin(), leaves.end(), random() % 1000);
    std::shuffle(leaves.begin(), leaves.end(), random);
    lra::Window window;
    window.add(leaves);
    Pages read;
    const std::size_t gap = random() % 5;
    const std::size_t most = 1 + random() % 70;
    while (window.wanted() > 0) {
      const Pages run = take(&window, gap, most);
      if (run.empty()) continue;
      if (!std::is_sorted(run.begin(), run.end()) || run.back() - run.front() >= most)
        check(false, "a run ascends within its length");
      read.insert(read.end(), run.begin(), run.end());
    }
    std::sort(read.begin(), read.end());
    std::sort(leaves.begin(), leaves.end());
    if (read != leaves) check(false, "each leaf is read once");
  }
  check(true, "random windows");
}

/** A device of a model, with reads at once as the tuner says.
@param cost_us     what the device does with a request of so many pages
@param latency_us  what a request takes however idle the device is
@param density     share of the pages that are wanted */
template <class Cost>
lra::Tuner settled(Cost cost_us, double latency_us, double density) {
  lra::Tuner tuner;
  double now_us = 1;
  std::mt19937 random(3);
  for (int request = 0; request < 60000; request++) {
    // Pages until a gap is too wide to read through.
    std::size_t wanted = 1;
    std::size_t pages = 1;
    while (pages < 64) {
      std::size_t gap = 0;
      while (std::uniform_real_distribution<>(0, 1)(random) > density) gap++;
      if (gap > tuner.gap() || pages + gap + 1 > 64) break;
      pages += gap + 1;
      wanted++;
    }
    // As many are under way as may be: each waits for those before it.
    const double depth = static_cast<double>(tuner.depth());
    const double interval_us = std::max<double>(cost_us(pages), latency_us / depth);
    now_us += interval_us;
    tuner.note({wanted, pages * 16384, static_cast<std::uint64_t>(interval_us * depth)},
               static_cast<std::uint64_t>(now_us));
  }
  return tuner;
}

void the_tuner_finds_what_a_device_likes() {
  const auto disk = [](std::size_t pages) { return std::max(6667.0, pages * 16384 / 157.3); };
  const auto volume = [](std::size_t pages) { return std::max(333.0, pages * 16384 / 131.0); };
  const auto flash = [](std::size_t pages) { return 2.0 + pages * 12.0; };
  const lra::Tuner of_disk = settled(disk, 0, 0.25);
  check(of_disk.gap() >= 16, "a disk of 150 requests a second likes large gaps");
  check(of_disk.depth() <= 4, "and few reads at once");
  const lra::Tuner of_volume = settled(volume, 500, 0.25);
  check(of_volume.gap() >= 1 && of_volume.gap() <= 4,
        "a volume of 3000 requests a second likes small ones");
  check(of_volume.depth() <= 8, "and no long queue");
  const lra::Tuner of_flash = settled(flash, 100, 0.25);
  check(of_flash.gap() <= 1, "flash likes none");
  const auto wide = [](std::size_t pages) { return 1.0 + pages * 5.0; };
  check(settled(wide, 150, 0.25).depth() >= 16, "and many reads at once, when it is wide");
}

/** While the scan works it takes half of the processors: settings must not be judged by that. */
void a_busy_scan_misleads_no_tuner() {
  std::size_t gap_most = 0;
  for (unsigned seed = 0; seed < 50; seed++) {
    std::mt19937 random(seed);
    lra::Tuner tuner;
    double now_us = 1;
    double phase_ends_us = 0;
    bool is_busy = false;
    while (now_us < 5e6) {
      if (now_us >= phase_ends_us) {
        is_busy = !is_busy;
        phase_ends_us = now_us + std::uniform_real_distribution<>(5e5, 2e6)(random);
      }
      // Each larger gap brings a little less.
      const std::size_t gap = tuner.gap();
      const double page_us = (is_busy ? 60.0 : 30.0) * (1.0 + 0.04 * static_cast<double>(gap));
      now_us += 4 * page_us;
      tuner.note({4, 65536 + gap * 16384, static_cast<std::uint64_t>(4 * page_us)},
                 static_cast<std::uint64_t>(now_us));
    }
    gap_most = std::max(gap_most, tuner.gap());
  }
  check(gap_most <= 2, "what the scan leaves to the readers is not taken for a setting's merit");
}

/** A tuner that is kept for the next scan in the middle of a trial stands alone. */
void a_copy_of_a_tuner_is_its_own() {
  lra::Tuner first;
  std::uint64_t now_us = 1;
  const auto feed = [&now_us](lra::Tuner *tuner, std::size_t pages) {
    for (int request = 0; request < 50; request++) {
      now_us += 400;
      tuner->note({pages, 16384, 400}, now_us);
    }
  };
  bool is_alone = true;
  for (int round = 0; round < 200; round++) {
    feed(&first, 1 + round % 5);
    const std::size_t gap = first.gap();
    const std::size_t depth = first.depth();
    lra::Tuner copy = first;
    for (int more = 0; more < 40; more++) feed(&copy, 1 + more % 7);
    is_alone &= first.gap() == gap && first.depth() == depth;
  }
  check(is_alone, "what a copy learns changes nothing in the tuner it was copied from");
}

void each_group_has_its_first_wanted() {
  lra::Window window;
  window.add(Pages{1, 8, 3});
  window.add(Pages{9, 2});
  window.add(Pages{7});
  const auto nobody = [](lra::Page_no) { return false; };
  const auto scanned_1_and_9 = [](lra::Page_no leaf) { return leaf == 1 || leaf == 9; };
  check(window.first_wanted(2, nobody) == Pages{1, 9}, "the first of each of two groups");
  check(window.first_wanted(9, scanned_1_and_9) == Pages{8, 2, 7}, "none that the scan has passed");
  check(window.hold(8) && !window.hold(8), "a leaf is held once");
  check(window.first_wanted(9, scanned_1_and_9) == Pages{2, 7}, "a group has one held leaf");
  check(window.is_held(8) && window.is_hold_due(8), "another of its group is wanted");
  check(take(&window, 64, 64) == Pages{1, 2, 3, 7, 9}, "no run has a held leaf");
  check(!window.is_hold_due(8), "none of its group is wanted");
  window.give_back(8);
  check(take(&window, 64, 64) == Pages{8} || take(&window, 64, 64) == Pages{8},
        "a leaf that was given back is read");
  check(window.advance(3) && window.ahead() == 3, "the first group is passed");
  check(window.first_wanted(9, nobody).empty(), "nothing is wanted");
}

/** The bytes in flight in the end, if each read takes so long. */
std::size_t most_in_flight(std::uint64_t took_us) {
  constexpr std::size_t read_bytes = 1 << 20;
  lra::In_flight in_flight(read_bytes);
  for (int n = 0; n < 1000; n++) {
    in_flight.begin(read_bytes);
    in_flight.finish(read_bytes, took_us);
  }
  std::size_t bytes = 0;
  for (; in_flight.admits(); bytes += read_bytes) in_flight.begin(read_bytes);
  return bytes;
}

void slow_reads_are_few() {
  check(most_in_flight(300) == 8 << 20, "8 MB while reads are quick");
  check(most_in_flight(40'000) == 2 << 20, "two reads where they are slow");
}

}  // namespace

int main() {
  each_group_has_its_first_wanted();
  slow_reads_are_few();
  runs_are_sorted_and_joined();
  a_sweep_goes_forward();
  the_scan_slides_it();
  every_leaf_once();
  the_tuner_finds_what_a_device_likes();
  a_busy_scan_misleads_no_tuner();
  a_copy_of_a_tuner_is_its_own();
  std::printf("window: %d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
