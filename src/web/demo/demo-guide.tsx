import type { ReactNode } from "react";
import { DEMO_STEPS, type DemoStep } from "./demo-agent.ts";
import type { DemoState } from "./demo.ts";
import { StartDemo } from "./start-demo.tsx";
import { useDemo, useDemoState } from "./use-demo.ts";

const WORDS: Readonly<Record<DemoStep, string>> = {
  asks: "An agent asks for control of this terminal. It can type nothing before you say so: press Grant.",
  works: "The agent drives, as the bar below says. Press any key in the terminal if you want the stick back.",
  password:
    "A program asks for a password. The card is yours to answer; the agent never sees what you type (any word will do).",
  approval:
    "The agent wants to delete something outside of its folder, so policy asks you first. Approve, change or deny it.",
  goes_on: "Now it runs without end. Press STOP NOW and read the receipt.",
  over: "That was the demo. Look back at it by Replay, or connect an agent of your own on the first page.",
};

/** What happens in the demo, and what to try. */
export function DemoGuide({ sessionId }: { readonly sessionId: string }): ReactNode {
  const demo = useDemo();
  const state = useDemoState();
  if (state?.sessionId !== sessionId) return null;
  return (
    <aside className="demo-guide row" aria-label="Demo" role="status">
      <Said step={state.step} />
      <button className="plain push" type="button" onClick={() => demo.close()}>
        {state.step === "over" ? "Done" : "End the demo"}
      </button>
    </aside>
  );
}

function Said({ step }: Pick<DemoState, "step">): ReactNode {
  if (step === "lost") {
    return (
      <>
        <strong>The demo broke off</strong>
        <span>Its agent lived in this page, which was loaded anew.</span>
        <StartDemo does="Begin again" />
      </>
    );
  }
  return (
    <>
      <strong>
        Demo {DEMO_STEPS.indexOf(step) + 1} of {DEMO_STEPS.length}
      </strong>
      <span>{WORDS[step]}</span>
    </>
  );
}
