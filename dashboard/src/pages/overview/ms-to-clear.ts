const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** How long what waits for a site takes at its rate, such as `6/s` or `1 per 7s`; undefined where it has none. */
export function msToClear({ waiting, rate }: { waiting: number; rate: string }): number | undefined {
  const [, requests, periods = "1", unit = ""] = /^([\d.]+)(?:\/| per ([\d.]+))([smhd])$/.exec(rate) ?? [];
  const unitMs = UNIT_MS[unit];
  if (requests === undefined || unitMs === undefined) return undefined;
  return (waiting * Number(periods) * unitMs) / Number(requests);
}
