// The code stands in the fragment: it never reaches a server log or a Referer. It leaves the address bar before it is used.
const code = new URLSearchParams(location.hash.slice(1)).get("code");
history.replaceState(null, "", "/login");

const state = document.getElementById("state");

function fail(text) {
  state.textContent = text;
  state.className = "bad";
  document.getElementById("help").hidden = false;
}

if (code === null) {
  fail("This page needs a login link.");
} else {
  try {
    const response = await fetch("/login", {
      method: "POST",
      headers: { "content-type": "application/json", "sidestick-csrf": "1" },
      body: JSON.stringify({ code }),
    });
    if (response.ok) location.replace("/");
    else fail((await response.json()).detail);
  } catch {
    fail("The hub doesn't answer. Is it still running?");
  }
}
