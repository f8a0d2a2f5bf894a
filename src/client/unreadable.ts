import { AppError } from "../protocol/errors.ts";

/** What answers is no hub, or one that this client can't understand. It would say the same again. */
export class Unreadable extends AppError {
  constructor(detail: string, options?: ErrorOptions) {
    super("internal", { detail }, options);
  }
}
