import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arrivalAfter, type Term } from "../../domain/politeness.ts";
import { NO_RESPONSES } from "../../domain/throttling.ts";
import { SitePacer } from "./site-pacer.ts";

const NOW = 1_750_000_000_000;

function aTerm(parts: Partial<Term> = {}): Term {
  return {
    ...{ site: "a.test", number: 1, intervalMs: 100, burst: 1, concurrent: 4 },
    ...{ slowdown: 1, throttling: NO_RESPONSES },
    ...{ startsAt: NOW, endsAt: NOW + 2000, arrivalAt: 0, ...parts },
  };
}

function pacerOf(term: Term, slowdown = 1): SitePacer {
  return new SitePacer(term, { slowdown: () => slowdown, report: () => ({ slowdown, slowdownCause: undefined }) });
}

describe("the pacer of a site", () => {
  it("lets nothing leave before the term starts, nor shortly before it ends", () => {
    const pacer = pacerOf(aTerm({ startsAt: NOW + 30 }));
    expect(pacer.trySend(NOW + 29)).toBe(false);
    expect(pacer.trySend(NOW + 30)).toBe(true);
    expect(pacer.trySend(NOW + 1951)).toBe(false);
    expect(pacer.trySend(NOW + 1950)).toBe(true);
  });

  it("counts a request from the time when its bytes were written, not from the check before", () => {
    const pacer = pacerOf(aTerm());
    pacer.trySend(NOW + 0.5);
    pacer.left(NOW + 7);
    expect(pacer.readyAt()).toBeCloseTo(NOW + 106.2, 3);
  });

  it("applies a crawl-delay at once, counted from the last request", () => {
    const pacer = pacerOf(aTerm({ burst: 3 }));
    pacer.trySend(NOW);
    pacer.slowDown(5000);
    expect(pacer.readyAt()).toBeCloseTo(NOW + 5000 - 0.8, 0);
    expect(pacer.returned(0)).toMatchObject({ intervalMs: 5000, burst: 1 });
  });

  it("continues under another term where the last one ended", () => {
    const pacer = pacerOf(aTerm());
    pacer.trySend(NOW + 1900);
    pacer.renew(aTerm({ number: 2, arrivalAt: NOW + 100, startsAt: NOW + 1910, endsAt: NOW + 3910 }));
    expect(pacer.readyAt()).toBeCloseTo(NOW + 1999.2, 3);
    expect(pacer.returned(2)).toMatchObject({ number: 2, unstarted: 2 });
  });

  it("starts one request at a time, and another one if the first needs long to connect", () => {
    const pacer = pacerOf(aTerm());
    pacer.expect(NOW);
    expect([pacer.isExpecting, pacer.startAt()]).toEqual([true, NOW + 100]);
    pacer.unexpect();
    expect(pacer.startAt()).toBe(NOW);
  });

  it("spaces requests by the slowdown, and returns the rate of the term with the actual arrival time", () => {
    const pacer = pacerOf(aTerm(), 2.5);
    expect(pacer.trySend(NOW)).toBe(true);
    expect(pacer.readyAt()).toBeCloseTo(NOW + 249.2, 3);
    expect(pacer.returned(0)).toMatchObject({ intervalMs: 100, burst: 1, slowdown: 2.5 });
    expect(pacer.returned(0).arrivalAt).toBeCloseTo(NOW + 249.2, 3);
  });

  it("sends nothing after its term was ended", () => {
    const pacer = pacerOf(aTerm());
    pacer.end(NOW + 10);
    expect(pacer.trySend(NOW + 10.1)).toBe(false);
  });

  it("never sends earlier than at the full rate, however the slowdown changes", () => {
    const steps = fc.array(fc.tuple(fc.double({ min: 0, max: 300, noNaN: true }), fc.constantFrom(1, 1.25, 4, 16)));
    fc.assert(
      fc.property(steps, fc.constantFrom(1, 3), (attempts, burst) => {
        let slowdown = 1;
        const report = () => ({ slowdown, slowdownCause: undefined });
        const term = aTerm({ burst, endsAt: NOW + 1e9 });
        const slowed = new SitePacer(term, { slowdown: () => slowdown, report });
        const full = pacerOf(term);
        let at = NOW;
        for (const [gap, next] of attempts) {
          at += gap;
          if (slowed.trySend(at)) expect(full.trySend(at)).toBe(true);
          slowdown = next;
        }
      }),
    );
  });

  const attempts = fc.array(fc.double({ min: 0, max: 60, noNaN: true }), { minLength: 2, maxLength: 200 });

  it("keeps the gaps and the rate, however late and irregular the attempts to send are", () => {
    fc.assert(
      fc.property(attempts, fc.constantFrom(1, 3.3, 25, 100), (gaps, intervalMs) => {
        const sends = sendAt(gaps, pacerOf(aTerm({ intervalMs, burst: 1, endsAt: NOW + 1e9 })));
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
        const sends = sendAt(gaps, pacerOf(aTerm({ intervalMs, burst, endsAt: NOW + 1e9 })));
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
    const pacer = pacerOf(aTerm({ intervalMs: 10, burst: 1 }));
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
