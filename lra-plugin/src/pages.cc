#include "pages.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <mutex>
#include <vector>

namespace lra {

namespace {

/** Frames of one request, at most: what preadv() takes. */
constexpr std::size_t frames_most = IOV_MAX;

/** Free frames there must be to hold a page: so many that others will not take the last of them
meanwhile. */
constexpr std::size_t free_to_hold = 64;

/** Where pages of gaps go; nobody reads it, so all requests share it. */
void *gap_buffer() {
  static void *const buffer = std::aligned_alloc(UNIV_PAGE_SIZE_MAX, UNIV_PAGE_SIZE_MAX);
  return buffer;
}

/** Whoever claims frames: the pool's own mutexes are spun for, and the first use of a frame's memory
happens under them, so several readers at it would burn the processors the scan needs. */
std::mutex claiming;

int open_file(const fil_space_t &space) {
  const int flags = O_RDONLY | O_CLOEXEC;
  const char *name = space.files.front().name;
  // As the server itself reads it: around the page cache, or through it.
  if (!srv_is_direct_io()) return ::open(name, flags);
  return ::open(name, flags | O_DIRECT);
}

bool is_plain(const fil_space_t &space, const page_size_t &page_size) {
  return !page_size.is_compressed() && !space.is_compressed() && !space.is_encrypted() &&
         !space.can_encrypt() && space.files.size() == 1 &&
         fsp_is_file_per_table(space.id, space.flags);
}

}  // namespace

Pages::Pages(const dict_index_t *index)
    : m_space(fil_space_acquire_silent(index->space)),
      m_page_size(dict_table_page_size(index->table)) {
  if (m_space == nullptr) return;
  if (index->is_clustered() && is_plain(*m_space, m_page_size) && gap_buffer() != nullptr)
    m_descriptor = open_file(*m_space);
  struct stat status;
  if (m_descriptor >= 0 && ::fstat(m_descriptor, &status) == 0) m_device = status.st_dev;
}

Pages::~Pages() {
  if (m_descriptor >= 0) ::close(m_descriptor);
  if (m_space != nullptr) fil_space_release(m_space);
}

std::size_t Pages::read(std::span<const Page_no> pages, std::size_t gap, Counters *counters) {
  if (!is_vectored()) return read_singly(pages, counters);

  std::vector<Page_no> absent;
  std::copy_if(pages.begin(), pages.end(), std::back_inserter(absent),
               [this](Page_no page) { return !is_present(page); });
  counters->add(Counter::pages_present, pages.size() - absent.size());
  std::unique_lock claim(claiming);
  free_frames(absent);

  std::size_t asked = 0;
  std::vector<Frame> held;
  held.reserve(std::min(absent.size(), frames_most));
  for (const Page_no page : absent) {
    const bool is_far = !held.empty() && (page - held.back().page > gap + 1 ||
                                          page - held.front().page >= frames_most);
    // A frame may have to be waited for: not while others wait for the ones that are held.
    if (is_far || (!held.empty() && !has_free_frame(page))) {
      claim.unlock();
      read_vector(held, counters);
      held.clear();
      claim.lock();
    }
    buf_page_t *descriptor = buf_page_init_for_read(
        BUF_READ_ANY_PAGE, page_id_t(m_space->id, page), m_page_size, false);
    if (descriptor == nullptr) {
      counters->add(Counter::pages_present);
      continue;
    }
    held.push_back({page, descriptor});
    count_read_ahead(page);
    asked++;
  }
  claim.unlock();
  if (!held.empty()) read_vector(held, counters);
  return asked;
}

std::size_t Pages::read_singly(std::span<const Page_no> pages, Counters *counters) {
  std::size_t asked = 0;
  for (const Page_no page : pages) {
    const page_id_t id(m_space->id, page);
    if (buf_page_peek(id) || !buf_read_page_background(id, m_page_size, false)) {
      counters->add(Counter::pages_present);
      continue;
    }
    count_read_ahead(page);
    asked++;
  }
  os_aio_simulated_wake_handler_threads();
  counters->add(Counter::pages_prefetched, asked);
  counters->add(Counter::requests, asked);
  counters->add(Counter::bytes, asked * page_bytes());
  return asked;
}

void Pages::read_vector(std::span<const Frame> frames, Counters *counters) {
  const std::size_t bytes = page_bytes();
  std::array<iovec, frames_most> parts;
  std::size_t n_parts = 0;
  Page_no next = frames.front().page;
  for (const Frame &frame : frames) {
    for (; next < frame.page; next++) parts[n_parts++] = {gap_buffer(), bytes};
    auto *block = reinterpret_cast<buf_block_t *>(frame.descriptor);
    parts[n_parts++] = {block->frame, bytes};
    next++;
  }

  const std::size_t total_bytes = n_parts * bytes;
  const auto offset = static_cast<off_t>(frames.front().page) * static_cast<off_t>(bytes);
  const std::uint64_t begin_us = now_us();
  ssize_t got;
  do {
    got = ::preadv(m_descriptor, parts.data(), static_cast<int>(n_parts), offset);
  } while (got < 0 && errno == EINTR);
  counters->add(Counter::request_us, now_us() - begin_us);
  // The server's own counts of what it reads: fil_io() and os_file_pread() keep them else.
  std::atomic_ref(os_n_file_reads).fetch_add(1, std::memory_order_relaxed);
  srv_stats.data_read.add(total_bytes);
  const std::size_t whole_pages = got < 0 ? 0 : static_cast<std::size_t>(got) / bytes;

  std::size_t read = 0;
  for (const Frame &frame : frames) {
    const bool is_read = frame.page - frames.front().page < whole_pages && is_sound(frame);
    if (!is_read)
      buf_read_page_handle_error(frame.descriptor);
    else if (buf_page_io_complete(frame.descriptor, false))
      read++;
  }
  counters->add(Counter::requests);
  counters->add(Counter::bytes, total_bytes);
  counters->add(Counter::gap_bytes, (n_parts - frames.size()) * bytes);
  counters->add(Counter::pages_prefetched, read);
  counters->add(Counter::pages_failed, frames.size() - read);
}

void Pages::take_spare(std::vector<buf_block_t *> *spare, std::size_t count) const {
  while (spare->size() < count)
    spare->push_back(buf_LRU_get_free_block(buf_pool_get(page_id_t(m_space->id, 0))));
}

void Pages::free_spare(std::vector<buf_block_t *> *spare) {
  for (buf_block_t *block : *spare) buf_LRU_block_free_non_file_page(block);
  spare->clear();
}

buf_page_t *Pages::hold(Page_no page, std::vector<buf_block_t *> *spare) const {
  const page_id_t id(m_space->id, page);
  if (!is_vectored() || buf_page_peek(id)) return nullptr;
  buf_pool_t *pool = buf_pool_get(id);
  if (UT_LIST_GET_LEN(pool->free) < free_to_hold) {
    const auto found = std::find_if(spare->begin(), spare->end(), [pool](buf_block_t *block) {
      return buf_pool_from_block(block) == pool;
    });
    if (found == spare->end()) return nullptr;
    buf_LRU_block_free_non_file_page(*found);
    spare->erase(found);
  }
  return buf_page_init_for_read(BUF_READ_ANY_PAGE, id, m_page_size, false);
}

void Pages::read_held(Page_no page, buf_page_t *descriptor, Counters *counters) const {
  const std::uint64_t begin_us = now_us();
  const dberr_t error =
      fil_io(IORequest(IORequest::READ), true, page_id_t(m_space->id, page), m_page_size, 0,
             page_bytes(), reinterpret_cast<buf_block_t *>(descriptor)->frame, descriptor);
  counters->add(Counter::requests);
  counters->add(Counter::request_us, now_us() - begin_us);
  counters->add(Counter::bytes, page_bytes());
  if (error != DB_SUCCESS) {
    buf_read_page_handle_error(descriptor);
    counters->add(Counter::pages_failed);
    return;
  }
  const bool is_read = buf_page_io_complete(descriptor, false);
  counters->add(is_read ? Counter::pages_prefetched : Counter::pages_failed);
  if (is_read) count_read_ahead(page);
}

void Pages::count_read_ahead(Page_no page) const {
  buf_pool_t *pool = buf_pool_get(page_id_t(m_space->id, page));
  pool->stat.n_ra_pages_read.fetch_add(1, std::memory_order_relaxed);
}

bool Pages::is_sound(const Frame &frame) const {
  const byte *page = reinterpret_cast<const buf_block_t *>(frame.descriptor)->frame;
  switch (fil_page_get_type(page)) {
    // Left from when the table was compressed or encrypted: InnoDB's own read undoes that.
    case FIL_PAGE_COMPRESSED:
    case FIL_PAGE_ENCRYPTED:
    case FIL_PAGE_COMPRESSED_AND_ENCRYPTED:
    case FIL_PAGE_ENCRYPTED_RTREE:
      return false;
    default:
      break;
  }
  // A damaged page is dropped in silence; the scan's own read of it says what the server has to
  // say of damage.
  BlockReporter reporter(true, page, m_page_size, fsp_is_checksum_disabled(m_space->id));
  return mach_read_from_4(page + FIL_PAGE_OFFSET) == frame.page &&
         mach_read_from_4(page + FIL_PAGE_SPACE_ID) == m_space->id && !reporter.is_corrupted();
}

void Pages::free_frames(std::span<const Page_no> pages) const {
  // Others find the page of a frame that is to be read into, and wait for it; nobody can wait for
  // one that is merely free. So this is where to wait until there are enough.
  std::vector<buf_block_t *> blocks;
  blocks.reserve(pages.size());
  for (const Page_no page : pages) {
    buf_pool_t *pool = buf_pool_get(page_id_t(m_space->id, page));
    if (UT_LIST_GET_LEN(pool->free) < pages.size()) blocks.push_back(buf_LRU_get_free_block(pool));
  }
  for (buf_block_t *block : blocks) buf_LRU_block_free_non_file_page(block);
}

bool Pages::has_free_frame(Page_no page) const {
  return UT_LIST_GET_LEN(buf_pool_get(page_id_t(m_space->id, page))->free) > 0;
}

}  // namespace lra
