/** The hub gave no answer: not there, gone in between, or silent for too long. `cause` has the transport's word. */
export class HubUnreachable extends Error {
  override readonly name = "HubUnreachable";
}
