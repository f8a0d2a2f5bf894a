/* Runs a program several times, one after the other, and prints the nanoseconds of each: time-runs COUNT PROGRAM ... */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static long long now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec * 1000000000LL + at.tv_nsec;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  for (int left = atoi(argv[1]); left > 0; left--) {
    pid_t pid;
    int status;
    long long from = now();
    if (posix_spawnp(&pid, argv[2], NULL, NULL, argv + 2, environ)) return 1;
    if (waitpid(pid, &status, 0) < 0 || status != 0) return 1;
    printf("%lld\n", now() - from);
  }
  return 0;
}
