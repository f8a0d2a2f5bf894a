import type { ReactNode } from "react";
import { AgentRequest } from "../drive/agent-request.tsx";
import { shownText } from "../../domain/shown-text.ts";
import { driverText } from "../model/driver.ts";
import type { Asked } from "../model/pending.ts";
import { useDriver, useWorld } from "../model/use-hub.ts";
import { Safely } from "../ui/safely.tsx";
import { ApprovalCard } from "./approval-card.tsx";
import { decisionText } from "./approval-words.ts";
import { CardFrame } from "./card-frame.tsx";
import { PlanCard, planText } from "./plan-card.tsx";
import { PromptCard } from "./prompt-card.tsx";
import { answerText } from "./prompt-words.ts";
import "./cards.css";

export function AskedCard({
  asked,
  withSession,
  onDismiss,
}: {
  readonly asked: Asked;
  readonly withSession: boolean;
  readonly onDismiss: () => void;
}): ReactNode {
  return (
    <CardFrame asked={asked} withSession={withSession} onDismiss={onDismiss}>
      <Safely what="this card">
        <Content asked={asked} />
      </Safely>
    </CardFrame>
  );
}

function Content({ asked }: { readonly asked: Asked }): ReactNode {
  switch (asked.kind) {
    case "approval":
      return <ApprovalCard approval={asked.approval} waits={asked.waits} />;
    case "prompt":
      return <PromptCard prompt={asked.prompt} waits={asked.waits} />;
    case "plan":
      return <PlanCard plan={asked.plan} waits={asked.waits} />;
    case "request":
      return <Request asked={asked} />;
  }
}

function Request({ asked }: { readonly asked: Extract<Asked, { kind: "request" }> }): ReactNode {
  const { sessionId, request, waits } = asked;
  const session = useWorld(({ sessions }) => sessions.get(sessionId));
  const driver = useDriver(sessionId);
  if (waits && session !== undefined) {
    return <AgentRequest session={session} request={request} />;
  }
  return (
    <p className="outcome" role="status">
      <strong>{shownText(request.agentId)} asked for control.</strong>
      <span>Now: {shownText(driverText(driver))}</span>
    </p>
  );
}

/** What became of it, in a line. */
export function outcomeText(asked: Asked): string {
  switch (asked.kind) {
    case "approval":
      return decisionText(asked.approval);
    case "prompt":
      return answerText(asked.prompt);
    case "plan":
      return planText(asked.plan);
    case "request":
      return "";
  }
}
