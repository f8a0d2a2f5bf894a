/** The package's entry: what users of the SDK import. */
export { AppError, ERRORS, type ErrorCode } from "../protocol/errors.ts";
export type { ApprovalRequest } from "../protocol/approvals.ts";
export type { Token } from "../protocol/credentials.ts";
export type { WorkspaceEvent, WorkspaceSnapshot } from "../protocol/events.ts";
export type { Host } from "../protocol/hosts.ts";
export type { Input, Output, CallName } from "../protocol/operations.ts";
export type { AskedPrompt } from "../protocol/prompts.ts";
export type { WorkspaceSession } from "../protocol/sessions.ts";
export type { Workspace } from "../protocol/workspaces.ts";
export type { Attached, Viewer } from "./attachment.ts";
export type { Call, CallOptions } from "./calls.ts";
export { type ClientOptions, SidestickClient } from "./client.ts";
export type { FeedItem, FeedOptions } from "./event-feed.ts";
export type { Timing } from "./retry.ts";
export { Runner, type RunnerOptions, type Step } from "./runner.ts";
export { RunnerStopped, type StopReason } from "./runner-stopped.ts";
export type { Lag, Stream, StreamOptions, StreamState, Subscription } from "./stream.ts";
export { HubUnreachable } from "./unreachable.ts";
