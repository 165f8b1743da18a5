/**
 * IP addresses as bytes: parsing, networks, and which addresses are public. Pure.
 *
 * Only canonical notations are parsed. The WHATWG URL parser has already converted all others (0x7f.1, 2130706433,
 * 0177.0.0.1). An address that cannot be parsed is never public.
 */

/** 4 bytes for IPv4, 16 for IPv6. */
type Address = Uint8Array;

export type Network = { base: Address; prefixBits: number };

/** Parses an address. Accepts brackets and a zone (`fe80::1%eth0`). */
export function parseAddress(text: string): Address | undefined {
  const bare = text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text;
  if (!bare.includes(":")) return parseV4(bare);
  const zone = bare.indexOf("%");
  return parseV6(zone === -1 ? bare : bare.slice(0, zone));
}

/**
 * Parses `127.0.0.0/8, 10.1.0.0/16, fd00::/8`. An address without a prefix length is a network of one address. Returns
 * problems, never throws.
 */
export function parseNetworks(text: string): { networks: readonly Network[]; problems: readonly string[] } {
  const networks: Network[] = [];
  const problems: string[] = [];
  for (const part of text.split(",").map((piece) => piece.trim())) {
    if (part === "") continue;
    const network = parseNetwork(part);
    if (typeof network === "string") problems.push(network);
    else networks.push(network);
  }
  return { networks, problems };
}

/** Whether an address is in one of the networks. A mapped address (`::ffff:10.0.0.1`) counts as its IPv4 address. */
export function isWithin(networks: readonly Network[], text: string): boolean {
  const address = parseAddress(text);
  if (address === undefined) return false;
  const plain = unmapped(address);
  return networks.some((network) => contains(network, plain));
}

/** True only for addresses that the public internet routes to a host. IPv4 inside IPv6 is checked as IPv4. */
export function isPublicAddress(text: string): boolean {
  const address = parseAddress(text);
  return address !== undefined && (address.length === 4 ? isPublicV4(address) : isPublicV6(address));
}

/** The entries of IANA's IPv4 special-purpose registry that are not globally reachable, and multicast. */
const SPECIAL_V4 = networksOf([
  "0.0.0.0/8", // this network
  "10.0.0.0/8", // private
  "100.64.0.0/10", // carrier-grade NAT
  "127.0.0.0/8", // loopback
  "169.254.0.0/16", // link-local; cloud metadata at 169.254.169.254
  "172.16.0.0/12", // private
  "192.0.0.0/24", // protocol assignments
  "192.0.2.0/24", // documentation
  "192.88.99.0/24", // 6to4 relays, withdrawn
  "192.168.0.0/16", // private
  "198.18.0.0/15", // benchmarks
  "198.51.100.0/24", // documentation
  "203.0.113.0/24", // documentation
  "224.0.0.0/4", // multicast
  "240.0.0.0/4", // reserved, and broadcast
]);

/**
 * The only part of IPv6 assigned to hosts. Loopback, unique local, link-local, site-local and multicast are outside.
 */
const GLOBAL_V6 = networkOf("2000::/3");

const SPECIAL_V6 = networksOf([
  "2001::/23", // protocol assignments: Teredo, benchmarks, ORCHID
  "2001:db8::/32", // documentation
  "3fff::/20", // documentation
]);

/** Prefixes with an IPv4 address inside, and the byte where it starts. */
const EMBEDDED_V4: readonly { network: Network; at: number }[] = [
  { network: networkOf("::/96"), at: 12 }, // IPv4-compatible; contains :: and ::1 too, as addresses in 0.0.0.0/8
  { network: networkOf("::ffff:0:0/96"), at: 12 }, // mapped
  { network: networkOf("::ffff:0:0:0/96"), at: 12 }, // translated
  { network: networkOf("64:ff9b::/96"), at: 12 }, // NAT64. The local-use prefix 64:ff9b:1::/48 is not global.
  { network: networkOf("2002::/16"), at: 2 }, // 6to4
];

function isPublicV4(address: Address): boolean {
  return !SPECIAL_V4.some((network) => contains(network, address));
}

function isPublicV6(address: Address): boolean {
  const embedded = EMBEDDED_V4.find(({ network }) => contains(network, address));
  if (embedded !== undefined) return isPublicV4(address.subarray(embedded.at, embedded.at + 4));
  return contains(GLOBAL_V6, address) && !SPECIAL_V6.some((network) => contains(network, address));
}

function parseV4(text: string): Address | undefined {
  const parts = text.split(".");
  if (parts.length !== 4) return undefined;
  const bytes = new Uint8Array(4);
  for (const [at, part] of parts.entries()) {
    // A leading zero is ambiguous: octal for some parsers, decimal for others.
    if (!/^(0|[1-9]\d{0,2})$/.test(part)) return undefined;
    const value = Number(part);
    if (value > 255) return undefined;
    bytes[at] = value;
  }
  return bytes;
}

function parseV6(text: string): Address | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const head = parseGroups(halves[0] ?? "", halves.length === 1);
  const tail = halves.length === 2 ? parseGroups(halves[1] ?? "", true) : [];
  if (head === undefined || tail === undefined) return undefined;
  const missing = 16 - head.length - tail.length;
  // "::" stands for at least one group of zeros.
  if (halves.length === 2 ? missing < 2 : missing !== 0) return undefined;
  return Uint8Array.from([...head, ...new Array<number>(missing).fill(0), ...tail]);
}

function parseGroups(text: string, mayEndInV4: boolean): number[] | undefined {
  if (text === "") return [];
  const groups = text.split(":");
  const bytes: number[] = [];
  for (const [at, group] of groups.entries()) {
    if (mayEndInV4 && at === groups.length - 1 && group.includes(".")) {
      const v4 = parseV4(group);
      if (v4 === undefined) return undefined;
      bytes.push(...v4);
    } else {
      if (!/^[0-9a-f]{1,4}$/i.test(group)) return undefined;
      const value = Number.parseInt(group, 16);
      bytes.push(value >> 8, value & 0xff);
    }
  }
  return bytes;
}

function parseNetwork(text: string): Network | string {
  const slash = text.indexOf("/");
  const address = parseAddress(slash === -1 ? text : text.slice(0, slash));
  if (address === undefined) return `"${text}" is not an IP address or network such as 10.1.0.0/16`;
  const widest = address.length * 8;
  const length = slash === -1 ? String(widest) : text.slice(slash + 1);
  const prefixBits = Number(length);
  if (!/^\d{1,3}$/.test(length) || prefixBits > widest) {
    return `"${text}" has an invalid prefix length; use 0 to ${widest}`;
  }
  // 10.1.2.3/8 is more likely a mistake for /32 than a request for 16 million addresses.
  if (!isBase(address, prefixBits))
    return `"${text}" has bits set after the first ${prefixBits}; use the first address of the network, or /${widest}`;
  const plain = unmapped(address);
  return plain.length === address.length || prefixBits < 96
    ? { base: address, prefixBits }
    : { base: plain, prefixBits: prefixBits - 96 };
}

function contains({ base, prefixBits }: Network, address: Address): boolean {
  if (base.length !== address.length) return false;
  const whole = prefixBits >> 3;
  for (let at = 0; at < whole; at++) if (base[at] !== address[at]) return false;
  const rest = prefixBits & 7;
  return rest === 0 || ((base[whole] ?? 0) ^ (address[whole] ?? 0)) >> (8 - rest) === 0;
}

function isBase(address: Address, prefixBits: number): boolean {
  return address.every((byte, at) => (byte & (0xff >> Math.min(8, Math.max(0, prefixBits - at * 8)))) === 0);
}

function unmapped(address: Address): Address {
  const isMapped = address.length === 16 && address.every((byte, at) => at >= 12 || byte === (at < 10 ? 0 : 0xff));
  return isMapped ? address.subarray(12) : address;
}

function networksOf(texts: readonly string[]): readonly Network[] {
  return texts.map(networkOf);
}

function networkOf(text: string): Network {
  const slash = text.indexOf("/");
  const base = parseAddress(text.slice(0, slash));
  if (base === undefined) throw new Error(`${text} in the table of networks does not parse`);
  return { base, prefixBits: Number(text.slice(slash + 1)) };
}
