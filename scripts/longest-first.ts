import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The longest files start first, unit tests last: a long file that started last would run alone on one core. */
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

/** Without timings of earlier runs, vitest sorts by file size, and the slowest files are small. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rankOf = ({ moduleId }: TestSpecification) => {
      const rank = LONG.findIndex((part) => moduleId.includes(part));
      return rank < 0 ? LONG.length : rank;
    };
    return [...sorted].sort((one, other) => rankOf(one) - rankOf(other));
  }
}
