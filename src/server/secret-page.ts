/** What a person sees before they hand over a secret: who really asks, in whose words, and where. Everything is put in as text. */
import type { SecretAsked } from "../hub/secret-links.ts";
import { shownText } from "../domain/shown-text.ts";
import { escapeHtml } from "./html.ts";

export function secretForm({ asked, title, by }: SecretAsked, problem?: string): string {
  const { program, question, warning } = asked;
  const who = program === "" ? "A program" : program;
  const facts = [
    ["Program", program === "" ? "nobody could look who waits" : program],
    ["Session", title],
    ["You are", by.id],
  ];
  return page(
    "Supply a secret",
    `<h1>${asText(who)} asks for a secret</h1>
<p class="lead">It is typed into the terminal, once. It is neither shown nor stored.</p>
<pre class="asked">${asText(question === "" ? "(it says nothing)" : question)}</pre>
${warning === undefined ? "" : `<p class="warning" role="alert"><strong>Careful.</strong> ${asText(warning)}</p>`}
<table class="facts"><tbody>${facts.map(([name = "", value = ""]) => `<tr><th scope="row">${name}</th><td>${asText(value)}</td></tr>`).join("")}</tbody></table>
<form method="post" autocomplete="off">
<label for="secret">Secret</label>
<input id="secret" name="secret" type="password" required autofocus autocomplete="off" autocapitalize="none" spellcheck="false"${problem === undefined ? "" : ' aria-invalid="true" aria-describedby="problem"'}>
${problem === undefined ? "" : `<p class="bad" id="problem" role="alert">${escapeHtml(problem)}</p>`}
<button type="submit" class="main">Type it in</button>
</form>
<p class="soft small">You didn't start this, or don't know the program? Close this page: nothing is typed. The link works once, until ${until(asked.expiresAt)}.</p>`,
  );
}

export function outcomePage(tone: "good" | "soft" | "bad", said: string, more = ""): string {
  return page(
    "Secret",
    `<h1 class="${tone}" role="status">${escapeHtml(said)}</h1>
${more === "" ? "" : `<p class="lead">${escapeHtml(more)}</p>`}`,
  );
}

/** With signs for what would hide or turn something. */
function asText(text: string): string {
  return escapeHtml(shownText(text));
}

/** The hub doesn't know where the reader's clock stands. */
function until(instant: string): string {
  return `<time datetime="${escapeHtml(instant)}">${escapeHtml(instant.slice(11, 16))} UTC</time>`;
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Sidestick</title><link rel="icon" href="data:,"><link rel="stylesheet" href="/assets/style.css" referrerpolicy="no-referrer">
</head>
<body><main class="narrow">
<p class="brand">Sidestick</p>
${body}
</main></body>
</html>
`;
}
