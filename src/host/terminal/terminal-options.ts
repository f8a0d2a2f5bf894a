/** What a terminal is made of and for. */
import type { CommandForm } from "../../domain/session.ts";
import type { SessionFrame, Size } from "../../domain/session-frame.ts";
import type { Launching } from "./launcher.ts";
import type { TerminalPatience } from "./patience.ts";
import type { Probe } from "./probe/probe.ts";
import type { QuietTime } from "./quiet-clock.ts";
import type { Screens } from "./screen/screens.ts";

export type TerminalOptions = {
  readonly sessionId: string;
  readonly shell: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly size: Size;
  /** Private to this session; gone with it. */
  readonly directory: string;
  readonly redaction: "on" | "off";
  /** Of its silence; absent: the machine's. */
  readonly time?: QuietTime | undefined;
  readonly launcher?: Launching | undefined;
  readonly probe: () => Promise<Probe>;
  readonly screens: () => Promise<Screens>;
  readonly emit: (frame: SessionFrame) => void;
  readonly attended: boolean;
  readonly agentsMayAcquire: boolean;
  /** Default: the usual. */
  readonly patience?: Partial<TerminalPatience> | undefined;
  /** As a stick's. */
  readonly overdueMs?: number | undefined;
  /** It is for one command alone: what waits for that is started in the shell's place. */
  readonly command?: CommandForm | undefined;
};
