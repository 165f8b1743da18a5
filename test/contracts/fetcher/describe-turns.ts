import { describe, expect, it } from "vitest";
import { type OpenFetcher, pageText, useHarness } from "./harness.ts";
import { always } from "./misbehaving-server.ts";

export function describeTurns(open: OpenFetcher): void {
  const harness = useHarness(open);

  describe("turns", () => {
    it("opens no connection before its turn, and sends one request in it", async () => {
      let begin = () => {};
      const turn = new Promise<void>((resolve) => {
        begin = resolve;
      });
      const { server, get, calls } = await harness({ allowance: { turn: () => turn } });
      server.on("/page", always({ body: "page" }));
      const fetching = get("/page");
      await new Promise(setImmediate);
      expect([server.connections.length, server.requests.length]).toEqual([0, 0]);

      begin();

      expect(pageText(await fetching)).toBe("page");
      const site = new URL(server.origin).host;
      expect(calls).toEqual({ turn: [site], trySend: [site], unsent: [] });
    });

    it("withdraws a request that must not leave, and sends it in its next turn on the same connection", async () => {
      const answers = [false, false, true];
      const { server, get, calls } = await harness({ allowance: { trySend: () => answers.shift() ?? true } });
      server.on("/page", always({ body: "page" }));

      expect(pageText(await get("/page"))).toBe("page");

      expect([server.requests.length, server.connections.length]).toEqual([1, 1]);
      expect([calls.turn.length, calls.unsent.length]).toEqual([3, 2]);
    });

    it("returns a retry outcome for a request that may not leave in any of its turns", async () => {
      const { server, get, calls } = await harness({ allowance: { trySend: () => false } });

      expect(await get("/page")).toMatchObject({ kind: "retry", because: "network" });

      expect(server.requests).toHaveLength(0);
      expect(calls.turn).toHaveLength(101);
    });

    it("reports that it sends nothing if it cannot connect or is aborted in its turn", async () => {
      const { server, get, calls, fetcher } = await harness();
      const controller = new AbortController();
      const site = new URL(server.origin).host;
      const { url, ...rest } = { url: "http://127.0.0.1:1/", site, headers: {}, signal: controller.signal };
      await fetcher.fetch({ url, ...rest, limits: { bodyBytes: 1, totalMs: 5_000, idleMs: 5_000 } });
      expect(calls.unsent.length).toBeGreaterThan(0);

      const before = calls.unsent.length;
      controller.abort(new Error("aborted"));
      await expect(get("/page", { signal: controller.signal })).rejects.toThrow("aborted");
      expect(calls.unsent).toHaveLength(before + 1);
      expect(server.requests).toHaveLength(0);
    });

    it("fails with the error of a turn that cannot be granted", async () => {
      const lost = new Error("the broker is lost");
      const { server, get } = await harness({ allowance: { turn: () => Promise.reject(lost) } });
      await expect(get("/page")).rejects.toBe(lost);
      expect(server.connections).toHaveLength(0);
    });
  });
}
