/* Which cell a kernel's time goes to, found by the address of its name: a text is hashed and looked up
 * in the segment once, not with every record.
 *
 * The driver may put another name at an address once a module is gone. So what is remembered of an
 * address is compared with the text that is there once in every buffer. */
#ifndef SERVICE_SYMBOLS_H
#define SERVICE_SYMBOLS_H

#include <stdint.h>

/* What is remembered needs a look again. */
void symbols_doubt(void);

/* The cell of a frame of this name; `name` may be NULL. */
uint32_t symbols_cell(const char *name, uint32_t series);

#endif
