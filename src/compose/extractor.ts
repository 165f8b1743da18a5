/** Builds extractors. It is a separate file so that commands which only check a job do not load the fetchers. */
import type { JobSpec } from "../domain/job-spec.ts";
import { createExtractor } from "../extract/create-extractor.ts";
import type { Extractor } from "../extract/extractor.ts";

/** The extractor of a job without a spider. Throws BAD_SELECTOR. */
export function extractorOf({ extract, follow, politeness }: JobSpec): Extractor {
  return createExtractor({ rules: extract, links: follow?.links, metaRobots: politeness.metaRobots });
}
