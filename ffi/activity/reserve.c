/* Reserved memory: in small pages, as a huge one would be resident as a whole. */
#include "reserve.h"

#include <sys/mman.h>

void *reserve(size_t size) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    madvise(memory, size, MADV_NOHUGEPAGE);
    return memory;
}
