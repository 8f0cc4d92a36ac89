/* Field values: numbered questions, many of them in one call. */
#ifndef SERVICE_DEVICES_FIELDS_H
#define SERVICE_DEVICES_FIELDS_H

#include "device.h"

/* Asks for the values; each of them has its own answer afterwards. */
void fields_ask(struct device *device, nvmlFieldValue_t *fields, int count);

/* The value as an integer of `bits` bits. */
uint64_t field_value(const nvmlFieldValue_t *field, unsigned *bits);

/* Publishes the answer as the metric's. */
void field_answers(struct device *device, enum metric metric, const nvmlFieldValue_t *field);

#endif
