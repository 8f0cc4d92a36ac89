/* Another tool, named by CUDA_INJECTION64_PATH: writes to a file that it was called. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((visibility("default"))) int InitializeInjection(void) {
    const char *path = getenv("FAKE_TOOL_CALLED");
    FILE *file = path == NULL ? NULL : fopen(path, "a");
    if (file == NULL) return 0;
    fprintf(file, "called\n");
    fclose(file);
    return 1;
}
