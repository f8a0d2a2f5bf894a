import type { ReactNode } from "react";

/** Nobody is logged in, or not any more. */
export function Guest({ wasIn }: { readonly wasIn: boolean }): ReactNode {
  return (
    <main className="page">
      <h1>Sidestick</h1>
      <p role="status">{wasIn ? "You are logged out: the hub knows this login no longer." : "You aren't logged in."}</p>
      <p>
        Open the link that <code>npm start</code> printed, or make a new one on the machine where the hub runs:
      </p>
      <pre>npx sidestick login-link</pre>
    </main>
  );
}
