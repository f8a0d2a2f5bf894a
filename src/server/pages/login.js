// The code stands in the fragment: it never reaches a server log or a Referer. It leaves the address bar before it is used.
const code = new URLSearchParams(location.hash.slice(1)).get("code");
history.replaceState(null, "", "/login");

// Browsers share cookies among the ports of a machine, but not what a page stores: a cookie counts only with this beside it.
const KEY = "sidestick-page-key";

const state = document.getElementById("state");
const other = document.getElementById("other");

function fail(text) {
  state.textContent = text;
  state.className = "bad";
  document.getElementById("help").hidden = false;
}

/** Somebody else is logged in here: only they may give the browser away. */
function ask({ detail, name }) {
  state.textContent = detail;
  other.hidden = false;
  const button = document.getElementById("instead");
  button.textContent = `Log in as ${name} instead`;
  button.addEventListener("click", () => void logIn(true), { once: true });
}

async function logIn(instead) {
  other.hidden = true;
  try {
    const response = await fetch("/login", {
      method: "POST",
      headers: { "content-type": "application/json", "sidestick-csrf": localStorage.getItem(KEY) ?? "1" },
      body: JSON.stringify({ code, instead }),
    });
    const answer = await response.json();
    if (response.ok) {
      localStorage.setItem(KEY, answer.key);
      location.replace("/");
    } else if (response.status === 409) ask(answer);
    else fail(answer.detail);
  } catch {
    fail("The hub doesn't answer. Is it still running?");
  }
}

if (code === null) fail("This page needs a login link.");
else await logIn(false);
