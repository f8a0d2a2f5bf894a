/** docs/reference/stream.md: the WebSocket, frame by frame. */
import {
  ClientFrame,
  DEAD_AFTER_MS,
  HEARTBEAT_MS,
  OUTPUT_FRAME,
  ServerFrame,
  SUBPROTOCOL,
  TICKET_PROTOCOL_PREFIX,
} from "../src/protocol/stream.ts";
import { fieldTable, MADE, page, schemaOf, table } from "./reference-page.ts";

const CLIENT_FRAMES: Readonly<Record<ClientFrame["type"], string>> = {
  subscribe:
    "Asks for the events after a place in the log, all of them or those of one session or of some types; without " +
    "`after`, from the oldest that is kept. There is one subscription: a second one takes the place of the first.",
  attach:
    "Asks for a session's output from a byte on (`from`, an offset), or from its present end (`screen`). With `input: " +
    "true` this viewer types: that needs a role that may, and only then its `cols` and `rows` count. Attaching again " +
    "begins anew. At most 100 sessions at once.",
  input:
    "Types into a session: exactly one of `data` and `data_b64`. It is [session.input](operations.md#sessioninput), " +
    "with the same rules and refusals, and needs no attachment.",
  resize: "Changes the size of an attached session. Without `input: true` at `attach` it does nothing.",
  ack: "Says that the output before `cursor` has been dealt with. See [acknowledging](#acknowledging).",
  detach: "Ends an attachment.",
  ping: "Is answered with `pong`. For clients that can't send the WebSocket's own ping.",
};

const SERVER_FRAMES: Readonly<Record<ServerFrame["type"], string>> = {
  event:
    "One event of the subscription, a [WorkspaceEvent](shapes.md#workspaceevent). Its `sequence` is the next `after`.",
  attached:
    "The answer to `attach`: output follows from `cursor` on, on a screen of this size. With a `snapshot` the screen is to " +
    "be drawn from it first (not sent yet).",
  lagged:
    "The viewer is behind, and has been fed up to here: with output (`sessionId`, `cursor`) or with events (`after`). " +
    "Nothing is lost; it goes on from there.",
  resync:
    "Events up to `after` are no longer kept, or the log is a shorter one than the cursor was for; the subscription goes on " +
    "from there. What was built from events has to be read anew.",
  error:
    "A frame was refused, or an attachment can't go on; the connection stays. It has the fields of a problem detail " +
    "(`code`, `status`, `title`, `detail` and those of its [code](errors.md)). `cursor_expired` has `sessionId` and " +
    "`oldest`, ends the attachment, and is answered by attaching again from `oldest`.",
  pong: "The answer to `ping`.",
};

export function streamPage(): string {
  return page([
    "# The stream",
    MADE,
    "A WebSocket at `/stream`, for live events and output, and for input. Text frames are JSON objects with a `type`; " +
      "binary frames, which only the hub sends, are output.",
    ...opening(),
    "## Client frames",
    "Unknown types and unknown fields are refused with an `error` frame.",
    ...ClientFrame.options.flatMap((it) => [
      `### ${it.shape.type.value}`,
      CLIENT_FRAMES[it.shape.type.value],
      fieldTable(schemaOf(it, "input"), { needed: "required" }),
    ]),
    "## Server frames",
    "Pass over a type that you don't know: a newer hub may send it.",
    ...ServerFrame.options.flatMap((it) => [
      `### ${it.shape.type.value}`,
      SERVER_FRAMES[it.shape.type.value],
      fieldTable(schemaOf(it, "output"), { needed: "always", closed: ["event"] }),
    ]),
    ...binary(),
    ...rules(),
  ]);
}

function opening(): string[] {
  return [
    "## Opening",
    [
      `- Subprotocol: \`${SUBPROTOCOL}\`. Another one is refused; none at all is taken as this one.`,
      "- Credential: `Authorization: Bearer <token>`, or a browser's login cookie with the page's key, or a ticket; on the operator's unix " +
        "socket none is needed. The role must be one that may read the log: operator, viewer or agent.",
      "- Ticket, for clients that can't set headers: [stream.ticket](operations.md#streamticket) answers one that is valid " +
        `for 30 seconds and one opening. It is offered as a second subprotocol, \`${TICKET_PROTOCOL_PREFIX}<ticket>\`; the ` +
        `hub chooses \`${SUBPROTOCOL}\`.`,
      "- An actor may hold 200 streams at once, server-sent events among them; one more is refused with `limit_reached`.",
      "- `/stream` takes no query: a credential in a URL ends up in logs.",
      "- A refused opening is an HTTP answer with a problem detail.",
    ].join("\n"),
    `\`\`\`js\nnew WebSocket("ws://127.0.0.1:4180/stream", ["${SUBPROTOCOL}", "${TICKET_PROTOCOL_PREFIX}" + ticket]);\n\`\`\``,
  ];
}

function binary(): string[] {
  return [
    "## Output",
    "A binary frame is a piece of one session's output:",
    table(
      ["bytes", "what"],
      [
        ["1", `kind: ${OUTPUT_FRAME}. Pass over other kinds`],
        ["16", "session id: the UUID's bytes, in the order in which it is written"],
        ["8", "cursor: unsigned, big-endian; the offset of the first byte that follows in the session's output"],
        ["rest", "the output as the program wrote it; a character may be cut between two frames"],
      ],
    ),
    "The next frame's cursor is this one's plus its length; after a lost connection, attach from there.",
  ];
}

function rules(): string[] {
  return [
    "## Acknowledging",
    "Send `ack` with the cursor after the last byte that you have dealt with, for each binary frame or for several at " +
      "once. A viewer with 1 MiB of a session's output unacknowledged is sent no more of it, told `lagged`, and goes on " +
      "when it acknowledges; others are not held up. Acknowledging twice, backwards, or what was never sent changes " +
      "nothing. Events need no acknowledgement.",
    "## Heartbeat",
    `The hub sends a WebSocket ping every ${HEARTBEAT_MS / 1000} s and ends a connection from which nothing came, not even ` +
      `a pong, for ${DEAD_AFTER_MS / 1000} s. A browser answers these pings by itself but can't see them: send \`ping\` ` +
      `every ${HEARTBEAT_MS / 1000} s and give the connection up after ${DEAD_AFTER_MS / 1000} s without any frame.`,
    "## The end",
    table(
      ["close code", "meaning"],
      [
        ["4401", "the credential was revoked or is over"],
        ["1008", "more than 100 frames were no frames"],
        ["1001", "the hub goes down; come back after a pause, with your cursors"],
      ],
    ),
  ];
}
