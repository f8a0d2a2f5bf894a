import { type FormEvent, type ReactNode, useState } from "react";
import { shownText } from "../../domain/shown-text.ts";
import type { AskedPrompt } from "../../protocol/prompts.ts";
import { useAct } from "../model/use-hub.ts";
import { choiceText, isDefault, wayOf } from "./prompt-words.ts";

type Reply = { readonly value: string } | { readonly choice: string };
type Answering = {
  readonly prompt: AskedPrompt;
  readonly isBusy: boolean;
  readonly onReply: (reply: Reply) => void;
};

/** Bound to the offer that is shown: an answer to another one is refused. */
export function PromptAnswer({ prompt }: { readonly prompt: AskedPrompt }): ReactNode {
  const { isBusy, act } = useAct();
  const { prompt_id, nonce } = prompt;
  const onReply = (said: Reply): void => void act((client) => client.prompt.reply({ prompt_id, nonce, ...said }));
  const answering = { prompt, isBusy, onReply };
  switch (wayOf(prompt)) {
    case "secret":
      return <Secret {...answering} />;
    case "terminal":
      return null;
    case "literal":
      return <Text {...answering} label="What to type, as the program wants it" />;
    case "many":
      // Another offer has other boxes checked.
      return <Many key={nonce} {...answering} />;
    case "choices":
      return <Choices {...answering} />;
    case "text":
      return <Text {...answering} label="Answer" />;
  }
}

/** Without a name no form sends it, and nothing but the field ever holds it. */
function Secret({ isBusy, onReply }: Answering): ReactNode {
  const send = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const field = fieldOf(event);
    const { value } = field;
    field.value = "";
    onReply({ value });
  };
  return (
    <form className="answer" autoComplete="off" onSubmit={send}>
      <label>
        Secret
        <input type="password" autoComplete="off" autoCapitalize="none" spellCheck={false} required disabled={isBusy} />
      </label>
      <button className="main" type="submit" disabled={isBusy}>
        Type it in
      </button>
      <p className="soft">It is typed into the terminal, once, and neither shown nor stored.</p>
    </form>
  );
}

function Text({ prompt, isBusy, onReply, label }: Answering & { readonly label: string }): ReactNode {
  const send = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    onReply({ value: fieldOf(event).value });
  };
  const offersDefault = prompt.default !== undefined && wayOf(prompt) === "text";
  return (
    <form className="answer" autoComplete="off" onSubmit={send}>
      <label>
        {label}
        <input maxLength={8000} autoCapitalize="none" spellCheck={false} />
      </label>
      <button className="main" type="submit" disabled={isBusy}>
        Send
      </button>
      {offersDefault && (
        <button type="button" disabled={isBusy} onClick={() => onReply({ choice: "default" })}>
          Enter: {shownText(prompt.default ?? "")} <span className="badge soft">default</span>
        </button>
      )}
    </form>
  );
}

/** The first of its form. */
function fieldOf({ currentTarget }: FormEvent<HTMLFormElement>): HTMLInputElement {
  const [field] = currentTarget.elements as unknown as [HTMLInputElement];
  return field;
}

function Choices({ prompt, isBusy, onReply }: Answering): ReactNode {
  const { choices, default: means } = prompt;
  const isMarked = choices.some((it) => isDefault(it, prompt));
  return (
    <div className="options">
      {choices.map((it, at) => (
        <button key={`${at} ${it.key}`} type="button" disabled={isBusy} onClick={() => onReply({ choice: it.key })}>
          <span>{shownText(choiceText(it))}</span>
          <Marks choice={it} prompt={prompt} />
        </button>
      ))}
      {means !== undefined && !isMarked && <p className="soft">Enter alone means: {shownText(means)}</p>}
    </div>
  );
}

function Many({ prompt, isBusy, onReply }: Answering): ReactNode {
  const { choices } = prompt;
  const [chosen, setChosen] = useState<ReadonlySet<string>>(
    () => new Set(choices.filter((it) => it.checked === true).map((it) => it.key)),
  );
  const toggle = (key: string): void =>
    setChosen(new Set(chosen.has(key) ? [...chosen].filter((it) => it !== key) : [...chosen, key]));
  const keys = choices.map((it) => it.key).filter((key) => chosen.has(key));
  const send = (event: FormEvent): void => {
    event.preventDefault();
    onReply({ value: keys.join(", ") });
  };
  return (
    <form className="options" onSubmit={send}>
      {choices.map((it, at) => (
        <label key={`${at} ${it.key}`} className="row">
          <input type="checkbox" checked={chosen.has(it.key)} onChange={() => toggle(it.key)} />
          <span>{shownText(choiceText(it))}</span>
          {it.checked === true && <span className="badge soft">checked now</span>}
        </label>
      ))}
      <div className="row">
        <button className="main" type="submit" disabled={isBusy || keys.length === 0}>
          Choose these
        </button>
        {keys.length === 0 && <span className="soft">To choose none, answer at the terminal.</span>}
      </div>
    </form>
  );
}

function Marks({
  choice,
  prompt,
}: {
  readonly choice: AskedPrompt["choices"][number];
  prompt: AskedPrompt;
}): ReactNode {
  return (
    <>
      {isDefault(choice, prompt) && <span className="badge soft">default</span>}
      {choice.highlighted === true && <span className="badge soft">highlighted</span>}
      {choice.checked === true && <span className="badge soft">checked now</span>}
    </>
  );
}
