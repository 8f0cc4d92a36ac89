/* Marks the functions that a library exports; all others are hidden. */
#pragma once

#define SERVICE_EXPORT __attribute__((visibility("default")))
