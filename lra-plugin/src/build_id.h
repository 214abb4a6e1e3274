/* Which build of the server this is. */

#ifndef LRA_BUILD_ID_H
#define LRA_BUILD_ID_H

#include <string>

namespace lra {

/** The running program's build id, in hexadecimal digits; empty when it has none.
The linker writes it as a note of type NT_GNU_BUILD_ID (elf.h). */
std::string running_build_id();

/** That of the server the plugin was compiled for. */
extern const char compiled_build_id[];

}  // namespace lra

#endif
