/** A hub that says one thing, for what the command line makes of it. */
import { createServer, type RequestListener } from "node:http";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { AppError, type ErrorCode, problemOf } from "../../src/protocol/errors.ts";
import { temporaryDirectory } from "./temporary.ts";

/** A data directory at whose socket `listener` answers. */
export async function serveAtSocket(listener: RequestListener): Promise<string> {
  const dataDir = await temporaryDirectory();
  const server = createServer(listener);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(join(dataDir, "hub.sock"), resolve));
  return dataDir;
}

export const answering =
  (value: unknown): RequestListener =>
  (_request, response) => {
    response.setHeader("content-type", "application/json").end(JSON.stringify(value));
  };

export const refusing =
  (code: ErrorCode, details: AppError["details"] = {}): RequestListener =>
  (_request, response) => {
    const problem = problemOf(new AppError(code, details));
    response.writeHead(problem.status, { "content-type": "application/problem+json" }).end(JSON.stringify(problem));
  };
