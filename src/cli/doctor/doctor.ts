/** Looks at everything, and prints what was found. */
import { openBroker } from "../../compose.ts";
import { loadConfig } from "../../config/load.ts";
import { shownPlace } from "../../config/place.ts";
import type { Config } from "../../config/schema.ts";
import { plural } from "../../domain/counted.ts";
import type { Frontier } from "../../frontier/frontier.ts";
import type { Finding, FrontierAdmin } from "../../frontier/frontier-admin.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createLog } from "../../runtime/log.ts";
import { VERSION } from "../../version.ts";
import type { PlaceFlags } from "../session.ts";
import { processScreen } from "../terminal.ts";
import { checkFleet } from "./check-fleet.ts";
import { checkBodies, checkStore, troubleWith } from "./check-places.ts";
import { showFindings } from "./show-findings.ts";

/** Somebody is waiting for the answer, and "not there" is one. */
const PATIENCE_MS = 5_000;
const JOBS_LOOKED_AT = 1000;

/** The answer is the exit code. */
export async function doctor(flags: PlaceFlags): Promise<number> {
  const config = await loadConfig({ broker: flags.broker, store: flags.store }, process.cwd());
  const findings = [...(await checkBroker(config)), ...(await checkStore(config)), await checkBodies(config)];
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

/** The broker itself, and, if it can be asked, who works on it. */
async function checkBroker(config: Config): Promise<Finding[]> {
  const patient = { ...config, brokerPatienceMs: Math.min(config.brokerPatienceMs, PATIENCE_MS) };
  // Its complaints while connecting would only say what the finding says.
  const deps = { clock: systemClock(), log: createLog("silent", () => {}) };
  let frontier: (Frontier & FrontierAdmin) | undefined;
  try {
    frontier = await openBroker(patient, deps);
    const reached: Finding = { check: "broker", verdict: "ok", says: `${shownPlace(config.broker)} is there` };
    return [reached, ...(await frontier.examine()), ...(await fleetFindings(frontier, config))];
  } catch (error) {
    return [troubleWith("broker", error)];
  } finally {
    await frontier?.close();
  }
}

async function fleetFindings(frontier: FrontierAdmin, { store }: Config): Promise<Finding[]> {
  const [workers, queues, jobs] = await Promise.all([
    frontier.listWorkers(),
    frontier.listQueues(),
    frontier.listJobs(JOBS_LOOKED_AT),
  ]);
  const storeFile = store.startsWith("sqlite:") ? store : undefined;
  return checkFleet({ workers, queues, jobs, storeFile, version: VERSION });
}
