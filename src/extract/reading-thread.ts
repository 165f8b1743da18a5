/** Entry point of the worker thread of `guarded-extractor.ts`. Do not import it. */
import { parentPort } from "node:worker_threads";
import { isTrawlError } from "../errors.ts";
import { createExtractor } from "./create-extractor.ts";
import type { ExtractReply, ExtractRequest } from "./guarded-extractor.ts";
import { truncatePreview } from "./truncate-preview.ts";

function replyTo({ choice, input }: ExtractRequest): ExtractReply {
  try {
    return { kind: "read", reading: truncatePreview(createExtractor(choice)(input)) };
  } catch (error) {
    if (!isTrawlError(error)) throw error;
    const { code, message, detail } = error;
    return { kind: "refused", code, message, detail };
  }
}

parentPort?.on("message", (request: ExtractRequest) => parentPort?.postMessage(replyTo(request)));
