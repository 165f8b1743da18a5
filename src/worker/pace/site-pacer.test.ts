import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arrivalAfter, type Term } from "../../domain/politeness.ts";
import { SitePacer } from "./site-pacer.ts";

const NOW = 1_750_000_000_000;

function aTerm(parts: Partial<Term> = {}): Term {
  return {
    ...{ site: "a.test", number: 1, intervalMs: 100, burst: 1, concurrent: 4 },
    ...{ startsAt: NOW, endsAt: NOW + 2000, arrivalAt: 0, ...parts },
  };
}

describe("the pacer of a site", () => {
  it("lets nothing leave before the term starts, nor shortly before it ends", () => {
    const pacer = new SitePacer(aTerm({ startsAt: NOW + 30 }));
    expect(pacer.trySend(NOW + 29)).toBe(false);
    expect(pacer.trySend(NOW + 30)).toBe(true);
    expect(pacer.trySend(NOW + 1951)).toBe(false);
    expect(pacer.trySend(NOW + 1950)).toBe(true);
  });

  it("counts a request from the time when its bytes were written, not from the check before", () => {
    const pacer = new SitePacer(aTerm());
    pacer.trySend(NOW + 0.5);
    pacer.left(NOW + 7);
    expect(pacer.readyAt()).toBeCloseTo(NOW + 106.2, 3);
  });

  it("applies a crawl-delay at once, counted from the last request", () => {
    const pacer = new SitePacer(aTerm({ burst: 3 }));
    pacer.trySend(NOW);
    pacer.slowDown(5000);
    expect(pacer.readyAt()).toBeCloseTo(NOW + 5000 - 0.8, 0);
    expect(pacer.returned(0)).toMatchObject({ intervalMs: 5000, burst: 1 });
  });

  it("continues under another term where the last one ended", () => {
    const pacer = new SitePacer(aTerm());
    pacer.trySend(NOW + 1900);
    pacer.renew(aTerm({ number: 2, arrivalAt: NOW + 100, startsAt: NOW + 1910, endsAt: NOW + 3910 }));
    expect(pacer.readyAt()).toBeCloseTo(NOW + 1999.2, 3);
    expect(pacer.returned(2)).toMatchObject({ number: 2, unstarted: 2 });
  });

  it("starts one request at a time, and another one if the first needs long to connect", () => {
    const pacer = new SitePacer(aTerm());
    pacer.expect(NOW);
    expect([pacer.isExpecting, pacer.startAt()]).toEqual([true, NOW + 100]);
    pacer.unexpect();
    expect(pacer.startAt()).toBe(NOW);
  });

  const attempts = fc.array(fc.double({ min: 0, max: 60, noNaN: true }), { minLength: 2, maxLength: 200 });

  it("keeps the gaps and the rate, however late and irregular the attempts to send are", () => {
    fc.assert(
      fc.property(attempts, fc.constantFrom(1, 3.3, 25, 100), (gaps, intervalMs) => {
        const sends = sendAt(gaps, new SitePacer(aTerm({ intervalMs, burst: 1, endsAt: NOW + 1e9 })));
        for (const [nth, sentAt] of sends.entries()) {
          const before = sends[nth - 1];
          if (before !== undefined) expect(sentAt - before).toBeGreaterThanOrEqual(intervalMs - 0.8 - 1e-3);
          for (const [first, firstAt] of sends.slice(0, nth).entries()) {
            expect(sentAt - firstAt).toBeGreaterThanOrEqual((nth - first) * intervalMs - 20 - 1e-3);
          }
        }
      }),
    );
  });

  it("keeps the rate of bursts, however late and irregular the attempts to send are", () => {
    fc.assert(
      fc.property(attempts, fc.constantFrom(1, 3.3, 25, 100), fc.constantFrom(2, 3), (gaps, intervalMs, burst) => {
        const sends = sendAt(gaps, new SitePacer(aTerm({ intervalMs, burst, endsAt: NOW + 1e9 })));
        let arrivalAt = 0;
        for (const [nth, sentAt] of sends.entries()) {
          // No request leaves before the rate allows it, if every request before it had left as early as it may count.
          expect(sentAt).toBeGreaterThanOrEqual(arrivalAt - (burst - 1) * intervalMs - 1e-3);
          arrivalAt = arrivalAfter(sentAt - 0.8, arrivalAt, { intervalMs, burst });
          const first = sends[nth - burst];
          if (first !== undefined) expect(sentAt - first).toBeGreaterThanOrEqual(intervalMs - 0.8 - 1e-3);
        }
      }),
    );
  });

  it("makes up for a late request with shorter gaps, also in the next term of another worker", () => {
    const pacer = new SitePacer(aTerm({ intervalMs: 10, burst: 1 }));
    expect(pacer.trySend(NOW)).toBe(true);
    expect(pacer.trySend(NOW + 15)).toBe(true); // 5 ms late
    expect(pacer.readyAt()).toBeCloseTo(NOW + 15 + 9.2, 3);
    expect(pacer.returned(0).arrivalAt).toBeCloseTo(NOW + 15 + 9.2, 3);
    expect(pacer.trySend(NOW + 24.2)).toBe(true);
    expect(pacer.readyAt()).toBeCloseTo(NOW + 24.2 + 9.2, 3);
  });
});

function sendAt(gaps: readonly number[], pacer: SitePacer): number[] {
  const sends: number[] = [];
  let at = NOW;
  for (const gap of gaps) {
    at += gap;
    if (pacer.trySend(at)) sends.push(at);
  }
  return sends;
}
