import type { Rules } from "../domain/extraction-rules.ts";
import { compileRules } from "./compile-rules.ts";
import { createDefaultExtractor } from "./default-record.ts";
import type { Extractor } from "./extractor.ts";
import { PLAIN_LINKS } from "./link-selector.ts";

export type ExtractorChoice = {
  /** Undefined: every page yields the default record. */
  rules: Rules | undefined;
  /** Selector of the links to follow; undefined: none. */
  links: string | undefined;
};

/** The extractor of a job without a spider. Throws BAD_SELECTOR. */
export function createExtractor({ rules, links }: ExtractorChoice): Extractor {
  if (rules !== undefined) return compileRules(rules, { links, parser: "fast" });
  if (links === undefined || links.trim() === PLAIN_LINKS)
    return createDefaultExtractor({ followLinks: links !== undefined });
  const toRecord = createDefaultExtractor({ followLinks: false });
  const toLinks = compileRules({ title: "title" }, { links, parser: "fast" });
  return (input) => ({ ...toRecord(input), links: toLinks(input).links });
}
