import { eventLogModelContract } from "../event-log-model.contract.ts";
import { eventLogContract } from "../event-log.contract.ts";
import type { OpenLog } from "../../../test/store/test-log.ts";
import { openSqliteStore } from "./sqlite-store.ts";

const open: OpenLog = async (directory, now) => {
  const store = await openSqliteStore(directory, { now });
  return { log: store.events, close: () => store.close() };
};

eventLogContract(open);
eventLogModelContract(open);
