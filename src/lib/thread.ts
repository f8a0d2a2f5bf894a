/**
 * Threads of ours. The cache of compiled code that `bin/main.mjs` switches on is the main thread's alone: without one
 * of its own a thread would load the compiler that strips types, at each start.
 */
import { getCompileCacheDir } from "node:module";
import { dirname } from "node:path";
import { Worker, type WorkerOptions } from "node:worker_threads";

export function startThread(url: URL, options: Pick<WorkerOptions, "name" | "workerData" | "resourceLimits">): Worker {
  const cache = getCompileCacheDir();
  const env = cache === undefined ? process.env : { ...process.env, NODE_COMPILE_CACHE: dirname(cache) };
  return new Worker(url, { ...options, execArgv: [], env });
}
