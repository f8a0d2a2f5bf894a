/** The operation table as a page for people. */
import type { Operation } from "../protocol/operation.ts";
import { ERRORS } from "../protocol/errors.ts";
import { operation, operationNames, toolName } from "../protocol/operations.ts";
import { escapeHtml } from "./html.ts";
import { jsonSchema } from "./openapi.ts";

export function docsPage(version: string): string {
  const groups = Map.groupBy(operationNames, (name) => name.split(".")[0] ?? "");
  const sections = [...groups].map(
    ([group, names]) =>
      `<h2>${escapeHtml(group)}</h2>${names.map((name) => entry(operation(name), toolName(name))).join("")}`,
  );
  const errors = Object.entries(ERRORS).map(
    ([code, row]) => `<tr><td><code>${code}</code></td><td>${row.http}</td><td>${escapeHtml(row.message)}</td></tr>`,
  );
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>API · Sidestick</title><link rel="icon" href="data:,"><link rel="stylesheet" href="/assets/style.css"></head><body><main>
<h1>Sidestick ${escapeHtml(version)}: operations</h1>
<p class="lead">The same operations over HTTP, MCP, the SDK and the CLI. Machine-readable: <a href="/openapi.json">openapi.json</a>. Live: <code>GET /events/stream</code> (server-sent events) and the WebSocket <code>/stream</code>.</p>
${sections.join("\n")}
<h2>Errors</h2><p>Failures are problem details (<code>application/problem+json</code>) with one of these codes.</p>
<table><thead><tr><th>code</th><th>status</th><th>meaning</th></tr></thead><tbody>${errors.join("")}</tbody></table>
</main></body></html>`;
}

function entry(op: Operation, tool: string): string {
  const facts = [
    ["Who", op.roles.join(", ")],
    ["MCP tool", op.tool ? tool : "—"],
    ["Own errors", op.errors.join(", ") || "—"],
  ];
  return `<details><summary><span class="verb">${op.method}</span><code>${escapeHtml(op.path)}</code> — ${prose(op.summary)}</summary>
<table><tbody>${facts.map(([name, value]) => `<tr><th scope="row">${name}</th><td>${escapeHtml(value ?? "")}</td></tr>`).join("")}</tbody></table>
<p class="soft">Input</p><pre>${escapeHtml(JSON.stringify(jsonSchema(op.input, "input"), null, 2))}</pre>
<p class="soft">Output</p><pre>${escapeHtml(JSON.stringify(jsonSchema(op.output, "output"), null, 2))}</pre></details>`;
}

function prose(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, "<code>$1</code>");
}
