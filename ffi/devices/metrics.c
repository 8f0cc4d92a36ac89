/* The table of the metrics. */
#include "metrics.h"

#define ROW(metric, name, type, divisor) {name, type, divisor},

const struct metric_description metrics[METRICS_COUNT] = {METRICS(ROW)};
