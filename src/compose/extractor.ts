/**
 * Builds extractors, and checks the rules of jobs. It is a separate file so that commands which only check a job do not
 * load the fetchers.
 */
import type { JobSpec } from "../domain/job-spec.ts";
import { compileRules } from "../extract/compile-rules.ts";
import { createExtractor } from "../extract/create-extractor.ts";
import type { Extractor } from "../extract/extractor.ts";

/** The extractor of a job without a spider. Throws BAD_SELECTOR. */
export function extractorOf({ extract, follow, politeness }: JobSpec): Extractor {
  return createExtractor({ rules: extract, links: follow?.links, metaRobots: politeness.metaRobots });
}

/** Checks all rules of a job before it is submitted. Throws BAD_SELECTOR. */
export function checkRules(spec: JobSpec): void {
  extractorOf(spec);
  if (spec.login === undefined) return;
  const { fields, check, expired } = spec.login;
  const named = Object.entries(fields).map(([name, rule]) => [`login.fields.${name}`, rule]);
  const selectors = { "login.check.selector": check.selector, "login.expired.selector": expired.selector };
  const used = Object.entries(selectors).filter(([, rule]) => rule !== undefined);
  compileRules(Object.fromEntries([...named, ...used]) as Record<string, string>, { links: undefined, parser: "fast" });
}
