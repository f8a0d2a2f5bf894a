/*
 * The least a consumer can do: start a program on a PTY (or on pipes), wait for its prompt, give it a line, count what
 * comes and print how many nanoseconds it took until `expected` bytes were there.
 *
 *   read-loop pty|pipe|control EXPECTED READY LINE -- PROGRAM ARGUMENTS...
 *
 * `control` counts what tmux -C tells in `%output` lines, with its octal escapes undone.
 */
#define _GNU_SOURCE
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char buffer[1 << 16];
static char seen[1 << 16];
static size_t seen_bytes;

static long long now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec * 1000000000LL + at.tv_nsec;
}

static pid_t start(char **argv, int on_pty, int *in, int *out) {
  pid_t pid;
  if (on_pty) {
    struct winsize size = {.ws_row = 40, .ws_col = 120};
    pid = forkpty(out, NULL, NULL, &size);
    *in = *out;
  } else {
    int to[2], from[2];
    if (pipe2(to, 0) || pipe2(from, 0)) exit(1);
    pid = fork();
    if (pid == 0) {
      setsid();
      dup2(to[0], 0);
      dup2(from[1], 1);
      close(to[0]), close(to[1]), close(from[0]), close(from[1]);
    } else {
      close(to[0]), close(from[1]);
      *in = to[1], *out = from[0];
    }
  }
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execvp(argv[0], argv);
    _exit(127);
  }
  return pid;
}

/* Bytes of pane output in a piece of tmux's control stream: an escape is four bytes for one. */
static size_t decoded(const char *bytes, size_t count) {
  static int column, is_output, spaces;
  static const char prefix[] = "%output ";
  size_t total = 0;
  for (size_t i = 0; i < count; i++) {
    char byte = bytes[i];
    if (byte == '\n') {
      column = 0, is_output = 1, spaces = 0;
      continue;
    }
    if (column < 8) is_output = (column == 0 || is_output) && byte == prefix[column];
    else if (is_output && spaces == 0) spaces = byte == ' ';
    else if (is_output) total++, total -= byte == '\\' ? 3 : 0;
    column++;
  }
  return total;
}

int main(int argc, char **argv) {
  if (argc < 7) return 2;
  int control = strcmp(argv[1], "control") == 0, in, out;
  size_t expected = strtoull(argv[2], NULL, 10), got = 0;
  pid_t pid = start(argv + 6, strcmp(argv[1], "pty") == 0, &in, &out);
  while (memmem(seen, seen_bytes, argv[3], strlen(argv[3])) == NULL) {
    ssize_t count = read(out, seen + seen_bytes, sizeof seen - seen_bytes);
    if (count <= 0) return 1;
    if (control) decoded(seen + seen_bytes, count);
    seen_bytes += count;
  }
  long long from = now();
  dprintf(in, "%s\n", argv[4]);
  /* Signed on the way: the pieces of an escape may come one after the other. */
  while ((long long)got < (long long)expected) {
    ssize_t count = read(out, buffer, sizeof buffer);
    if (count <= 0) return 1;
    got += control ? decoded(buffer, count) : (size_t)count;
  }
  printf("%lld\n", now() - from);
  fflush(stdout);
  /* dtach's shell would live on without its client. */
  alarm(5);
  if (!control) {
    dprintf(in, "exit\n");
    while (read(out, buffer, sizeof buffer) > 0) continue;
  }
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
  return 0;
}
