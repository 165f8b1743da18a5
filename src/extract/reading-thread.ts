/** The thread in which `guarded-extractor.ts` reads pages. An entry, not a module to import. */
import { parentPort } from "node:worker_threads";
import { isTrawlError } from "../errors.ts";
import { createExtractor } from "./create-extractor.ts";
import { cutReading } from "./cut-reading.ts";
import type { ReadingAnswer, ReadingOrder } from "./guarded-extractor.ts";

function answer({ choice, input }: ReadingOrder): ReadingAnswer {
  try {
    return { kind: "read", reading: cutReading(createExtractor(choice)(input)) };
  } catch (error) {
    if (!isTrawlError(error)) throw error;
    const { code, message, detail } = error;
    return { kind: "refused", code, message, detail };
  }
}

parentPort?.on("message", (order: ReadingOrder) => parentPort?.postMessage(answer(order)));
