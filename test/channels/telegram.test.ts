import { channelContract } from "./channel.contract.ts";
import { openHastyTelegram, openTelegram } from "./telegram-stage.ts";

channelContract(openTelegram, openHastyTelegram);
