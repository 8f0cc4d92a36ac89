/* Reasons in plain words: why CUPTI refused a call, and what to do about it. */
#ifndef SERVICE_REASONS_H
#define SERVICE_REASONS_H

#include <stddef.h>

#include "cupti.h"

/* Writes the reason why `call` returned `result`. */
void reasons_explain(char *reason, size_t size, const char *call, CUptiResult result);

#endif
