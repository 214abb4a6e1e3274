/* Pages of a tablespace, brought into the buffer pool. */

#ifndef LRA_PAGES_H
#define LRA_PAGES_H

#include <sys/types.h>

#include <span>
#include <vector>

#include "counters.h"
#include "innodb.h"
#include "window.h"

namespace lra {

/** A tablespace that is read from. The space cannot be dropped while this is there.

Where the file allows it, several pages are read by one vectored request straight into frames of
the pool. What InnoDB transforms on the way (compressed or encrypted pages), spaces of several
files or several tables, and secondary indexes, whose pages may have changes buffered for them, go
page by page through InnoDB's own asynchronous reads. */
class Pages {
 public:
  explicit Pages(const dict_index_t *index);
  ~Pages();
  Pages(const Pages &) = delete;
  Pages &operator=(const Pages &) = delete;

  /** Whether there is a space to read from. */
  bool is_open() const { return m_space != nullptr; }

  /** Whether a request may span several pages. */
  bool is_vectored() const { return m_descriptor >= 0; }

  /** Bytes of a page in the file. */
  std::size_t page_bytes() const { return m_page_size.physical(); }

  /** The number of the device the file is on; 0 when it is not read by vectored requests. */
  dev_t device() const { return m_device; }

  /** Pages of the file. */
  page_no_t file_pages() const { return m_space->size; }

  /** Brings pages into the pool that are not there. A page that cannot be read is left out: whoever
  needs it will be told by the server's own read.
  @param pages    ascending
  @param gap      unwanted pages one request may read through
  @param counters what to count on
  @return pages that a request was made for */
  std::size_t read(std::span<const Page_no> pages, std::size_t gap, Counters *counters);

  /** Claims a frame for a page that is not in the pool: whoever comes to the page waits until
  read_held() has read it. Waits for no frame: one of `spare` is used where none is free.
  @return the frame, or nullptr when the page is in the pool or frames are short */
  buf_page_t *hold(Page_no page, std::vector<buf_block_t *> *spare) const;

  /** Makes so many frames spare. Waits for them, so no page may be held meanwhile. */
  void take_spare(std::vector<buf_block_t *> *spare, std::size_t count) const;
  static void free_spare(std::vector<buf_block_t *> *spare);

  /** Reads a held page by the server's own read, which also handles whatever may be wrong with it:
  others may wait for it. */
  void read_held(Page_no page, buf_page_t *descriptor, Counters *counters) const;

  /** Whether a page is in the pool or on its way. */
  bool is_present(Page_no page) const { return buf_page_peek(page_id_t(m_space->id, page)); }

 private:
  struct Frame {
    Page_no page;
    buf_page_t *descriptor;
  };
  std::size_t read_singly(std::span<const Page_no> pages, Counters *counters);
  void read_vector(std::span<const Frame> frames, Counters *counters);
  bool is_sound(const Frame &frame) const;
  /** Counts a page as Innodb_buffer_pool_read_ahead does. */
  void count_read_ahead(Page_no page) const;
  void free_frames(std::span<const Page_no> pages) const;
  bool has_free_frame(Page_no page) const;

  fil_space_t *m_space;
  page_size_t m_page_size;
  int m_descriptor{-1};
  dev_t m_device{0};
};

}  // namespace lra

#endif
