import { describe, expect, it } from "vitest";
import { groupsOf } from "./groups.ts";

describe("the groups of trawl up", () => {
  it("pass --broker, --store and --log-level to every process", () => {
    const [group] = groupsOf({
      ...{ fetch: 2, render: 0, parse: 0, queue: [], serve: true, schedules: true },
      ...{ broker: "redis://127.0.0.1:1", store: "sqlite:a.db", logLevel: "debug" },
    });

    const connection = ["--broker", "redis://127.0.0.1:1", "--store", "sqlite:a.db", "--log-level", "debug"];
    expect(group).toEqual({
      name: "fetch",
      processes: 2,
      args: ["worker", "--queues", "fetch,deliver", ...connection],
    });
  });

  it("do not include the queue of a crawl", () => {
    const queue = [{ queue: "crawl:jmwiapq7ve90649", processes: 1 }];
    const flags = { fetch: 1, render: 0, parse: 0, queue, serve: true, schedules: true };

    expect(() => groupsOf(flags)).toThrow(/queue of a crawl.*: trawl crawl --resume jmwiapq7ve90649$/);
  });
});
