// Everything from the hub is put in as text, never as HTML.
const by = (id) => document.getElementById(id);

function row(cells) {
  const line = document.createElement("tr");
  for (const [text, className] of cells) {
    const cell = document.createElement("td");
    cell.textContent = text;
    if (className) cell.className = className;
    line.append(cell);
  }
  return line;
}

async function get(path) {
  const response = await fetch(path);
  if (!response.ok) throw new Error(String(response.status));
  return response.json();
}

let after;

async function showSessions() {
  const snapshot = await get("/snapshot");
  after = snapshot.eventCursor;
  const open = snapshot.sessions.filter((it) => it.status !== "closed");
  by("none").hidden = open.length > 0;
  by("sessions").hidden = open.length === 0;
  by("sessions").tBodies[0].replaceChildren(
    ...open.map((it) => row([[it.title], [it.kind], [it.status], [new Date(it.createdAt).toLocaleString()]])),
  );
}

async function showChecks() {
  const { checks } = await get("/doctor");
  const marks = { ready: ["✓ ready", "good"], degraded: ["! limited", "soft"], missing: ["✗ missing", "bad"] };
  by("checks").replaceChildren(...checks.map((it) => row([[it.name], marks[it.state], [[it.detail, it.remedy].filter(Boolean).join(" ")]])));
}

function follow() {
  const source = new EventSource(`/events/stream?types=status&after=${after}`);
  source.onmessage = showSessions;
}

try {
  const me = await get("/whoami");
  by("who").textContent = `Logged in as ${me.id} (${me.role}).`;
  by("home").hidden = false;
  by("connect").textContent = [
    "npx sidestick token create --role agent --name my-agent",
    "",
    JSON.stringify({ mcpServers: { sidestick: { type: "http", url: `${location.origin}/mcp`, headers: { Authorization: "Bearer <token>" } } } }, null, 2),
  ].join("\n");
  await Promise.all([showSessions(), showChecks()]);
  follow();
} catch {
  by("who").textContent = "You aren't logged in.";
  by("guest").hidden = false;
}

by("logout").addEventListener("click", async () => {
  await fetch("/logout", { method: "POST", headers: { "sidestick-csrf": "1" } });
  location.reload();
});
