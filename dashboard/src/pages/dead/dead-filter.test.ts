import { expect, it } from "vitest";
import { filterOf, letterText, replayText } from "./dead-filter.ts";

it("reads only valid filter values from the address", () => {
  expect(filterOf({ job: "j1", reason: "http_status", site: "a.example", status: "404" })).toEqual({
    ...{ job: "j1", reason: "http_status", site: "a.example", status: 404 },
  });
  expect(filterOf({ reason: "toString", status: "4040", site: "", q: "x" })).toEqual({});
});

it("describes a replay and its duration", () => {
  const what = letterText(1_240, { site: "shop.example", status: 503 });

  expect(replayText(what, 1_240, 10)).toBe(
    "Replays 1,240 dead letters of shop.example with status 503 at 10 per second. The last one is due in about 2 min 3 s.",
  );
  expect(replayText("1 dead letter", 1, 10)).toBe("Replays 1 dead letter immediately.");
});
