/* How many bytes one scan may have in flight.

   All other requests to the device wait behind ours. While reads complete quickly, up to bytes_most are
   in flight: on a fast device nobody waits long behind them. When reads take long, fewer are. Within
   that limit the tuner finds how many reads at once the device needs.

   No server's header is needed here: the class is tested alone. It has no lock of its own. */

#ifndef LRA_IN_FLIGHT_H
#define LRA_IN_FLIGHT_H

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace lra {

class In_flight {
 public:
  /** More than any device transfers within the latency of a request. */
  static constexpr std::size_t bytes_most = 8 << 20;

  /** @param request_bytes of the largest request: two of them may always be in flight, so that one is
  served while the other is ready to be next */
  explicit In_flight(std::size_t request_bytes)
      : m_least(std::min(2 * request_bytes, bytes_most)), m_most(bytes_most) {}

  /** Whether another read may begin beside those in flight. */
  bool admits() const { return m_bytes < m_most; }

  void begin(std::size_t bytes) { m_bytes += bytes; }

  /** A read has ended.
  @param took_us its time; 0 where that is not known */
  void finish(std::size_t bytes, std::uint64_t took_us) {
    m_bytes -= bytes;
    const std::size_t wanted = took_us > service_us_most ? m_most / 8 * 7 : m_most + step_bytes;
    m_most = std::clamp(wanted, m_least, bytes_most);
  }

  std::size_t most() const { return m_most; }

 private:
  /** Reads that take longer than this wait for each other. */
  static constexpr std::uint64_t service_us_most = 16'000;
  /** By so much the limit grows after a read that completed quickly. */
  static constexpr std::size_t step_bytes = 64 << 10;

  std::size_t m_least;
  std::size_t m_most;
  std::size_t m_bytes{0};
};

}  // namespace lra

#endif
