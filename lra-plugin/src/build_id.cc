#include "build_id.h"

#include <elf.h>
#include <link.h>

#include <cstring>

#ifndef LRA_SERVER_BUILD_ID
#error "LRA_SERVER_BUILD_ID is to be the build id of the server: see build.sh"
#endif

namespace lra {

namespace {

/** Looks for the note among a segment's; their sizes are rounded up to 4. */
bool find_note(const char *notes, std::size_t size, std::string *id) {
  const auto round_up = [](std::size_t bytes) { return (bytes + 3) & ~std::size_t{3}; };
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes, sizeof note);
    const std::size_t name_bytes = round_up(note.n_namesz);
    const std::size_t whole = sizeof note + name_bytes + round_up(note.n_descsz);
    if (whole > size) return false;
    const char *name = notes + sizeof note;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
      for (std::size_t byte = 0; byte < note.n_descsz; byte++) {
        static const char digits[] = "0123456789abcdef";
        const auto value = static_cast<unsigned char>(name[name_bytes + byte]);
        *id += digits[value >> 4];
        *id += digits[value & 15];
      }
      return true;
    }
    notes += whole;
    size -= whole;
  }
  return false;
}

/** Called for each object of the process, the program first: only that is looked at. */
int look(dl_phdr_info *object, std::size_t, void *id) {
  for (int index = 0; index < object->dlpi_phnum; index++) {
    const ElfW(Phdr) &segment = object->dlpi_phdr[index];
    if (segment.p_type != PT_NOTE) continue;
    const auto *notes = reinterpret_cast<const char *>(object->dlpi_addr + segment.p_vaddr);
    if (find_note(notes, segment.p_memsz, static_cast<std::string *>(id))) break;
  }
  return 1;
}

}  // namespace

std::string running_build_id() {
  std::string id;
  dl_iterate_phdr(look, &id);
  return id;
}

const char compiled_build_id[] = LRA_SERVER_BUILD_ID;

}  // namespace lra
