import type { Rules } from "../domain/extraction-rules.ts";
import { compileRules } from "./compile-rules.ts";
import { createDefaultExtractor } from "./default-record.ts";
import type { Extractor } from "./extractor.ts";
import { PLAIN_LINKS } from "./link-selector.ts";

export type ExtractorChoice = {
  /** If undefined, every page yields the default record. */
  rules: Rules | undefined;
  /** Selector of the links to follow. If undefined, no links are followed. */
  links: string | undefined;
  /** Set if robots directives in pages are obeyed. */
  metaRobots?: boolean | undefined;
};

/** The extractor of a job without a spider. Throws BAD_SELECTOR if a selector is invalid. */
export function createExtractor({ rules, links, metaRobots }: ExtractorChoice): Extractor {
  if (rules !== undefined) return compileRules(rules, { links, parser: "fast", metaRobots });
  if (links === undefined || links.trim() === PLAIN_LINKS)
    return createDefaultExtractor({ followLinks: links !== undefined, metaRobots });
  const toRecord = createDefaultExtractor({ followLinks: false, metaRobots });
  const toLinks = compileRules({ title: "title" }, { links, parser: "fast", metaRobots });
  return (input) => ({ ...toRecord(input), links: toLinks(input).links });
}
