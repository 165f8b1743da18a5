import { expect, it } from "vitest";
import { parseMetrics } from "./parse-metrics.ts";

const HEAD = "# HELP a_total What.\n# TYPE a_total counter\n";
const HISTOGRAM = "# HELP h_seconds What.\n# TYPE h_seconds histogram\n";

it("parses valid metrics", () => {
  const { families, problems } = parseMetrics(
    `${HEAD}a_total{x="1",y="a\\"b\\\\c\\nd"} 3\n${HISTOGRAM}h_seconds_bucket{le="0.5"} 1\nh_seconds_bucket{le="+Inf"} 2\nh_seconds_sum 7.5\nh_seconds_count 2\n`,
  );
  expect(problems).toEqual([]);
  expect(families.get("a_total")?.samples).toEqual([{ name: "a_total", labels: { x: "1", y: 'a"b\\c\nd' }, value: 3 }]);
  expect(families.get("h_seconds")?.samples).toHaveLength(4);
});

it.each([
  ["no HELP", "a_total 1\n"],
  ["no TYPE", "# HELP a_total What.\na_total 1\n"],
  ["no line break at the end", `${HEAD}a_total 1`],
  ["no value", `${HEAD}a_total\n`],
  ["a value that is not a number", `${HEAD}a_total many\n`],
  ["a series twice", `${HEAD}a_total{x="1"} 1\na_total{x="1"} 2\n`],
  ["other labels", `${HEAD}a_total{x="1"} 1\na_total{y="1"} 2\n`],
  ["a quote that is not escaped", `${HEAD}a_total{x="a"b"} 1\n`],
  ["a line break in a label", `${HEAD}a_total{x="a\nb"} 1\n`],
  ["a family twice", `${HEAD}a_total 1\n${HEAD}a_total 2\n`],
  ["a counter without _total", "# HELP a What.\n# TYPE a counter\na 1\n"],
  ["a gauge with _total", "# HELP a_total What.\n# TYPE a_total gauge\na_total 1\n"],
  ["milliseconds", "# HELP a_ms What.\n# TYPE a_ms gauge\na_ms 1\n"],
  ["a name that is not allowed", "# HELP a-b What.\n# TYPE a-b gauge\na-b 1\n"],
  ["a counter below 0", `${HEAD}a_total -1\n`],
  ["a histogram without +Inf", `${HISTOGRAM}h_seconds_bucket{le="1"} 1\nh_seconds_sum 1\nh_seconds_count 1\n`],
  [
    "decreasing buckets",
    `${HISTOGRAM}h_seconds_bucket{le="1"} 2\nh_seconds_bucket{le="+Inf"} 1\nh_seconds_sum 1\nh_seconds_count 1\n`,
  ],
  [
    "a count that differs from the last bucket",
    `${HISTOGRAM}h_seconds_bucket{le="+Inf"} 2\nh_seconds_sum 1\nh_seconds_count 1\n`,
  ],
  ["no sum", `${HISTOGRAM}h_seconds_bucket{le="+Inf"} 1\nh_seconds_count 1\n`],
])("reports a problem: %s", (_, text) => {
  expect(parseMetrics(text).problems).not.toEqual([]);
});
