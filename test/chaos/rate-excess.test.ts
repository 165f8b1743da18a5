import { connect, type Socket } from "node:net";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { startOrigin } from "../site/origin.ts";
import { rateViolations } from "../site/politeness-checker.ts";
import { loggedExcessMs, rateExcessMs, watchIdleTime } from "./rate-excess.ts";

describe("the rate excess", () => {
  it("is the smallest tolerance at which the politeness checker finds no violation, if the log is exact", () => {
    const times = fc.array(fc.integer({ min: 0, max: 1000 }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(times, fc.integer({ min: 1, max: 500 }), (instants, perSecond) => {
        const excessMs = loggedExcessMs(
          instants.map((arrivedAt) => ({ arrivedAt, arrivedAfter: arrivedAt })),
          perSecond,
        );
        const violations = (toleranceMs: number) => rateViolations(instants, { perSecond, burst: 1, toleranceMs });

        expect(violations(excessMs + 0.01)).toEqual([]);
        if (excessMs > 0.01) expect(violations(excessMs - 0.01)).not.toEqual([]);
      }),
    );
  });

  it("is never larger when logging delays are considered, and is 0 if a delay explains it", () => {
    const arrival = fc
      .record({ arrivedAt: fc.integer({ min: 100, max: 1000 }), lateMs: fc.integer({ min: 0, max: 100 }) })
      .map(({ arrivedAt, lateMs }) => ({ arrivedAt, arrivedAfter: arrivedAt - lateMs }));
    fc.assert(
      fc.property(fc.array(arrival, { maxLength: 30 }), (arrivals) => {
        expect(rateExcessMs(arrivals, 100)).toBeLessThanOrEqual(loggedExcessMs(arrivals, 100));
      }),
    );
    const together = [0, 1, 2].map((nth) => ({ arrivedAt: 1030, arrivedAfter: 1000 + nth * 10 }));
    expect(loggedExcessMs(together, 100)).toBeCloseTo(20);
    expect(rateExcessMs(together, 100)).toBe(0);
  });
});

describe("the idle watch", () => {
  it("returns a time before the arrival of a request, however long the process was blocked", async () => {
    const idleWatch = watchIdleTime();
    const arrivedAfter: number[] = [];
    const origin = await startOrigin({}, { onArrival: () => void arrivedAfter.push(idleWatch.lastIdleAt()) });
    const port = Number(new URL(origin.url).port);
    const sockets = await Promise.all(Array.from({ length: 20 }, () => connected(port)));
    onTestFinished(async () => {
      idleWatch.stop();
      for (const socket of sockets) socket.destroy();
      await origin.close();
    });

    // All requests arrive at once, and then the process is blocked for a while.
    for (const socket of sockets) socket.write("GET / HTTP/1.1\r\nhost: test\r\n\r\n");
    const sentAt = performance.timeOrigin + performance.now();
    const busyUntil = performance.now() + 50;
    while (performance.now() < busyUntil);
    await origin.waitForRequests(sockets.length);

    expect(arrivedAfter).toHaveLength(sockets.length);
    expect(Math.max(...arrivedAfter)).toBeLessThanOrEqual(sentAt);
  });
});

function connected(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => resolve(socket)).on("error", reject);
  });
}
