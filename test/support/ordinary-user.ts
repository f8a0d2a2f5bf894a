/** Somebody without rights: whoever runs the tests, or where that is root, an account for as long as they run. */
import { userInfo } from "node:os";
import { canHaveAccounts, IS_ROOT, TemporaryAccount } from "./account.ts";

export type OrdinaryUser = {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  readonly remove: () => void;
};

/** Whether such a user could run what is in this checkout. */
export function canBeOrdinary(): boolean {
  return !IS_ROOT || canHaveAccounts;
}

export function ordinaryUser(): OrdinaryUser {
  if (!IS_ROOT) {
    const { username, uid, gid } = userInfo();
    return { name: username, uid, gid, remove: () => undefined };
  }
  const account = new TemporaryAccount();
  const { name, uid, gid } = account;
  return { name, uid, gid, remove: () => account[Symbol.dispose]() };
}
