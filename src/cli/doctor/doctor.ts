/** The `trawl doctor` command: runs all checks and prints the findings. */
import { openBroker } from "../../compose/app.ts";
import { maskedUrl } from "../../config/connection-url.ts";
import { loadConfig } from "../../config/load.ts";
import type { Config } from "../../config/schema.ts";
import { plural } from "../../domain/format-number.ts";
import type { Frontier } from "../../frontier/frontier.ts";
import type { Finding, FrontierAdmin } from "../../frontier/frontier-admin.ts";
import { livingWorkers } from "../../frontier/worker-facts.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createLog } from "../../runtime/log.ts";
import { VERSION } from "../../version.ts";
import type { ConnectionFlags } from "../session.ts";
import { processScreen } from "../terminal.ts";
import { checkFleet } from "./check-fleet.ts";
import { checkProxies } from "./check-proxies.ts";
import { checkBodies, checkStore, findingOf } from "./check-storage.ts";
import { showFindings } from "./show-findings.ts";

/** An unavailable broker is reported after this time, because the user is waiting. */
const TIMEOUT_MS = 5_000;
const MAX_JOBS = 1000;

/** Runs the command. Resolves with the exit code. */
export async function doctor(flags: ConnectionFlags): Promise<number> {
  const config = await loadConfig({ broker: flags.broker, store: flags.store }, process.cwd());
  const findings = [
    ...(await checkBroker(config)),
    ...(await checkStore(config)),
    await checkBodies(config),
    ...checkProxies(config),
  ];
  const [problems, warnings] = (["problem", "warning"] as const).map(
    (verdict) => findings.filter((finding) => finding.verdict === verdict).length,
  ) as [number, number];
  const screen = processScreen();
  if (flags.json === true) {
    await screen.out(`${JSON.stringify({ healthy: problems === 0, problems, warnings, findings })}\n`);
  } else {
    await screen.out(showFindings(findings, screen));
    screen.err(`${plural(problems, "problem")}, ${plural(warnings, "warning")}\n`);
  }
  return problems > 0 ? 1 : 0;
}

/** Checks the broker and, if it is available, the fleet. */
async function checkBroker(config: Config): Promise<Finding[]> {
  const limited = { ...config, brokerRetryForMs: Math.min(config.brokerRetryForMs, TIMEOUT_MS) };
  // The finding reports connection errors; log lines would repeat them.
  const deps = { clock: systemClock(), log: createLog("silent", () => {}) };
  let frontier: (Frontier & FrontierAdmin) | undefined;
  try {
    frontier = await openBroker(limited, deps);
    const reached: Finding = { check: "broker", verdict: "ok", message: `${maskedUrl(config.broker)} is available` };
    return [reached, ...(await frontier.examine()), ...(await fleetFindings(frontier, config))];
  } catch (error) {
    return [findingOf("broker", error)];
  } finally {
    await frontier?.close();
  }
}

async function fleetFindings(frontier: FrontierAdmin, { store }: Config): Promise<Finding[]> {
  const [workers, queues, jobs] = await Promise.all([
    frontier.listWorkers(),
    frontier.listQueues(),
    frontier.listJobs(MAX_JOBS),
  ]);
  const storeFile = store.startsWith("sqlite:") ? store : undefined;
  return checkFleet({ workers: livingWorkers(workers), queues, jobs, storeFile, version: VERSION });
}
