/** Looking back at a session: scrub to any time, see the screen as it was and who drove. Rules WEB-70..WEB-75 in docs/spec/web.md. */
import { type ReactNode, useEffect, useRef, useState } from "react";
import { shownText } from "../../domain/shown-text.ts";
import type { Session } from "../../domain/session.ts";
import type { ExportFormat } from "../../protocol/history.ts";
import { titleOf } from "../model/driver.ts";
import { linkTo, useRoute } from "../model/route.ts";
import { useHub, useWorld } from "../model/use-hub.ts";
import { copyText } from "../ui/copy.ts";
import { Past } from "../terminal/past.ts";
import { Screen } from "../terminal/screen.ts";
import { durationText } from "../ui/time.tsx";
import { download } from "./export.ts";
import { lastWhere, momentAt, type Recording, type Stop } from "./recording.ts";
import { ReplayScreen, type Shown } from "./replay-screen.ts";
import { Track } from "./track.tsx";
import { type Player, SPEEDS, usePlayer } from "./use-player.ts";
import { useRecording } from "./use-recording.ts";
import "@xterm/xterm/css/xterm.css";
import "../terminal/terminal.css";
import "./replay.css";

export function ReplayView({ session }: { readonly session: Session }): ReactNode {
  const { sessionId } = session;
  const isOver = session.status === "closed";
  const recording = useRecording(sessionId);
  return (
    <article className="replay" aria-label={`Replay of ${titleOf(session)}`}>
      <header className="session-head">
        <h1>{titleOf(session)}</h1>
        <span className="badge soft">replay</span>
        {!isOver && <span className="soft">The bar above is now. All below is the past.</span>}
        <span className="row push">
          <Export sessionId={sessionId} format="asciicast" text="Export asciicast" />
          <Export sessionId={sessionId} format="jsonl" text="Export events" />
          <a className="button" href={linkTo("session", sessionId)}>
            {isOver ? "Last screen" : "Live"}
          </a>
        </span>
      </header>
      {recording === undefined ? (
        <p className="page soft">Loading …</p>
      ) : (
        <Replay sessionId={sessionId} recording={recording} />
      )}
    </article>
  );
}

type ReplayOf = { readonly sessionId: string; readonly recording: Recording };

function Replay({ sessionId, recording }: ReplayOf): ReactNode {
  const { query } = useRoute();
  const player = usePlayer(recording, query.get("at"));
  const place = useRef<HTMLDivElement>(null);
  const shown = useReplayScreen(place, sessionId, { recording, player });
  return (
    <>
      <Controls sessionId={sessionId} recording={recording} player={player} />
      <Track recording={recording} player={player} />
      <Moment recording={recording} player={player} approximate={shown?.approximate === true} />
      <div className="terminal-body">
        <div ref={place} className="terminal-place" data-session={sessionId} data-shown={shown?.cursor} />
      </div>
    </>
  );
}

function useReplayScreen(
  place: React.RefObject<HTMLDivElement | null>,
  sessionId: string,
  { recording, player }: { readonly recording: Recording; readonly player: Player },
): Shown | undefined {
  const hub = useHub();
  const [screen, setScreen] = useState<ReplayScreen>();
  const [shown, setShown] = useState<Shown>();
  useEffect(() => {
    if (place.current === null) return undefined;
    const made = new ReplayScreen(new Screen({ place: place.current }), new Past(hub.client, sessionId), setShown);
    setScreen(made);
    return () => made[Symbol.dispose]();
  }, [hub, place, sessionId]);
  const { cursor } = player.place;
  const isLive = useWorld(({ link }) => link === "live");
  useEffect(() => {
    if (screen !== undefined) void hub.act(() => screen.show(cursor, recording.resizes));
    // Also when the hub is back: what could not be had then would stay the screen of another moment.
  }, [hub, screen, cursor, recording.resizes, isLive]);
  return shown;
}

function Controls({ sessionId, recording, player }: ReplayOf & { readonly player: Player }): ReactNode {
  const hub = useHub();
  const { place, isPlaying, speed, skipsIdle } = player;
  const { stops } = recording;
  const before = stops[lastWhere(stops, (it) => it.ms < place.ms)];
  const after = stops[lastWhere(stops, (it) => it.ms <= place.ms) + 1];
  const copyLink = async (): Promise<void> => {
    const link = `${location.origin}${location.pathname}${linkTo("session", sessionId, "replay")}?at=${place.ms}`;
    if ((await hub.act(() => copyText(link))) !== undefined) hub.tell("Copied a link to this moment.");
  };
  const go = (stop: Stop | undefined) => () => stop !== undefined && player.seek(stop);
  return (
    <div className="replay-controls row" role="group" aria-label="Replay">
      <button className="main" type="button" onClick={() => player.play(!isPlaying)}>
        {isPlaying ? "Pause" : "Play"}
      </button>
      <button type="button" disabled={before === undefined} onClick={go(before)}>
        Previous event
      </button>
      <button type="button" disabled={after === undefined} onClick={go(after)}>
        Next event
      </button>
      <label className="row">
        Speed
        <select value={speed} onChange={(event) => player.setSpeed(Number(event.target.value) as typeof speed)}>
          {SPEEDS.map((it) => (
            <option key={it} value={it}>
              {it}×
            </option>
          ))}
        </select>
      </label>
      <label className="row">
        <input type="checkbox" checked={skipsIdle} onChange={(event) => player.setSkipsIdle(event.target.checked)} />
        Skip idle
      </label>
      <button type="button" onClick={() => void copyLink()}>
        Copy link to this moment
      </button>
    </div>
  );
}

type MomentOf = { readonly recording: Recording; readonly player: Player; readonly approximate: boolean };

/** When it is, who drove then, and what happened last. */
function Moment({ recording, player, approximate }: MomentOf): ReactNode {
  const { ms } = player.place;
  const { beganAt, endMs, isLive } = recording;
  const { driverKind, drove, last } = momentAt(recording, player.place);
  return (
    <p className="moment" data-driver={driverKind}>
      <span>
        {durationText(ms)} of {durationText(endMs)}
        {isLive && ", going on"}
      </span>
      <time className="soft" dateTime={new Date(beganAt + ms).toISOString()}>
        {new Date(beganAt + ms).toLocaleString()}
      </time>
      <strong className="moment-driver" role="status">
        {drove}
      </strong>
      {last !== undefined && (
        <span className="moment-last soft" role="status">
          {shownText(last)}
        </span>
      )}
      {approximate && <span className="badge warn">approximate: drawn from the last of the output alone</span>}
    </p>
  );
}

type Exported = { readonly sessionId: string; readonly format: ExportFormat; readonly text: string };

function Export({ sessionId, format, text }: Exported): ReactNode {
  const hub = useHub();
  const [isBusy, setBusy] = useState(false);
  const save = async (): Promise<void> => {
    setBusy(true);
    await hub.act((client) => download(client, sessionId, format));
    setBusy(false);
  };
  return (
    <button type="button" disabled={isBusy} onClick={() => void save()}>
      {isBusy ? "Exporting …" : text}
    </button>
  );
}
