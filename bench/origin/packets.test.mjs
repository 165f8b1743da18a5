import { describe, expect, it } from "vitest";
import { judgeGaps } from "./judge-requests.mjs";
import { parseDropped, parsePackets } from "./packets.mjs";

const TEXT = `1700000000.100000001 IP 127.0.0.1.45678 > 127.0.1.7.18080: tcp 180
1700000000.349500001 IP 127.0.0.1.45680 > 127.0.1.7.18080: tcp 95
1700000000.349600001 IP 127.0.0.1.45682 > 127.0.1.8.18080: tcp 95
1700000000.400000000 IP 127.0.0.1.45682 > 127.0.1.8.18080: tcp 0
`;

describe("captured packets", () => {
  it("become one request per packet with data, with nanoseconds, by the address of the site", () => {
    const requests = parsePackets(TEXT, 1_700_000_000);

    expect(requests.map(({ site }) => site)).toEqual(["127.0.1.7", "127.0.1.7", "127.0.1.8"]);
    expect(requests[0].startedAt).toBeCloseTo(100.000001, 9);
    expect(judgeGaps(requests, { intervalMs: 250, resolutionMs: 0 })).toMatchObject({ gaps: 1, short: 0 });
    expect(judgeGaps(requests, { intervalMs: 251, resolutionMs: 0 })).toMatchObject({ gaps: 1, short: 1 });
  });

  it("ignores lines of another format", () => {
    expect(parsePackets("reading from file x.pcap\n\n")).toEqual([]);
  });

  it("reports how many packets the kernel dropped", () => {
    expect(parseDropped("3 packets captured\n6 packets received by filter\n12 packets dropped by kernel\n")).toBe(12);
    expect(parseDropped("")).toBe(0);
  });
});
