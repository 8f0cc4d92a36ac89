/* Fake of libcupti.so without a device: as strict and as inconvenient as the documentation allows. */
#include <dlfcn.h>

#include "fake_cupti.h"

enum { DOMAINS = 8, CALLBACKS = 1024 };
enum { DOMAIN_DRIVER = 1, DOMAIN_RESOURCE = 3, CONTEXT_CREATED = 1, MODULE_LOADED = 6, STREAM_DESTROY_STARTING = 4 };
enum { LAUNCH_KERNEL = 307 };

typedef void (*callback)(void *user, int domain, uint32_t cbid, const void *data);

/* CUpti_CallbackData, CUpti_ResourceData, and the parameters of Subscribe_v2. */
struct callback_data {
    uint32_t site;
    const char *function_name;
    const void *function_params;
    void *function_return_value;
    const char *symbol_name;
    void *context;
    uint32_t context_uid;
    uint64_t *correlation_data;
    uint32_t correlation_id;
};
_Static_assert(sizeof(struct callback_data) == 72, "as the real one");

struct resource_data {
    void *context, *handle;
    const void *descriptor;
};

struct subscriber_params {
    size_t size;
    const char *name;
    char *old_name;
    size_t old_name_size;
};

const struct fake_driver *driver;

static pid_t owner;
static _Atomic bool in_use;         /* an operation ran on a device */
static _Atomic bool polls_recorded = FAKE_CUPTI >= 1208;
static _Atomic bool enabled_kinds[KINDS];
static _Atomic bool enabled_callbacks[DOMAINS][CALLBACKS];
static _Atomic(callback) subscriber;
static void *subscriber_user;
static char subscriber_name[64];
static _Atomic bool enables;           /* a thread enables a callback */
static _Atomic uint64_t launch_callbacks;
static __thread uint64_t correlation;
static __thread bool in_api_callback;

/* ---- callbacks ---- */

void callback_entered(void) { ++*driver->callback_depth(); }
void callback_left(void) { --*driver->callback_depth(); }

static void call(int domain, uint32_t cbid, const void *data) {
    callback function = subscriber;
    if (function == NULL || !enabled_callbacks[domain][cbid]) return;
    callback_entered();
    function(subscriber_user, domain, cbid, data);
    callback_left();
}

static void api(uint32_t cbid, bool enter, const struct fake_call *made) {
    int result = made->result;
    struct callback_data data = {
        .site = enter ? 0 : 1,
        .function_name = made->function,
        .function_params = made->params,
        .function_return_value = enter ? NULL : &result,
        .symbol_name = made->symbol,
        .correlation_data = &correlation,
    };
    if (cbid == LAUNCH_KERNEL && enabled_callbacks[DOMAIN_DRIVER][cbid]) launch_callbacks++;
    in_api_callback = true;
    call(DOMAIN_DRIVER, cbid, &data);
    in_api_callback = false;
}

static uint64_t count_launch_callbacks(void) { return launch_callbacks; }

static void context(void *created) {
    call(DOMAIN_RESOURCE, CONTEXT_CREATED, &(struct resource_data){created, NULL, NULL});
}

static void module(void) { call(DOMAIN_RESOURCE, MODULE_LOADED, &(struct resource_data){NULL, NULL, NULL}); }

static void stream(void *destroyed) {
    call(DOMAIN_RESOURCE, STREAM_DESTROY_STARTING, &(struct resource_data){NULL, destroyed, NULL});
}

static void graph(uint32_t cbid, const struct fake_graph_data *given) {
    struct fake_graph_data data = *given;
    call(DOMAIN_RESOURCE, cbid, &(struct resource_data){NULL, NULL, &data});
    memset(&data, 0xA5, sizeof data); /* valid during the callback only */
}

bool cupti_kind_enabled(uint32_t kind) { return enabled_kinds[kind]; }

static void operation(const struct fake_operation *done) {
    in_use = true;
    if (done->polls && !polls_recorded) return;
    /* Copies of memory do not enable those between devices: not every version does that. */
    if (enabled_kinds[done->kind]) buffers_record(done);
}

static const struct fake_cupti cupti = {
    api, context, module, stream, graph, operation, cupti_kind_enabled, buffers_settle, buffers_gate, buffers_drop,
    count_launch_callbacks,
};

/* ---- permission to call ---- */

int cupti_refuses(const char *function) {
    if (driver == NULL) {
        void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
        if (library == NULL) return CUPTI_ERROR_UNKNOWN;
        driver = dlsym(library, "fake_driver");
        driver->attach(&cupti);
        owner = getpid();
        buffers_start();
    }
    if (getpid() != owner) {
        fake_violation("%s is called in the child of a fork", function);
        return CUPTI_ERROR_UNKNOWN;
    }
    return driver->alive() ? CUPTI_SUCCESS : CUPTI_ERROR_NOT_INITIALIZED;
}

/* Disabling a kind loses records and the tracing of graphs. Only a tool that takes turns with another one
 * has to do it. */
static void toggled(int kind) {
    if (in_use && !buffers_disputed()) fake_violation("kind %d is toggled while the device is in use", kind);
}

static int outside_callbacks(const char *function) {
    int refused = cupti_refuses(function);
    if (refused == 0 && *driver->callback_depth() > 0) {
        fake_violation("%s is called inside a callback", function);
    }
    return refused;
}

static int setting(const char *name, int otherwise) {
    const char *value = getenv(name);
    return value == NULL ? otherwise : atoi(value);
}

/* ---- subscribers ---- */

EXPORT int cuptiGetVersion(uint32_t *version) {
    *version = FAKE_CUPTI_VERSION;
    return CUPTI_SUCCESS;
}

static int subscribe(void **handle, callback function, void *user, const char *name) {
    int refused = outside_callbacks("cuptiSubscribe");
    if (refused == 0) refused = setting("FAKE_SUBSCRIBE", 0);
    if (refused) return refused;
    if (subscriber != NULL) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS;
    snprintf(subscriber_name, sizeof subscriber_name, "%s", name);
    subscriber_user = user;
    subscriber = function;
    *handle = &subscriber;
    return CUPTI_SUCCESS;
}

EXPORT int cuptiSubscribe(void **handle, callback function, void *user) {
    return subscribe(handle, function, user, "");
}

#if FAKE_CUPTI >= 1300
EXPORT int cuptiSubscribe_v2(void **handle, callback function, void *user,
                             struct subscriber_params *params) {
    if (params == NULL || params->size < 32) return CUPTI_ERROR_INVALID_PARAMETER;
    int result = subscribe(handle, function, user, params->name == NULL ? "" : params->name);
    if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS && params->old_name != NULL) {
        if (params->old_name_size < 64) return CUPTI_ERROR_INVALID_PARAMETER;
        const char *other = subscriber == NULL ? "Nsight Systems" : subscriber_name;
        snprintf(params->old_name, params->old_name_size, "%s", other);
    }
    return result;
}
#endif

static void forget_subscriber(void) {
    subscriber = NULL;
    for (int domain = 0; domain < DOMAINS; domain++) {
        for (int cbid = 0; cbid < CALLBACKS; cbid++) enabled_callbacks[domain][cbid] = false;
    }
}

EXPORT int cuptiUnsubscribe(void *handle) {
    int refused = cupti_refuses("cuptiUnsubscribe");
    if (refused) return refused;
    if (handle != (void *)&subscriber || subscriber == NULL) return CUPTI_ERROR_INVALID_PARAMETER;
    forget_subscriber();
    return CUPTI_SUCCESS;
}

EXPORT int cuptiEnableCallback(uint32_t enable, void *handle, int domain, uint32_t cbid) {
    int refused = cupti_refuses("cuptiEnableCallback");
    if (refused) return refused;
    if (handle != (void *)&subscriber || subscriber == NULL || domain < 1 || domain >= DOMAINS ||
        cbid >= CALLBACKS) {
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
    if (*driver->callback_depth() > 0 && !in_api_callback) {
        fake_violation("cuptiEnableCallback is called inside a callback that is not of a function");
    }
    if (enables) fake_violation("two threads enable callbacks at once");
    enables = true;
    enabled_callbacks[domain][cbid] = enable != 0;
    enables = false;
    return CUPTI_SUCCESS;
}

EXPORT int cuptiEnableDomain(uint32_t enable, void *handle, int domain) {
    for (uint32_t cbid = 1; cbid < CALLBACKS; cbid++) {
        int result = cuptiEnableCallback(enable, handle, domain, cbid);
        if (result) return result;
    }
    return CUPTI_SUCCESS;
}

/* ---- activities ---- */

EXPORT int cuptiActivityRegisterCallbacks(buffer_requested requested, buffer_completed completed) {
    int refused = cupti_refuses("cuptiActivityRegisterCallbacks");
    return refused ? refused : buffers_register(requested, completed);
}

EXPORT int cuptiActivityEnable(int kind) {
    int refused = outside_callbacks("cuptiActivityEnable");
    if (refused == 0) refused = setting("FAKE_ENABLE", 0);
    if (refused) return refused;
    if (kind <= 0 || kind >= KINDS) return CUPTI_ERROR_INVALID_PARAMETER;
    toggled(kind);
    enabled_kinds[kind] = true;
    return CUPTI_SUCCESS;
}

EXPORT int cuptiActivityDisable(int kind) {
    int refused = outside_callbacks("cuptiActivityDisable");
    if (refused) return refused;
    if (kind <= 0 || kind >= KINDS) return CUPTI_ERROR_INVALID_PARAMETER;
    toggled(kind);
    enabled_kinds[kind] = false;
    return CUPTI_SUCCESS;
}

EXPORT int cuptiActivityFlushAll(uint32_t flag) {
    int refused = outside_callbacks("cuptiActivityFlushAll");
    return refused ? refused : buffers_flush((flag & 1) != 0);
}

EXPORT int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, void **record) {
    int refused = cupti_refuses("cuptiActivityGetNextRecord");
    /* Records can be read without a driver. */
    if (refused == CUPTI_ERROR_UNKNOWN) return refused;
    return buffers_next_record(buffer, valid, record);
}

EXPORT int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped) {
    (void)context, (void)stream;
    int refused = cupti_refuses("cuptiActivityGetNumDroppedRecords");
    if (refused == 0) *dropped = buffers_dropped();
    return refused;
}

static _Atomic size_t *attribute(int which) {
    if (which == ATTRIBUTE_ZEROED) return &attribute_zeroed;
    if (which == ATTRIBUTE_PER_THREAD && FAKE_CUPTI >= 1203) return &attribute_per_thread;
    return NULL;
}

/* Both attributes have values of one byte. */
EXPORT int cuptiActivitySetAttribute(int which, size_t *size, void *value) {
    int refused = outside_callbacks("cuptiActivitySetAttribute");
    if (refused) return refused;
    _Atomic size_t *known = attribute(which);
    if (known == NULL || *size != 1) return CUPTI_ERROR_INVALID_PARAMETER;
    *known = *(uint8_t *)value;
    return CUPTI_SUCCESS;
}

static _Atomic uint64_t attribute_reads;

/* Function of the fake alone: how often a tool has read an attribute. */
EXPORT uint64_t cuptiFakeAttributeReads(void) { return attribute_reads; }

EXPORT int cuptiActivityGetAttribute(int which, size_t *size, void *value) {
    int refused = cupti_refuses("cuptiActivityGetAttribute");
    attribute_reads++;
    if (refused) return refused;
    _Atomic size_t *known = attribute(which);
    if (known == NULL || *size < 1) return CUPTI_ERROR_INVALID_PARAMETER;
    *(uint8_t *)value = (uint8_t)*known;
    *size = 1;
    return CUPTI_SUCCESS;
}

#if FAKE_CUPTI >= 1208
EXPORT int cuptiActivityEnableAllSyncRecords(uint8_t enable) {
    int refused = outside_callbacks("cuptiActivityEnableAllSyncRecords");
    if (refused == 0) polls_recorded = enable != 0;
    return refused;
}
#endif

/* ---- graphs ---- */

EXPORT int cuptiGetGraphId(const void *graph, uint32_t *id) {
    int refused = cupti_refuses("cuptiGetGraphId");
    if (refused) return refused;
    if (graph == NULL) return CUPTI_ERROR_INVALID_PARAMETER;
    return driver->graph_id(graph, id) ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

#if FAKE_CUPTI >= 1203
EXPORT int cuptiGetGraphExecId(const void *exec, uint32_t *id) {
    int refused = cupti_refuses("cuptiGetGraphExecId");
    if (refused) return refused;
    if (exec == NULL) return CUPTI_ERROR_INVALID_PARAMETER;
    return driver->exec_id(exec, id) ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}
#endif

/* ---- finalization, which another tool may call ---- */

EXPORT int cuptiFinalize(void) {
    int refused = outside_callbacks("cuptiFinalize");
    if (refused) return refused;
    for (int kind = 0; kind < KINDS; kind++) enabled_kinds[kind] = false;
    forget_subscriber();
    buffers_end();
    return CUPTI_SUCCESS;
}
