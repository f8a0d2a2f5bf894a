import { outboxStoreContract } from "../outbox-store.contract.ts";
import { answerStoreContract, credentialStoreContract } from "../record-stores.contract.ts";
import { openSqliteStore } from "./sqlite-store.ts";

credentialStoreContract((directory, now) => openSqliteStore(directory, { now }));
answerStoreContract((directory, now) => openSqliteStore(directory, { now }));
outboxStoreContract((directory) => openSqliteStore(directory, { now: Date.now }));
