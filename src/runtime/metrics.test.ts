import { describe, expect, it } from "vitest";
import { parseMetrics } from "../../test/metrics/parse-metrics.ts";
import { createMetrics, type Declarations, expose, mergeSnapshots, withoutGauges } from "./metrics.ts";

const DECLARED = {
  ends_total: { type: "counter", help: "Ends.", labels: { how: ["well", "badly"] } },
  queue_waiting: { type: "gauge", help: "Waiting tasks of a queue.", labels: { queue: { max: 2 } } },
  took_seconds: { type: "histogram", help: "A \\ and a\nline.", buckets: [0.1, 1] },
  largest_bytes: { type: "gauge", help: "The largest size.", merge: "max" },
} as const satisfies Declarations;

function scraped(metrics: { snapshot(): ReturnType<ReturnType<typeof createMetrics>["snapshot"]> }) {
  const { families, problems } = parseMetrics(expose(DECLARED, metrics.snapshot()));
  expect(problems).toEqual([]);
  const find = (name: string) =>
    families.get(name)?.samples.map(({ labels, value }) => [...Object.values(labels), value]);
  return { find };
}

describe("metrics", () => {
  it("include counters from the start, gauges once they are set, and cumulative histogram buckets", () => {
    const metrics = createMetrics(DECLARED);
    expect(scraped(metrics).find("ends_total")).toEqual([
      ["well", 0],
      ["badly", 0],
    ]);
    expect(scraped(metrics).find("queue_waiting")).toBeUndefined();

    metrics.add("ends_total", 2, "well");
    metrics.set("queue_waiting", 7, "fetch");
    for (const seconds of [0.1, 0.5, 99]) metrics.observe("took_seconds", seconds);

    const { find } = scraped(metrics);
    expect(find("ends_total")).toEqual([
      ["well", 2],
      ["badly", 0],
    ]);
    expect(find("queue_waiting")).toEqual([["fetch", 7]]);
    expect(find("took_seconds")).toEqual([["0.1", 1], ["1", 2], ["+Inf", 3], [99.6], [3]]);
  });

  it("never have more label values than declared: other values are counted as `other`", () => {
    const metrics = createMetrics(DECLARED);
    metrics.add("ends_total", 1, "oddly");
    metrics.add("ends_total", 1, "strangely");
    const names = ['a"} 1\nevil_total 2', "line\nbreak\\", "third", "fourth"];
    for (const [nth, queue] of names.entries()) metrics.set("queue_waiting", nth, queue);

    const { find } = scraped(metrics);
    expect(find("ends_total")).toEqual([
      ["well", 0],
      ["badly", 0],
      ["other", 2],
    ]);
    expect(find("queue_waiting")).toEqual([
      [names[0], 0],
      [names[1], 1],
      ["other", 3],
    ]);
    metrics.clear("queue_waiting");
    metrics.set("queue_waiting", 1, "third");
    expect(scraped(metrics).find("queue_waiting")).toEqual([["third", 1]]);
    expect(() => metrics.add("ends_total", 1)).toThrow("labels");
  });

  it("of several processes are merged: counters are summed, and stay after a process has ended", () => {
    const [one, other] = [createMetrics(DECLARED), createMetrics(DECLARED)];
    one.add("ends_total", 1, "well");
    other.add("ends_total", 2, "well");
    one.set("queue_waiting", 3, "fetch");
    other.set("queue_waiting", 4, "fetch");
    one.set("largest_bytes", 10);
    other.set("largest_bytes", 9);
    one.observe("took_seconds", 0.5);
    other.observe("took_seconds", 5);
    // Snapshots are sent between processes as JSON.
    const [first, second] = JSON.parse(JSON.stringify([one.snapshot(), other.snapshot()]));

    const sum = scraped({ snapshot: () => mergeSnapshots(DECLARED, [first, second]) });
    expect(sum.find("ends_total")?.[0]).toEqual(["well", 3]);
    expect(sum.find("queue_waiting")).toEqual([["fetch", 7]]);
    expect(sum.find("largest_bytes")).toEqual([[10]]);
    expect(sum.find("took_seconds")).toEqual([["0.1", 0], ["1", 1], ["+Inf", 2], [5.5], [2]]);
    const gone = scraped({ snapshot: () => mergeSnapshots(DECLARED, [withoutGauges(DECLARED, first), second]) });
    expect(gone.find("ends_total")?.[0]).toEqual(["well", 3]);
    expect(gone.find("queue_waiting")).toEqual([["fetch", 4]]);
    expect(gone.find("largest_bytes")).toEqual([[9]]);
  });
});
