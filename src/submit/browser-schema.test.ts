import { describe, expect, it } from "vitest";
import { PLAIN_BROWSER } from "../domain/browser.ts";
import { browserFrom, browserSchema } from "./browser-schema.ts";
import { parseJob } from "./resolve-job.ts";

const specOf = (written: unknown) => browserFrom(browserSchema.parse(written));

describe("the browser settings of a job", () => {
  it("have the defaults if nothing is set", () => {
    expect(specOf({})).toEqual(PLAIN_BROWSER);
  });

  it.each([
    ["load", { kind: "load" }],
    ["idle", { kind: "idle" }],
    [{ selector: ".x" }, { kind: "selector", selector: ".x" }],
    [{ function: "window.ready" }, { kind: "function", source: "window.ready" }],
  ])("wait for %j", (waitFor, expected) => {
    expect(specOf({ waitFor, settle: "2s" })).toMatchObject({ waitFor: expected, settleMs: 2_000 });
  });

  it("keep the order of the actions", () => {
    const actions = [
      { click: ".more", times: 3 },
      { click: "#ok", optional: true },
      { fill: "#q", with: "lamps" },
      { press: "Enter" },
      { scroll: "bottom", times: 5 },
      { wait: "500ms" },
      { wait: { selector: ".row" } },
    ];

    expect(specOf({ actions }).actions).toEqual([
      { kind: "click", selector: ".more", times: 3, isOptional: false },
      { kind: "click", selector: "#ok", times: 1, isOptional: true },
      { kind: "fill", selector: "#q", text: "lamps" },
      { kind: "press", key: "Enter" },
      { kind: "scroll", times: 5 },
      { kind: "pause", ms: 500 },
      { kind: "await", selector: ".row" },
    ]);
  });

  it("load images for a screenshot or PDF, unless block is set", () => {
    expect(specOf({ screenshot: true })).toMatchObject({ screenshot: "page", block: ["media"] });
    expect(specOf({ screenshot: "view" })).toMatchObject({ screenshot: "view", block: ["media"] });
    expect(specOf({ pdf: true, block: ["image"] })).toMatchObject({ pdf: true, block: ["image"] });
    expect(specOf({ screenshot: false }).block).toEqual(PLAIN_BROWSER.block);
  });

  it.each([
    [
      "an unknown key",
      { browser: { waitfor: "load" } },
      /unknown key waitfor in browser; waitfor: did you mean browser\.waitFor\? known keys: waitFor, settle/,
    ],
    ["an unknown way to wait", { browser: { waitFor: "ready" } }, /browser.waitFor: takes "load", "idle"/],
    ["an unknown action", { browser: { actions: [{ hover: "a" }] } }, /browser.actions.0: takes \{ click/],
    [
      "an action with keys of two actions",
      { browser: { actions: [{ click: "a", scroll: "bottom" }] } },
      /browser.actions.0/,
    ],
    ["a wait that is too long", { browser: { settle: "1h" } }, /browser.settle: takes a duration from 0s to 10m/],
    ["a resource type that cannot be blocked", { browser: { block: ["document"] } }, /browser.block.0/],
    ["an unknown value of render", { render: "sometimes" }, /render: takes never, auto or always/],
  ])("refuse %s, with the accepted values", (_, job, message) => {
    expect(() => parseJob(job)).toThrow(message);
  });
});
