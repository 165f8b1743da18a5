/**
 * The test groups, and the files of each. A group is a project of vitest.config.ts; `quick` consists of two projects.
 *
 * | command              | test groups       | limit                |
 * |----------------------|-------------------|----------------------|
 * | `npm run test:quick` | quick             | 60 s on 2 cores      |
 * | `npm test`           | quick, main       | 6 minutes on 2 cores |
 * | `npm run test:all`   | quick, main, rest |                      |
 *
 * A file below test/ or bench/ that is listed here neither as `quick` nor as `main` is in `rest`.
 */

/** Unit tests, which are in the folders of the code that they test. */
export const UNITS = ["src/", "scripts/", "dashboard/"];

/** Unit tests that take several seconds. They run in `main`, so that `quick` stays below its limit. */
export const SLOW_UNITS = [
  "scripts/options.test.ts",
  "src/demo/demo-shop.test.ts",
  "src/discover/sitemap/large-sitemaps.test.ts",
  "src/extract/guarded-extractor.test.ts",
  "src/fetch/exit/exit-client.test.ts",
  "src/store/export/parquet-writer.test.ts",
];

/** Tests to run after an edit: they start no server, no browser, and no child process that takes seconds. */
export const QUICK = [
  "bench/bars.test.mjs",
  "bench/charts/",
  "bench/frontier/judge.test.mjs",
  "bench/harness/rounds.test.mjs",
  "bench/harness/summary.test.mjs",
  "bench/origin/judge-requests.test.mjs",
  "bench/origin/packets.test.mjs",
  "bench/page/",
  "test/architecture.test.ts",
  "test/chaos/fleet/judge-fleet.test.ts",
  "test/chaos/fleet/sites.test.ts",
  "test/chaos/judge-round.test.ts",
  "test/contracts/bodies/file-bodies.test.ts",
  "test/contracts/fetcher/http-fetcher.test.ts",
  "test/contracts/frontier/frontier.test.ts",
  "test/contracts/store/export-records.test.ts",
  "test/contracts/store/sqlite-archive.test.ts",
  "test/contracts/store/sqlite-history.test.ts",
  "test/contracts/store/sqlite-keys.test.ts",
  "test/contracts/store/sqlite-schedules.test.ts",
  "test/contracts/store/sqlite-webhooks.test.ts",
  "test/docs.test.ts",
  "test/metrics/parse-metrics.test.ts",
  "test/site/",
];

/** The main paths: contracts on SQLite and one Redis, the command line, the API, and the dashboard in a browser. */
export const MAIN = [
  "test/api/",
  "test/contracts/frontier/redis-frontier.test.ts",
  "test/contracts/frontier/sqlite-crashes.test.ts",
  "test/contracts/store/sqlite-processes.test.ts",
  "test/contracts/store/sqlite-store.test.ts",
  "test/dashboard/budget.test.ts",
  "test/dashboard/live.test.ts",
  "test/dashboard/sign-in.test.ts",
  "test/e2e/change.test.ts",
  "test/e2e/control.test.ts",
  "test/e2e/demo.test.ts",
  "test/e2e/fleet/fleet.test.ts",
  "test/e2e/following.test.ts",
  "test/e2e/interrupt.test.ts",
  "test/e2e/job-file.test.ts",
  "test/e2e/keys.test.ts",
  "test/e2e/output.test.ts",
  "test/e2e/politeness.test.ts",
  "test/e2e/recrawl.test.ts",
  "test/e2e/settings.test.ts",
  "test/e2e/sitemaps.test.ts",
  "test/e2e/spiders.test.ts",
  "test/e2e/terminal.test.ts",
  "test/model/",
  "test/services/redis.test.ts",
  "test/services/test-run.test.ts",
];

/** Files that fail without a Redis server. Others skip the tests that need one. */
export const NEED_REDIS = ["test/redis/"];

const ENDINGS = ["*.test.ts", "*.test.mjs"];

/** Globs for paths that are files, or folders with a slash at the end. */
export function globsOf(paths: readonly string[]): string[] {
  return paths.flatMap((path) => (path.endsWith("/") ? ENDINGS.map((ending) => `${path}**/${ending}`) : [path]));
}
