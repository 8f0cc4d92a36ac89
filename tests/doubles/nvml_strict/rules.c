/* What the script says of calls: failures, hangs and latencies. */

#include "double.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RULES = 256, ANY = -2 };

struct rule {
    char subject[64];
    int gpu, instance; /* ANY: all */
    unsigned code;     /* of a failure */
    int times;         /* how often it still fails, -1: always */
};
static struct rule failures[RULES], hang_rules[RULES];
static int failure_count, hang_count;
static struct { char function[64]; int64_t min_ns, max_ns; } latencies[RULES];
static int latency_count;

static bool is_name(const char *name, const char *pattern) {
    return strcmp(pattern, "*") == 0 || strcmp(pattern, name) == 0;
}

static bool read_target(const char *text, struct rule *rule) {
    rule->gpu = rule->instance = ANY;
    if (strcmp(text, "*") == 0) return true;
    rule->instance = -1;
    return sscanf(text, "%d/%d", &rule->gpu, &rule->instance) >= 1;
}

unsigned failure_of(int gpu, int instance, const char *subject) {
    // The last word about a subject is the one that counts.
    for (int index = failure_count; index-- > 0;) {
        struct rule *rule = &failures[index];
        if (rule->times == 0 || !is_name(subject, rule->subject)) continue;
        if (rule->gpu != ANY && (rule->gpu != gpu || rule->instance != instance)) continue;
        if (rule->gpu != ANY || gpu >= 0 || strcmp(rule->subject, "*") != 0) {
            if (rule->times > 0) rule->times--;
            return rule->code;
        }
    }
    return NVML_SUCCESS;
}

bool hangs(int gpu, const char *function, bool *with_lock) {
    for (int index = 0; index < hang_count; index++) {
        struct rule *rule = &hang_rules[index];
        if (!is_name(function, rule->subject) || (rule->gpu != ANY && rule->gpu != gpu)) continue;
        *with_lock = rule->code != 0;
        return true;
    }
    return false;
}

int64_t latency_ns(const char *function) {
    for (int index = latency_count; index-- > 0;) {
        if (!is_name(function, latencies[index].function)) continue;
        int64_t range = latencies[index].max_ns - latencies[index].min_ns;
        return latencies[index].min_ns + (range > 0 ? noise() % range : 0);
    }
    return 0;
}

bool add_rule(const char *line) {
    char target[32], subject[64], locked[16] = "";
    long min_us, max_us;
    struct rule rule = { .times = -1 };
    if (failure_count == RULES || hang_count == RULES || latency_count == RULES) fatal("more than %d rules", RULES);
    if (sscanf(line, "fail %31s %63s %u %d", target, rule.subject, &rule.code, &rule.times) >= 3) {
        if (!read_target(target, &rule)) return false;
        failures[failure_count++] = rule;
        return true;
    }
    if (sscanf(line, "heal %31s %63s", target, subject) == 2) {
        snprintf(rule.subject, sizeof rule.subject, "%s", subject);
        if (!read_target(target, &rule)) return false;
        failures[failure_count++] = rule;
        return true;
    }
    if (sscanf(line, "hang %31s %63s %15s", target, rule.subject, locked) >= 2) {
        if (!read_target(target, &rule)) return false;
        rule.code = strcmp(locked, "locked") == 0;
        hang_rules[hang_count++] = rule;
        return true;
    }
    if (strcmp(line, "release") == 0) {
        hang_count = 0;
        book("released", "all calls");
        return true;
    }
    if (sscanf(line, "delay %63s %ld %ld", subject, &min_us, &max_us) == 3) {
        snprintf(latencies[latency_count].function, sizeof subject, "%s", subject);
        latencies[latency_count].min_ns = min_us * 1000;
        latencies[latency_count++].max_ns = max_us * 1000;
        return true;
    }
    return false;
}
