/* Strict driver: modules, and the names of their functions, each in a page of its own. */
#include "driver.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

struct strict_module {
    struct strict_function *functions;
};

/* Room for one symbol, in a page of its own; given to the next symbol after an unload. */
struct page {
    struct page *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct page *free_pages;
static uint32_t symbols;

STRICT_API CUresult cuModuleLoadData(void **module, const void *image)
{
    (void)image;
    forbid_inside("cuModuleLoadData");
    *module = calloc(1, sizeof(struct strict_module));
    tell_resource(RESOURCE_MODULE_LOADED, NULL, NULL);
    return CUDA_SUCCESS;
}

/* The driver writes names while nothing refers to them, which the thread sanitizer cannot know. */
__attribute__((no_sanitize("thread"))) static void write_text(volatile char *to, const char *text,
                                                               size_t length)
{
    for (size_t i = 0; i < length; i++)
        to[i] = text ? text[i] : '?';
}

/* Copies `text` into a page of its own, at a place in it that differs from page to page. */
static const char *place(const char *text)
{
    size_t length = strlen(text) + 1;
    pthread_mutex_lock(&lock);
    struct page *page = free_pages;
    if (page)
        free_pages = page->next;
    uint32_t index = symbols++;
    pthread_mutex_unlock(&lock);
    size_t room = length > PAGE ? (length + PAGE - 1) / PAGE * PAGE : PAGE;
    if (!page || room > PAGE)
        page = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    /* The same place for the first symbols of all modules: unloading gives it to another. */
    size_t offset = index * 7 * 64 % (room - length + 1) / 64 * 64;
    write_text((char *)page + offset, text, length);
    return (char *)page + offset;
}

STRICT_API CUresult cuModuleGetFunction(void **function, void *module, const char *name)
{
    forbid_inside("cuModuleGetFunction");
    struct strict_function *made = calloc(1, sizeof *made);
    struct strict_module *owner = module;
    made->name = place(name);
    made->duration_ns = 1000;
    made->module = owner;
    made->next = owner->functions;
    owner->functions = made;
    *function = made;
    return CUDA_SUCCESS;
}

STRICT_API CUresult strictFuncSetDuration(void *function, uint64_t duration_ns)
{
    ((struct strict_function *)function)->duration_ns = duration_ns;
    return CUDA_SUCCESS;
}

/* Launches of the function that have a record, and the sum of their durations. */
STRICT_API CUresult strictFuncGetRecorded(void *function, uint64_t *launches, uint64_t *sum_ns)
{
    *launches = atomic_load(&((struct strict_function *)function)->recorded);
    *sum_ns = atomic_load(&((struct strict_function *)function)->recorded_ns);
    return CUDA_SUCCESS;
}

STRICT_API CUresult cuFuncGetName(const char **name, void *function)
{
    forbid_inside("cuFuncGetName");
    *name = ((struct strict_function *)function)->name;
    return CUDA_SUCCESS;
}

/* Functions stay as handles: the workload asks them for what was recorded. */
STRICT_API CUresult cuModuleUnload(void *module)
{
    struct strict_call call = begin(CBID_MODULE_UNLOAD, "cuModuleUnload", &module, NULL);
    tell_resource(RESOURCE_MODULE_UNLOAD_STARTING, NULL, NULL);
    struct strict_module *owner = module;
    pthread_mutex_lock(&lock);
    for (struct strict_function *f = owner->functions; f; f = f->next) {
        struct page *page = (struct page *)((uintptr_t)f->name & ~(uintptr_t)(PAGE - 1));
        write_text((char *)page, NULL, PAGE - 1);
        page->next = free_pages;
        free_pages = page;
        f->name = NULL;
    }
    pthread_mutex_unlock(&lock);
    free(owner);
    return end(&call, CUDA_SUCCESS);
}
