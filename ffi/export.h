/* Marks the functions that libservice.so exports; all others are hidden. */
#pragma once

#define SERVICE_EXPORT __attribute__((visibility("default")))
