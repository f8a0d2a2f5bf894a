/** The probe's thread: one look after the other. */
import { parentPort } from "node:worker_threads";
import { lookAt, type ProbeTarget } from "./look.ts";

parentPort!.on("message", ({ id, target }: { readonly id: number; readonly target: ProbeTarget }) => {
  parentPort!.postMessage({ id, look: lookAt(target) }, []);
});
parentPort!.postMessage({ id: 0 }, []);
