/** A question of a program: its words, who really asks, and the answers that it takes. Rules WEB-45..WEB-49. */
import { WANTED } from "../../domain/prompts/wanted.ts";
import { memo, type ReactNode } from "react";
import { shownText } from "../../domain/shown-text.ts";
import type { AskedPrompt } from "../../protocol/prompts.ts";
import { linkTo } from "../model/route.ts";
import { useMayAct } from "../model/use-hub.ts";
import { PromptAnswer } from "./prompt-answer.tsx";
import { answerText, askerOf, CONFIDENCES, evidenceOf, OUTCOMES, wayOf } from "./prompt-words.ts";

export const PromptCard = memo(function PromptCard({
  prompt,
  waits,
}: {
  readonly prompt: AskedPrompt;
  readonly waits: boolean;
}): ReactNode {
  const mayAct = useMayAct();
  const { question, confidence, warning, escalate, session_id } = prompt;
  const isUnsure = escalate || wayOf(prompt) === "terminal";
  return (
    <>
      <h2>
        {shownText(askerOf(prompt))} asks for {WANTED[prompt.class]}
      </h2>
      <pre className="question">{question === "" ? "(it says nothing)" : shownText(question)}</pre>
      <p className="soft">
        {shownText(evidenceOf(prompt))}
        {confidence !== "HIGH" && ` · as far as can be told (${CONFIDENCES[confidence]} confidence)`}
      </p>
      {warning !== undefined && (
        <p className="bad" role="alert">
          <strong>Careful.</strong> {shownText(warning)}
        </p>
      )}
      {isUnsure && waits && (
        <p className="warn">
          It can&apos;t be told for sure what is asked: <a href={linkTo("session", session_id)}>look at the terminal</a>
          {wayOf(prompt) === "terminal" ? " and answer there." : " before you answer."}
        </p>
      )}
      {waits && mayAct && <PromptAnswer prompt={prompt} />}
      {!waits && <Feedback prompt={prompt} />}
    </>
  );
});

function Feedback({ prompt }: { readonly prompt: AskedPrompt }): ReactNode {
  const { status, feedback, outcome } = prompt;
  const isRunning = status === "answered" && outcome === undefined;
  const came = outcome === undefined ? "" : OUTCOMES[outcome];
  return (
    <div className="outcome" role="status">
      <strong>{shownText(answerText(prompt))}</strong>
      <ul className="feedback">
        {feedback.map((line, at) => (
          <li key={`${at}${line}`}>{shownText(line)}</li>
        ))}
        {isRunning && <li className="soft">…</li>}
      </ul>
      {came !== "" && <span className="warn">{came}</span>}
    </div>
  );
}
