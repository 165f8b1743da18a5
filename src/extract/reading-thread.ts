/** The thread in which `guarded-extractor.ts` reads pages. An entry, not a module to import. */
import { parentPort } from "node:worker_threads";
import { isTrawlError } from "../errors.ts";
import { createExtractor } from "./create-extractor.ts";
import type { ReadingAnswer, ReadingOrder } from "./guarded-extractor.ts";

function answer({ nth, choice, input }: ReadingOrder): ReadingAnswer {
  try {
    return { nth, kind: "read", extraction: createExtractor(choice)(input) };
  } catch (error) {
    if (!isTrawlError(error)) throw error;
    const { code, message, detail } = error;
    return { nth, kind: "refused", code, message, detail };
  }
}

parentPort?.on("message", (order: ReadingOrder) => parentPort?.postMessage(answer(order)));
