/** Checks a PostgreSQL store: permissions, standby, fsync and connections. */
import { maskedUrl } from "../../config/connection-url.ts";
import type { Finding } from "../../frontier/frontier-admin.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Log } from "../../runtime/log.ts";
import type { PostgresHealth } from "../../store/postgres/health.ts";

export async function checkPostgres(
  url: string,
  deps: { clock: Clock; log: Log },
  options: { retryForMs: number },
): Promise<Finding[]> {
  // Imported on first use, like the store itself.
  const { readPostgresHealth } = await import("../../store/postgres/health.ts");
  return postgresFindings(maskedUrl(url), await readPostgresHealth(url, deps, options));
}

/** Above this share of used connections, the next worker may fail to connect. */
const CROWDED = 0.8;

function postgresFindings(shown: string, facts: PostgresHealth): Finding[] {
  const { version, canWrite, isStandby, fsync, connections, maxConnections } = facts;
  const check = "store";
  if (isStandby) {
    const message = `${shown} is a read-only standby`;
    return [{ check, verdict: "problem", message, fix: "set the primary in TRAWL_STORE" }];
  }
  if (!canWrite) {
    const fix = "grant this user SELECT, INSERT, UPDATE and DELETE on all tables of the schema";
    return [
      {
        check,
        verdict: "problem",
        message: `the user of ${shown} has no permission to read and write all tables`,
        fix,
      },
    ];
  }
  const findings: Finding[] = [
    { check, verdict: "ok", message: `${shown} (PostgreSQL ${version}) can be read and written` },
  ];
  if (!fsync) {
    const fix = "set fsync = on in the postgresql.conf of the server";
    findings.push({ check, verdict: "warning", message: "fsync is off: a power failure can corrupt the store", fix });
  }
  if (connections > maxConnections * CROWDED) {
    const message = `${connections} of ${maxConnections} connections are in use`;
    findings.push({
      check,
      verdict: "warning",
      message,
      fix: "raise max_connections, or run fewer processes; each process of Trawl uses up to 4 connections",
    });
  }
  return findings;
}
