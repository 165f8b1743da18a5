import { expect, it } from "vitest";
import type { Exit } from "../../domain/exit.ts";
import { figuresOf } from "./figures.ts";
import { afterResult, type ExitResult, type Health, NO_HEALTH } from "./health.ts";
import { ALL_SITES } from "./health-codec.ts";

const NOW = Date.parse("2026-01-31T12:00:00Z");

it("shows until when the proxies of a provider are ejected at a site", () => {
  const site = new Map([
    ["one", healthAfter("blocked", "blocked")],
    ["two", healthAfter("ok")],
    ["three", healthAfter("ok")],
  ]);
  const everywhere = new Map([["three", healthAfter("down", "down")]]);
  const exits = ["one", "two", "three"].map(exitOf);

  const figures = figuresOf(
    new Map([
      ["a.example", site],
      [ALL_SITES, everywhere],
    ]),
    exits,
    NOW,
  );

  expect(figures.providers).toMatchObject([
    // The ejection after failures of the proxy itself lasts 5 s, after blocks 30 s.
    { provider: "acme", site: "a.example", proxies: 3, ejected: 2, ejectedUntil: "2026-01-31T12:00:05.000Z" },
  ]);
  expect(figures.proxies).toMatchObject([
    { id: "one", state: "healthy", ejectedUntil: null, ejectedAt: ["a.example"] },
    { id: "two", state: "healthy", ejectedUntil: null, ejectedAt: [] },
    { id: "three", state: "ejected", ejectedUntil: "2026-01-31T12:00:05.000Z", ejectedAt: [] },
  ]);
  expect(figuresOf(new Map([["a.example", site]]), exits, NOW + 60_000).providers).toMatchObject([
    { ejected: 0, ejectedUntil: null },
  ]);
});

function healthAfter(...kinds: ExitResult["kind"][]): Health {
  return kinds.reduce((health, kind) => afterResult(health, { kind, tookMs: 10, bytes: 100, cost: 1 }, NOW), NO_HEALTH);
}

function exitOf(id: string): Exit {
  const url = `http://${id}.example:8080`;
  return {
    ...{ id, kind: "http", label: url, url, username: "", password: "", tags: ["acme"], provider: "acme" },
    ...{ region: undefined, cost: 1, costPerGb: 0, resolve: "here" },
  };
}
