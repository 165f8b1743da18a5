/** Parses the output of `tcpdump -tt -n -q` for requests of HTTP clients. Pure; shares no code with src/. */

const LINE = /^(\d+)\.(\d{9}) IP [\d.]+\.(\d+) > (\d+\.\d+\.\d+\.\d+)\.\d+: tcp (\d+)/;

/**
 * One entry per request, in the format of the access log, with the time at which the kernel sent the packet. A request
 * fits into one packet on loopback, and clients send no other packets with data. `baseS` is subtracted from the
 * seconds: a double cannot hold an epoch time in nanoseconds.
 */
export function parsePackets(text, baseS = 0) {
  const requests = [];
  for (const line of text.split("\n")) {
    const [, seconds, nanos, clientPort, site, bytes] = LINE.exec(line) ?? [];
    if (seconds === undefined || bytes === "0") continue;
    requests.push({ site, startedAt: (Number(seconds) - baseS) * 1_000 + Number(nanos) / 1e6, clientPort });
  }
  return requests;
}

/** The number of packets that the capture lost, from the stderr of tcpdump; they may hide requests. */
export function parseDropped(stderr) {
  return Number(/^(\d+) packets dropped by kernel/m.exec(stderr)?.[1] ?? 0);
}
