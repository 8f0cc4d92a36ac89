/* What libservice.so shows to who opens it: everything else in it stays hidden. */
#pragma once

#define SERVICE_EXPORT __attribute__((visibility("default")))
