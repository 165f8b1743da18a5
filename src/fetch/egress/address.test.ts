import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isPublicAddress, isWithin, parseAddress, parseNetworks } from "./address.ts";

describe("isPublicAddress", () => {
  it.each([
    "0.0.0.0",
    "0.255.255.255",
    "10.0.0.1",
    "100.64.0.1",
    "100.127.255.255",
    "127.0.0.1",
    "127.255.255.254",
    "169.254.0.1",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.8",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.7",
    "203.0.113.9",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
  ])("refuses the special IPv4 address %s", (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each([
    "1.1.1.1",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.1",
    "169.253.255.255",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.1.0",
    "192.167.255.255",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
  ])("accepts %s, which is next to a special range", (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    ["the unspecified address", "::"],
    ["loopback", "::1"],
    ["mapped loopback", "::ffff:127.0.0.1"],
    ["mapped loopback in hex", "::ffff:7f00:1"],
    ["mapped metadata", "::ffff:a9fe:a9fe"],
    ["IPv4-compatible loopback", "::7f00:1"],
    ["translated loopback", "::ffff:0:7f00:1"],
    ["NAT64 of a private address", "64:ff9b::10.0.0.1"],
    ["NAT64 of metadata", "64:ff9b::a9fe:a9fe"],
    ["local-use NAT64", "64:ff9b:1::808:808"],
    ["6to4 of loopback", "2002:7f00:1::"],
    ["6to4 of a private address", "2002:c0a8:101::1"],
    ["Teredo", "2001:0:4136:e378:8000:63bf:3fff:fdd2"],
    ["benchmarks", "2001:2::1"],
    ["ORCHID", "2001:20::1"],
    ["documentation", "2001:db8::1"],
    ["newer documentation", "3fff::1"],
    ["discard-only", "100::1"],
    ["segment routing", "5f00::1"],
    ["unique local", "fc00::1"],
    ["unique local, locally assigned", "fd12:3456::1"],
    ["link-local", "fe80::1"],
    ["link-local with a zone", "fe80::1%eth0"],
    ["site-local", "fec0::1"],
    ["multicast", "ff02::1"],
  ])("refuses IPv6 %s (%s)", (_, address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each([
    "2606:4700:4700::1111",
    "2a00:1450:4001:81b::200e",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
    "2002:808:808::1",
    "[2606:4700::1]",
  ])("accepts %s", (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    "",
    "localhost",
    "127.1",
    "0x7f.1",
    "0177.0.0.1",
    "2130706433",
    "1.2.3.4.5",
    "256.1.1.1",
    "8.8.8.8/32",
    "1::2::3",
    ":1",
    "12345::",
  ])("refuses %j, which is not an address", (text) => {
    expect(isPublicAddress(text)).toBe(false);
  });

  it("gives every IPv4 address the same result in all its IPv6 forms", () => {
    const hex = (a: number, b: number): string => ((a << 8) | b).toString(16);
    fc.assert(
      fc.property(fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255)), ([a, b, c, d]) => {
        const expected = isPublicAddress(`${a}.${b}.${c}.${d}`);
        const tail = `${hex(a, b)}:${hex(c, d)}`;
        for (const form of [`::ffff:${tail}`, `::${tail}`, `::ffff:0:${tail}`, `64:ff9b::${tail}`, `2002:${tail}::1`]) {
          expect([form, isPublicAddress(form)]).toEqual([form, expected]);
        }
      }),
    );
  });
});

describe("other notations of an address", () => {
  it.each([
    ["http://0x7f.1/", "127.0.0.1"],
    ["http://2130706433/", "127.0.0.1"],
    ["http://0177.0.0.1/", "127.0.0.1"],
    ["http://127.1/", "127.0.0.1"],
    ["http://0xa9fea9fe/", "169.254.169.254"],
    ["http://①②⑦.⓪.⓪.①/", "127.0.0.1"],
    ["http://127.0.0.1./", "127.0.0.1"],
    ["http://[0:0:0:0:0:ffff:127.0.0.1]/", "[::ffff:7f00:1]"],
    ["http://[0000::0001]/", "[::1]"],
  ])("are normalized when %s is parsed as a URL", (url, host) => {
    expect(new URL(url).hostname).toBe(host);
    expect(isPublicAddress(new URL(url).hostname)).toBe(false);
  });
});

describe("parseAddress", () => {
  it("agrees with the URL parser on every IPv6 address", () => {
    fc.assert(
      fc.property(fc.ipV6(), (text) => {
        const parsed = parseAddress(text);
        expect(parsed).toHaveLength(16);
        expect(parseAddress(new URL(`http://[${text}]/`).hostname)).toEqual(parsed);
      }),
    );
  });

  it("reads back every IPv4 address", () => {
    fc.assert(
      fc.property(fc.ipV4(), (text) => {
        expect(parseAddress(text)?.join(".")).toBe(text);
      }),
    );
  });
});

describe("parseNetworks", () => {
  it("reads a list with blanks, bare addresses and both families", () => {
    const { networks, problems } = parseNetworks(" 127.0.0.0/8, 10.1.0.0/16,192.168.7.9 ,, fd00::/8,::1");
    expect(problems).toEqual([]);
    const inside = ["127.9.9.9", "10.1.255.255", "192.168.7.9", "fdff::1", "::1", "::ffff:10.1.2.3", "[::1]"];
    expect(inside.filter((address) => !isWithin(networks, address))).toEqual([]);
    const outside = ["128.0.0.1", "10.2.0.0", "192.168.7.8", "fc00::1", "::2", "64:ff9b::10.1.2.3", "nonsense"];
    expect(outside.filter((address) => isWithin(networks, address))).toEqual([]);
  });

  it("treats a mapped network as its IPv4 network", () => {
    const { networks } = parseNetworks("::ffff:10.0.0.0/104");
    expect(isWithin(networks, "10.200.0.1")).toBe(true);
  });

  it("accepts the networks of all addresses", () => {
    const { networks } = parseNetworks("0.0.0.0/0,::/0");
    expect(isWithin(networks, "8.8.8.8") && isWithin(networks, "ff02::1")).toBe(true);
  });

  it("reports every problem and returns the valid networks", () => {
    const { networks, problems } = parseNetworks(
      "10.0.0.0/8,localhost,10.0.0.0/33,10.1.2.3/8,::/129,1.2.3.4/,fd00::/x",
    );
    expect(networks).toHaveLength(1);
    expect(problems).toHaveLength(6);
    expect(problems[0]).toContain('"localhost"');
    expect(problems[1]).toContain("0 to 32");
    expect(problems[2]).toContain("10.1.2.3/8");
  });
});
