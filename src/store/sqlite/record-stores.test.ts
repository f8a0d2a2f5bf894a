import { answerStoreContract, credentialStoreContract } from "../record-stores.contract.ts";
import { openSqliteStore } from "./sqlite-store.ts";

credentialStoreContract((directory, now) => openSqliteStore(directory, { now }));
answerStoreContract((directory, now) => openSqliteStore(directory, { now }));
