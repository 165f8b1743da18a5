/** Looks at a PostgreSQL store that could be opened: may it be written, does it keep what it says it has kept? */
import { shownPlace } from "../../config/place.ts";
import type { Finding } from "../../frontier/frontier-admin.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Log } from "../../runtime/log.ts";
import type { PostgresFacts } from "../../store/postgres/examine.ts";

export async function checkPostgres(
  url: string,
  deps: { clock: Clock; log: Log },
  options: { patienceMs: number },
): Promise<Finding[]> {
  // Loaded on first use, as the store itself is.
  const { examinePostgres } = await import("../../store/postgres/examine.ts");
  return postgresFindings(shownPlace(url), await examinePostgres(url, deps, options));
}

/** Past this share of all connections, the next worker may find none. */
const CROWDED = 0.8;

export function postgresFindings(shown: string, facts: PostgresFacts): Finding[] {
  const { version, canWrite, isStandby, fsync, connections, mostConnections } = facts;
  const check = "store";
  if (isStandby) {
    const says = `${shown} is a standby, which takes no writes`;
    return [{ check, verdict: "problem", says, fix: "name the primary in TRAWL_STORE" }];
  }
  if (!canWrite) {
    const fix = "give its user SELECT, INSERT, UPDATE and DELETE on all tables of its schema";
    return [{ check, verdict: "problem", says: `${shown} may not be written by its user`, fix }];
  }
  const findings: Finding[] = [
    { check, verdict: "ok", says: `${shown} (PostgreSQL ${version}) can be read and written` },
  ];
  if (!fsync) {
    const fix = "set fsync = on in its postgresql.conf";
    findings.push({ check, verdict: "warning", says: "fsync is off: a power cut may damage the whole store", fix });
  }
  if (connections > mostConnections * CROWDED) {
    const says = `${connections} of its ${mostConnections} connections are taken`;
    findings.push({ check, verdict: "warning", says, fix: "raise max_connections: a process may take up to 4" });
  }
  return findings;
}
