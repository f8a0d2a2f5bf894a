/*
 * Prints MATCH-00000, MATCH-00001 ... with a pause before each, and afterwards writes to FILE when (CLOCK_MONOTONIC, in
 * nanoseconds) each write began: ticker COUNT PAUSE_MS FILE
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long long now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec * 1000000000LL + at.tv_nsec;
}

static void rest(long ms) {
  struct timespec span = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&span, NULL);
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  int count = atoi(argv[1]), pause_ms = atoi(argv[2]);
  long long *at = calloc(count, sizeof *at);
  char line[32];
  rest(300);
  for (int i = 0; i < count; i++) {
    /* Not in step with anybody's timers. */
    rest(pause_ms + i * 7 % 20);
    int bytes = snprintf(line, sizeof line, "MATCH-%05d\n", i);
    at[i] = now();
    if (write(1, line, bytes) != bytes) return 1;
  }
  FILE *file = fopen(argv[3], "w");
  if (file == NULL) return 1;
  for (int i = 0; i < count; i++) fprintf(file, "%lld\n", at[i]);
  fclose(file);
  return 0;
}
