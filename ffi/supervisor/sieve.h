/* The sieve: finds needles of four bytes in console output, in letters of either case. Of each byte it
 * compares the lower five bits, and the one that letters have and digits have not, as
 * `local/sources/console/scan.ts` does. The supervisor and the watcher give it the same needles. */
#ifndef SERVICE_SIEVE_H
#define SERVICE_SIEVE_H

#include <stddef.h>
#include <stdint.h>

#define SIEVE_NEEDLE 4
/* The answer where there is no needle. */
#define SIEVE_NONE SIZE_MAX

struct sieve;

/* Allocates a sieve for the needles that follow each other in `needles`; NULL without memory. It is never
 * freed. */
struct sieve *sieve_create(const uint8_t *needles, size_t length);

/* Index of the last byte of the first needle that lies in [from, end), or SIEVE_NONE. */
size_t sieve_find(const struct sieve *s, const uint8_t *bytes, size_t from, size_t end);

#endif
