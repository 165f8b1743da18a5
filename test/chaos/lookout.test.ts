import { connect, type Socket } from "node:net";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { startOrigin } from "../site/origin.ts";
import { rateViolations } from "../site/politeness-checker.ts";
import { keepLookout, loggedExcessMs, rateExcessMs } from "./lookout.ts";

describe("lookout", () => {
  it("finds the same in an exact log as the politeness checker", () => {
    const times = fc.array(fc.integer({ min: 0, max: 1000 }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(times, fc.integer({ min: 1, max: 500 }), (instants, perSecond) => {
        const excessMs = loggedExcessMs(
          instants.map((arrivedAt) => ({ arrivedAt, seenFrom: arrivedAt })),
          perSecond,
        );
        const violations = (toleranceMs: number) => rateViolations(instants, { perSecond, burst: 1, toleranceMs });

        expect(violations(excessMs + 0.01)).toEqual([]);
        if (excessMs > 0.01) expect(violations(excessMs - 0.01)).not.toEqual([]);
      }),
    );
  });

  it("never finds more in a log that may be late, and nothing that the delay explains", () => {
    const sighting = fc
      .record({ arrivedAt: fc.integer({ min: 100, max: 1000 }), lateMs: fc.integer({ min: 0, max: 100 }) })
      .map(({ arrivedAt, lateMs }) => ({ arrivedAt, seenFrom: arrivedAt - lateMs }));
    fc.assert(
      fc.property(fc.array(sighting, { maxLength: 30 }), (sightings) => {
        expect(rateExcessMs(sightings, 100)).toBeLessThanOrEqual(loggedExcessMs(sightings, 100));
      }),
    );
    const together = [0, 1, 2].map((nth) => ({ arrivedAt: 1030, seenFrom: 1000 + nth * 10 }));
    expect(loggedExcessMs(together, 100)).toBeCloseTo(20);
    expect(rateExcessMs(together, 100)).toBe(0);
  });

  it("returns a time before the arrival of a request, however long the process was blocked", async () => {
    const lookout = keepLookout();
    const seenFrom: number[] = [];
    const origin = await startOrigin({}, { onArrival: () => void seenFrom.push(lookout.seenFrom()) });
    const port = Number(new URL(origin.url).port);
    const sockets = await Promise.all(Array.from({ length: 20 }, () => connected(port)));
    onTestFinished(async () => {
      lookout.stop();
      for (const socket of sockets) socket.destroy();
      await origin.close();
    });

    // All requests arrive at once, and then the process is blocked for a while.
    for (const socket of sockets) socket.write("GET / HTTP/1.1\r\nhost: test\r\n\r\n");
    const sentAt = performance.timeOrigin + performance.now();
    const busyUntil = performance.now() + 50;
    while (performance.now() < busyUntil);
    await origin.waitForRequests(sockets.length);

    expect(seenFrom).toHaveLength(sockets.length);
    expect(Math.max(...seenFrom)).toBeLessThanOrEqual(sentAt);
  });
});

function connected(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => resolve(socket)).on("error", reject);
  });
}
