import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The longest first, units last. Begun last, one of a minute would keep a core waiting for the other. */
const LONG = [
  "test/e2e/pool/",
  "test/e2e/fleet/",
  "test/chaos/",
  "test/e2e/",
  "test/readme",
  "test/contracts/frontier/races",
  "test/model/",
  "test/dashboard/",
  "test/contracts/store/",
  "test/schedule/",
  "bench/",
  "test/",
];

/** A new clone does not know how long files took: vitest then goes by their size, and the longest are small. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const usual = await super.sort(files);
    const rankOf = ({ moduleId }: TestSpecification) => {
      const rank = LONG.findIndex((part) => moduleId.includes(part));
      return rank < 0 ? LONG.length : rank;
    };
    return [...usual].sort((one, other) => rankOf(one) - rankOf(other));
  }
}
