/* Open file descriptors of this process. */
#ifndef SERVICE_DESCRIPTORS_H
#define SERVICE_DESCRIPTORS_H

/* Lists the open descriptors from `first` (1 or more) on, with -1 after the last. The list is
 * allocated; NULL if /proc is not mounted or memory is short. */
int *descriptors_from(int first);

/* Closes the listed descriptors and frees the list; NULL is an empty one. */
void descriptors_close(int *list);

/* Closes all open descriptors from `first` (1 or more) on. */
void descriptors_close_from(int first);

/* Makes reads and writes of `fd`, and of its duplicates, return at once. */
void descriptor_unblock(int fd);

#endif
