import { describe, expect, it } from "vitest";
import { createFakeClock } from "./fake-clock.ts";
import { ANY_TIME, type OpenFetcher, pageText, useHarness } from "./harness.ts";
import { always } from "./misbehaving-server.ts";

const NOW = 1_000_000;
const LAPSED = { sendAt: NOW - 100, sendBy: NOW - 50, arrivalAt: NOW };

export function describeSlots(open: OpenFetcher): void {
  const harness = useHarness(open);

  describe("slots", () => {
    it("sends nothing before the slot begins", async () => {
      const clock = createFakeClock(NOW);
      const { server, get } = await harness({ clock });
      server.on("/page", always({ body: "page" }));
      const fetching = get("/page", { slot: { sendAt: NOW + 40, sendBy: NOW + 50, arrivalAt: 0 } });

      expect(await clock.asleep()).toBe(NOW + 40);
      expect([server.connections.length, server.requests.length]).toEqual([0, 0]);
      clock.advance(39);
      await new Promise(setImmediate);
      expect(server.requests).toHaveLength(0);
      clock.advance(1);

      expect(pageText(await fetching)).toBe("page");
    });

    it("opens the connection one second before a distant slot, and sends the request within the slot", async () => {
      const clock = createFakeClock(NOW);
      const { server, get, spent } = await harness({ clock });
      server.on("/page", always({ body: "page" }));
      const fetching = get("/page", { slot: { sendAt: NOW + 60_000, sendBy: NOW + 60_010, arrivalAt: 0 } });

      expect(await clock.asleep()).toBe(NOW + 59_000);
      expect(server.connections).toHaveLength(0);
      clock.advance(59_000);
      expect(await clock.asleep()).toBe(NOW + 60_000);
      expect([server.connections.length, server.requests.length]).toEqual([1, 0]);
      clock.advance(1_000);

      expect(pageText(await fetching)).toBe("page");
      expect([server.connections.length, spent.length]).toEqual([1, 0]);
    });

    it("exchanges a lapsed slot for a new one, and sends the request once, on the same connection", async () => {
      const clock = createFakeClock(NOW);
      const { server, get, spent } = await harness({ clock, slots: [LAPSED, ANY_TIME] });
      server.on("/page", always({ body: "page" }));
      await get("/page");

      expect(pageText(await get("/page", { slot: LAPSED }))).toBe("page");

      const site = new URL(server.origin).host;
      expect(spent).toEqual([
        { site, unused: LAPSED },
        { site, unused: LAPSED },
      ]);
      expect(server.requests).toHaveLength(2);
      expect(server.connections).toHaveLength(1);
    });

    it("exchanges a slot that lapses while the connection is opened", async () => {
      const { server, get, spent } = await harness({ clock: createFakeClock(NOW) });
      server.on("/page", always({ body: "page" }));
      expect(pageText(await get("/page", { slot: LAPSED }))).toBe("page");
      expect([server.requests.length, server.connections.length, spent.length]).toEqual([1, 1, 1]);
    });

    it("exchanges lapsed slots at once, then once per second, then returns a retry outcome", async () => {
      const clock = createFakeClock(NOW);
      const { server, get, spent } = await harness({ clock, slots: Array.from({ length: 100 }, () => LAPSED) });
      const outcome = get("/page", { slot: LAPSED });
      const pauses: number[] = [];
      while (pauses.length < 50) {
        pauses.push((await clock.asleep()) - clock.now());
        clock.advance(pauses.at(-1) ?? 0);
      }
      expect(await outcome).toMatchObject({ kind: "retry", because: "network" });
      expect(server.requests).toHaveLength(0);
      expect(spent).toHaveLength(100);
      expect([pauses[0], pauses.at(-1)]).toEqual([1000, 1000]);
    });

    it("keeps the slots of concurrent requests separate", async () => {
      const { server, get, spent } = await harness({ clock: createFakeClock(NOW) });
      server.on("/page", always({ body: "page" }));
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          get("/page", { slot: n % 2 === 0 ? ANY_TIME : { ...LAPSED, arrivalAt: n } }),
        ),
      );
      expect(outcomes.map(({ kind }) => kind)).toEqual(Array.from({ length: 20 }, () => "page"));
      expect(server.requests).toHaveLength(20);
      const returned = spent.map(({ unused }) => unused?.arrivalAt).sort((a = 0, b = 0) => a - b);
      expect(returned).toEqual([1, 3, 5, 7, 9, 11, 13, 15, 17, 19]);
    });
  });
}
