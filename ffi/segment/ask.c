/* Request of a reader to the writer of a segment for newer values. Everything else is read as a file. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../export.h"
#include "segment.h"

static uint32_t ask(struct segment_header *header, uint32_t taken) {
    uint32_t asked = __atomic_load_n(&header->asked, __ATOMIC_SEQ_CST);
    uint32_t answered = __atomic_load_n(&header->answered, __ATOMIC_SEQ_CST);
    uint32_t next = (asked > answered ? asked : answered) + 1;
    __atomic_store_n(&header->taken, taken, __ATOMIC_SEQ_CST);
    __atomic_store_n(&header->asked, next, __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&header->bell, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &header->bell, FUTEX_WAKE, 1, NULL, NULL, 0);
    return next;
}

/* Acknowledges the answer `taken`, and asks for the next one. Returns the number of the answer to wait for,
 * or a negative errno. */
SERVICE_EXPORT int64_t service_segment_ask(const char *path, uint32_t taken) {
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return -errno;
    struct statx status;
    int64_t result = -EINVAL;
    if (statx(fd, "", AT_EMPTY_PATH, STATX_TYPE | STATX_SIZE, &status) == 0 &&
        S_ISREG(status.stx_mode) && status.stx_size == SEGMENT_SIZE) {
        void *page = mmap(NULL, sizeof(struct segment_header), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        result = page == MAP_FAILED ? -(int64_t)errno : (int64_t)ask(page, taken);
        if (page != MAP_FAILED) munmap(page, sizeof(struct segment_header));
    }
    close(fd);
    return result;
}
