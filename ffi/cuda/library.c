/* `libcupti`: the search for the file, and its functions. */
#define _GNU_SOURCE
#include "library.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The layout of records is known up to this version. */
#define NEWEST_MAJOR 13
#define OLDEST_MAJOR 11
#define ROOTS 8

#ifdef __x86_64__
#define TARGET "targets/x86_64-linux/lib"
#else
#define TARGET "targets/sbsa-linux/lib"
#endif

/* The libraries that are loaded into this process. */
struct loaded {
    char roots[ROOTS][PATH_MAX]; /* folders of wheels, each ended by a slash */
    int root_count;
    int major; /* version of its CUDA; 0: no library names it */
};

/* ---- Versions ---- */

static void add_root(struct loaded *loaded, const char *path, size_t length) {
    if (length >= PATH_MAX || loaded->root_count == ROOTS) return;
    for (int i = 0; i < loaded->root_count; i++)
        if (strncmp(loaded->roots[i], path, length) == 0 && loaded->roots[i][length] == '\0') return;
    char *root = loaded->roots[loaded->root_count++];
    memcpy(root, path, length);
    root[length] = '\0';
}

static int major_in(const char *path) {
    static const char *const libraries[] = {"libcudart", "libcublas", "libcublasLt", "libnvrtc"};
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path, *suffix = strstr(file, ".so.");
    for (size_t i = 0; suffix && i < sizeof libraries / sizeof *libraries; i++) {
        size_t length = strlen(libraries[i]);
        bool named = strncmp(file, libraries[i], length) == 0 && (file[length] == '.' || file[length] == '-');
        if (named) return atoi(suffix + strlen(".so."));
    }
    return 0;
}

static int add_object(struct dl_phdr_info *object, size_t size, void *data) {
    (void)size;
    struct loaded *loaded = data;
    const char *path = object->dlpi_name;
    const char *markers[] = {"/site-packages/", "/dist-packages/", "/torch/lib/", "/nvidia/"};
    for (size_t i = 0; i < sizeof markers / sizeof *markers; i++) {
        const char *found = strstr(path, markers[i]);
        if (!found) continue;
        size_t length = (size_t)(found - path) + (i < 2 ? strlen(markers[i]) : 1);
        add_root(loaded, path, length);
        break;
    }
    int major = major_in(path);
    if (loaded->major == 0 && major >= OLDEST_MAJOR) loaded->major = major;
    return 0;
}

int driver_version(void) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_NOW);
    if (!driver) return 0;
    int (*get)(int *) = (int (*)(int *))dlsym(driver, "cuDriverGetVersion");
    int version = 0;
    bool known = get && get(&version) == 0;
    dlclose(driver);
    return known ? version : 0;
}

/* A libcupti newer than the driver refuses to work, an older one works. */
static void names_of(int major, char names[][32], int *count) {
    if (major > OLDEST_MAJOR) {
        snprintf(names[(*count)++], 32, "libcupti.so.%d", major);
        return;
    }
    for (int minor = 8; minor >= 7; minor--) snprintf(names[(*count)++], 32, "libcupti.so.11.%d", minor);
}

/* The version of the process first, then the others that the driver supports. */
static int all_names(int own, int driver, char names[][32]) {
    int count = 0, newest = driver >= OLDEST_MAJOR && driver < NEWEST_MAJOR ? driver : NEWEST_MAJOR;
    if (own >= OLDEST_MAJOR && own <= NEWEST_MAJOR) names_of(own, names, &count);
    for (int major = newest; major >= OLDEST_MAJOR; major--)
        if (major != own) names_of(major, names, &count);
    return count;
}

/* ---- Files ---- */

static void *open_file(const char *path) {
    return access(path, R_OK) == 0 ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

static void *in_wheels(const struct loaded *loaded, const char *name, int major) {
    void *library = NULL;
    char path[PATH_MAX + 64];
    for (int i = 0; i < loaded->root_count && !library; i++) {
        snprintf(path, sizeof path, "%snvidia/cu%d/lib/%s", loaded->roots[i], major, name);
        library = open_file(path);
        if (library) break;
        snprintf(path, sizeof path, "%snvidia/cuda_cupti/lib/%s", loaded->roots[i], name);
        library = open_file(path);
    }
    return library;
}

static void *in_folder(const char *folder, const char *name) {
    static const char *const places[] = {"extras/CUPTI/lib64", "lib64", TARGET};
    void *library = NULL;
    char path[PATH_MAX + 64];
    if (!folder || !*folder) return NULL;
    for (size_t i = 0; i < sizeof places / sizeof *places && !library; i++) {
        int length = snprintf(path, sizeof path, "%s/%s/%s", folder, places[i], name);
        if (length > 0 && (size_t)length < sizeof path) library = open_file(path);
    }
    return library;
}

static void *in_toolkits(const char *name, int major) {
    void *library = in_folder(getenv("CUDA_HOME"), name);
    if (!library) library = in_folder(getenv("CUDA_PATH"), name);
    char pattern[64];
    glob_t found = {0};
    snprintf(pattern, sizeof pattern, "/usr/local/cuda-%d*", major);
    if (!library && glob(pattern, 0, NULL, &found) == 0)
        for (size_t i = found.gl_pathc; i > 0 && !library; i--) library = in_folder(found.gl_pathv[i - 1], name);
    globfree(&found);
    return library ? library : in_folder("/usr/local/cuda", name);
}

static void *find(char *looked_for, size_t size) {
    static struct loaded loaded;
    char names[8][32];
    dl_iterate_phdr(add_object, &loaded);
    int driver = driver_version() / 1000;
    int count = all_names(loaded.major ? loaded.major : driver, driver, names);
    size_t used = 0;
    looked_for[0] = '\0';
    void *library = NULL;
    for (int i = 0; i < count && !library; i++) {
        library = dlopen(names[i], RTLD_NOLOAD | RTLD_NOW);
        if (used < size) used += (size_t)snprintf(looked_for + used, size - used, "%s%s", i ? ", " : "", names[i]);
    }
    for (int i = 0; i < count && !library; i++) {
        int major = atoi(names[i] + strlen("libcupti.so."));
        library = in_wheels(&loaded, names[i], major);
        if (!library) library = in_toolkits(names[i], major);
        if (!library) library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    }
    return library;
}

/* ---- Functions ---- */

static const struct {
    const char *name;
    size_t offset;
    bool optional;
} FUNCTIONS[] = {
#define FUNCTION(name, optional) {"cupti" #name, offsetof(struct cupti, name), optional}
    FUNCTION(GetVersion, false),
    FUNCTION(Subscribe, false),
    FUNCTION(Subscribe_v2, true),
    FUNCTION(Unsubscribe, false),
    FUNCTION(EnableCallback, false),
    FUNCTION(ActivityRegisterCallbacks, false),
    FUNCTION(ActivityEnable, false),
    FUNCTION(ActivityDisable, false),
    FUNCTION(ActivityGetNextRecord, false),
    FUNCTION(ActivityGetNumDroppedRecords, false),
    FUNCTION(ActivityFlushAll, false),
    FUNCTION(ActivityGetAttribute, false),
    FUNCTION(ActivitySetAttribute, false),
    FUNCTION(ActivityEnableAllSyncRecords, true),
    FUNCTION(GetGraphId, false),
    FUNCTION(GetGraphExecId, true),
#undef FUNCTION
};

bool cupti_library_open(struct cupti *cupti, char *reason, size_t size) {
    char looked_for[256];
    void *library = find(looked_for, sizeof looked_for);
    if (!library) {
        snprintf(reason, size,
                 "no libcupti is loaded, beside the CUDA libraries of this process, in CUDA_HOME, CUDA_PATH or "
                 "/usr/local/cuda*, or on the loader's path: looked for %s",
                 looked_for);
        return false;
    }
    for (size_t i = 0; i < sizeof FUNCTIONS / sizeof *FUNCTIONS; i++) {
        void *function = dlsym(library, FUNCTIONS[i].name);
        if (!function && !FUNCTIONS[i].optional) {
            snprintf(reason, size, "this libcupti has no %s", FUNCTIONS[i].name);
            return false;
        }
        memcpy((char *)cupti + FUNCTIONS[i].offset, &function, sizeof function);
    }
    return true;
}
