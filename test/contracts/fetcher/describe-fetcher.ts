/** The contract of every fetcher, tested against a server that also violates HTTP. */
import { describe } from "vitest";
import { describeAborting } from "./describe-aborting.ts";
import { describeAnswers } from "./describe-answers.ts";
import { describeFailures } from "./describe-failures.ts";
import { describeLimits } from "./describe-limits.ts";
import { describeRedirects } from "./describe-redirects.ts";
import { describeTurns } from "./describe-turns.ts";
import type { OpenFetcher } from "./harness.ts";

export function describeFetcher(name: string, open: OpenFetcher): void {
  describe(`fetcher contract on ${name}`, () => {
    describeAnswers(open);
    describeRedirects(open);
    describeLimits(open);
    describeFailures(open);
    describeTurns(open);
    describeAborting(open);
  });
}
