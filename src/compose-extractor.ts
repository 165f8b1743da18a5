/** The part of compose.ts that whoever only checks a job needs: what reads pages, without what fetches them. */
import { createExtractor } from "./extract/create-extractor.ts";
import type { Extractor } from "./extract/extractor.ts";
import type { JobSpec } from "./submit/job-spec.ts";

/** How a job without code reads its pages. Throws BAD_SELECTOR. */
export function extractorOf({ extract, follow }: JobSpec): Extractor {
  return createExtractor({ rules: extract, links: follow?.links });
}
