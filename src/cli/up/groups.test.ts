import { describe, expect, it } from "vitest";
import { groupsOf } from "./groups.ts";

describe("the groups of trawl up", () => {
  it("hand every process what the command was told of places and logs", () => {
    const [group] = groupsOf({
      ...{ fetch: 2, render: 0, parse: 0, queue: [], serve: true, schedules: true },
      ...{ broker: "redis://127.0.0.1:1", store: "sqlite:a.db", logLevel: "debug" },
    });

    const places = ["--broker", "redis://127.0.0.1:1", "--store", "sqlite:a.db", "--log-level", "debug"];
    expect(group).toEqual({ name: "fetch", processes: 2, words: ["worker", "--queues", "fetch,deliver", ...places] });
  });
});
