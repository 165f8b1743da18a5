/** Parses the access log of the origin. Pure; shares no code with src/. */

/**
 * One request per line: `$msec $request_time $server_addr $status $request_method $request_uri`. nginx writes the line
 * when the response ends, so the start is computed. Both times have a resolution of 1 ms.
 */
export function parseAccessLog(text) {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [msec, requestTime, site, status, method, ...path] = line.split(" ");
      const endedAt = Number(msec) * 1_000;
      return {
        site,
        startedAt: endedAt - Number(requestTime) * 1_000,
        endedAt,
        status: Number(status),
        method,
        path: path.join(" "),
      };
    });
}
