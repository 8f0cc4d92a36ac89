/* Strict CUPTI: subscribers, and callbacks of calls and resources.
 *
 * A function of the driver calls back only for what a subscriber enabled. The versions with more
 * than one subscriber let the first one say whether others are allowed. */
#include "cupti.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DOMAIN_DRIVER = 1, DOMAIN_RUNTIME = 2, DOMAIN_RESOURCE = 3, DOMAINS = 7, MAX_SUBSCRIBERS = 4 };

struct subscriber {
    callback_function *callback;
    void *user;
    char name[64];
    bool allows_others;
    _Atomic uint8_t calls[CBIDS], resources[RESOURCES];
};

/* `CUpti_CallbackData` and `CUpti_ResourceData`. */
struct callback_data {
    uint32_t site;
    const char *function;
    const void *parameters;
    void *result;
    const char *symbol;
    void *context;
    uint32_t context_id;
    uint64_t *correlation_data;
    uint32_t correlation;
};

struct resource_data {
    void *context, *handle, *descriptor;
};

struct subscribe_parameters {
    size_t size;
    const char *name;
    char *old_name;
    size_t old_size;
    uint8_t allow_others;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct subscriber *) subscribers[MAX_SUBSCRIBERS];

void cupti_tell_call(struct strict_call *call, int site)
{
    uint64_t data = call->correlation_data;
    struct callback_data told = {
        (uint32_t)site, call->function, call->parameters, site ? &call->result : NULL, call->symbol,
        call->context, call->context ? call->context->id : 0, &data, call->correlation,
    };
    enum strict_inside before = cupti_set_inside(site ? INSIDE_API_EXIT : INSIDE_API_ENTER);
    for (int i = 0; i < MAX_SUBSCRIBERS; i++) {
        struct subscriber *s = subscribers[i];
        if (s && s->calls[call->cbid])
            s->callback(s->user, DOMAIN_DRIVER, call->cbid, &told);
    }
    cupti_set_inside(before);
    call->correlation_data = data;
}

void cupti_tell_resource(uint32_t cbid, struct strict_context *context, void *handle,
                         void *descriptor)
{
    struct resource_data told = {context, handle, descriptor};
    enum strict_inside before = cupti_set_inside(INSIDE_RESOURCE);
    for (int i = 0; i < MAX_SUBSCRIBERS; i++) {
        struct subscriber *s = subscribers[i];
        if (s && s->resources[cbid])
            s->callback(s->user, DOMAIN_RESOURCE, cbid, &told);
    }
    cupti_set_inside(before);
}

int cupti_subscribers(void)
{
    int count = 0;
    for (int i = 0; i < MAX_SUBSCRIBERS; i++)
        count += subscribers[i] != NULL;
    return count;
}

static CUptiResult refuse(struct subscribe_parameters *p, const char *other)
{
    if (p && p->old_name && p->old_size)
        snprintf(p->old_name, p->old_size, "%s", other);
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
}

static CUptiResult subscribe(void **handle, callback_function *callback, void *user,
                             struct subscribe_parameters *p)
{
    if (!handle)
        return CUPTI_ERROR_INVALID_PARAMETER;
    const char *rival = getenv("STRICT_RIVAL");
    if (rival && *rival)
        return refuse(p, rival);
    bool allows = STRICT_CUPTI >= 1302 && p && p->size > offsetof(struct subscribe_parameters,
                                                                  allow_others) && p->allow_others;
    pthread_mutex_lock(&lock);
    CUptiResult result = CUPTI_SUCCESS;
    int free_place = -1;
    for (int i = MAX_SUBSCRIBERS - 1; i >= 0; i--) {
        struct subscriber *s = subscribers[i];
        if (!s)
            free_place = i;
        else if (!allows || !s->allows_others)
            result = refuse(p, s->name);
    }
    if (result == CUPTI_SUCCESS && free_place < 0)
        result = CUPTI_ERROR_MAX_LIMIT_REACHED;
    if (result == CUPTI_SUCCESS) {
        struct subscriber *made = calloc(1, sizeof *made);
        made->callback = callback;
        made->user = user;
        made->allows_others = allows;
        snprintf(made->name, sizeof made->name, "CUPTI for %s", p && p->name ? p->name : "");
        subscribers[free_place] = made;
        *handle = made;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

STRICT_API CUptiResult cuptiSubscribe(void **handle, callback_function *callback, void *user)
{
    CUptiResult error = cupti_enter("cuptiSubscribe", -1);
    return error ? error : subscribe(handle, callback, user, NULL);
}

#if STRICT_CUPTI >= 1300
STRICT_API CUptiResult cuptiSubscribe_v2(void **handle, callback_function *callback, void *user,
                                         struct subscribe_parameters *p)
{
    CUptiResult error = cupti_enter("cuptiSubscribe_v2", -1);
    if (error)
        return error;
    if (p && p->size < 32)
        return CUPTI_ERROR_INVALID_PARAMETER;
    return subscribe(handle, callback, user, p);
}
#endif

static _Atomic(struct subscriber *) *find(void *handle)
{
    for (int i = 0; handle && i < MAX_SUBSCRIBERS; i++) {
        if (subscribers[i] == handle)
            return &subscribers[i];
    }
    return NULL;
}

/* What any subscriber enabled. */
static void unite(void)
{
    for (uint32_t cbid = 0; cbid < CBIDS; cbid++) {
        uint8_t calls = 0, resources = 0;
        for (int i = 0; i < MAX_SUBSCRIBERS; i++) {
            struct subscriber *s = subscribers[i];
            calls |= s && s->calls[cbid];
            resources |= s && cbid < RESOURCES && s->resources[cbid];
        }
        cupti_calls[cbid] = calls;
        if (cbid < RESOURCES)
            cupti_resources[cbid] = resources;
    }
}

/* A subscriber that is gone stays in memory: one of its callbacks may be under way. */
STRICT_API CUptiResult cuptiUnsubscribe(void *handle)
{
    CUptiResult error = cupti_enter("cuptiUnsubscribe", -1);
    if (error)
        return error;
    pthread_mutex_lock(&lock);
    _Atomic(struct subscriber *) *at = find(handle);
    if (at)
        *at = NULL;
    unite();
    pthread_mutex_unlock(&lock);
    return at ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

static CUptiResult enable(uint32_t on, void *handle, int domain, uint32_t from, uint32_t to)
{
    pthread_mutex_lock(&lock);
    _Atomic(struct subscriber *) *at = find(handle);
    bool valid = at && domain > 0 && domain < DOMAINS;
    struct subscriber *s = valid ? *at : NULL;
    bool resources = domain == DOMAIN_RESOURCE;
    uint32_t end = resources ? RESOURCES : CBIDS;
    for (uint32_t cbid = from; s && cbid < to && cbid < end; cbid++) {
        if (resources)
            s->resources[cbid] = on != 0;
        else if (domain == DOMAIN_DRIVER)
            s->calls[cbid] = on != 0;
    }
    unite();
    pthread_mutex_unlock(&lock);
    return valid ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

STRICT_API CUptiResult cuptiEnableCallback(uint32_t on, void *handle, int domain, uint32_t cbid)
{
    CUptiResult error = cupti_enter("cuptiEnableCallback", (int)cbid);
    if (error)
        return error;
    if (domain == DOMAIN_RESOURCE && cbid >= (STRICT_CUPTI < 1300 ? 22 : 24))
        return CUPTI_ERROR_INVALID_PARAMETER;
    return enable(on, handle, domain, cbid, cbid + 1);
}

STRICT_API CUptiResult cuptiEnableDomain(uint32_t on, void *handle, int domain)
{
    CUptiResult error = cupti_enter("cuptiEnableDomain", domain);
    return error ? error : enable(on, handle, domain, 0, CBIDS);
}
