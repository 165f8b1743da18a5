/** A page cannot reach an address that the egress gate refuses. Uses a real Chromium and real listeners. */
import { afterEach, describe, expect, it } from "vitest";
import { launchBrowser } from "../../src/fetch/browser/launch-browser.ts";
import { parseNetworks } from "../../src/fetch/egress/address.ts";
import { createEgressGate } from "../../src/fetch/egress/gate.ts";
import { waitUntil } from "../services/wait-until.ts";
import { BROWSERS, LAUNCH } from "./chromium.ts";
import { listenForbidden, pageOf, REQUEST_KINDS, serveAllowed } from "./page-requests.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

for (const { name, executablePath } of BROWSERS) {
  describe.skipIf(executablePath === undefined)(`a page in ${name}`, () => {
    it.each([
      ["an address", (port: number) => `http://127.0.0.2:${port}`],
      ["a name that resolves to it", (port: number) => `http://forbidden.test:${port}`],
      ["the name localhost", (port: number) => `http://localhost:${port}`],
    ])("does not reach a forbidden host by %s, although it tries every kind of request", async (_, forbiddenAt) => {
      const forbidden = await listenForbidden(cleanups);
      const at = forbiddenAt(forbidden.port);
      const allowed = await serveAllowed(cleanups, (own) => pageOf(own, at));
      const { context, proxy } = await openBrowser(executablePath ?? "");
      const page = await context.newPage();
      await page.goto(proxy.welcomeUrl);

      await page.goto(`${allowed.origin}/`);

      const missing = () => Object.keys(REQUEST_KINDS).filter((name) => !allowed.seen.has(`/${name}`));
      await waitUntil(() => missing().length === 0, 20_000);
      expect(missing()).toEqual([]); // proves that the page really sends every kind of request
      const wanted = Object.keys(REQUEST_KINDS).length;
      await waitUntil(() => proxy.counts().refused >= wanted, 20_000);
      expect(proxy.counts().refused).toBeGreaterThanOrEqual(wanted);
      expect(forbidden.arrivals).toEqual([]);
    });
  });
}

async function openBrowser(executablePath: string) {
  const gate = createEgressGate(
    { lookup: async () => ["127.0.0.2"] },
    { allowNetworks: parseNetworks("127.0.0.1").networks, allowHosts: [], connectMs: 5_000 },
  );
  const launched = await launchBrowser(gate, { ...LAUNCH, executablePath }, new AbortController().signal);
  cleanups.push(launched.end);
  return { context: await launched.browser.newContext(), proxy: launched.proxy };
}
