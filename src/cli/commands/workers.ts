/** `trawl workers`: lists the workers of a broker, and drains or recycles them. */
import type { Command } from "commander";
import { plural } from "../../domain/format-number.ts";
import { TrawlError } from "../../errors.ts";
import type { OperatorCommand } from "../../frontier/frontier.ts";
import { type CommandResult, commandTargets } from "../../frontier/worker-commands.ts";
import { shortProcess } from "../../runtime/process-identity.ts";
import { showable } from "../../runtime/showable.ts";
import { type PlaneFlags, type PlaneSession, runOnPlane, withPlaneFlags } from "../plane/run-on-plane.ts";
import { workersJson, workersText } from "../workers/show-workers.ts";

type Flags = PlaneFlags & { all?: boolean };

const ACTIONS = ["list", "drain", "recycle"] as const;

const EXAMPLES = `
Examples:
  trawl workers
  trawl workers drain vm/13189        one worker, or all of one supervisor
  trawl workers drain --all           for example before an upgrade
  trawl workers recycle vm/13245
  TRAWL_BROKER=redis://127.0.0.1:6379 trawl workers --json

Workers send a heartbeat every 5 seconds. A stopped worker leaves the list at
once, a killed one at most 15 seconds after its last heartbeat. Processes are
listed below their supervisor. To find problems, use trawl doctor.

drain: the worker leases no more tasks, finishes its current ones and exits
with 0; it is not replaced. With the name of a supervisor, all its processes are
drained, and the supervisor exits. recycle: like drain, but the supervisor
replaces each process by a new one.
Workers on any machine receive the command within 5 seconds. After 12 times
TRAWL_GRACE, a worker stops as after SIGTERM: it waits up to TRAWL_GRACE for its
tasks and returns the unfinished ones to the queue. No task is lost.`;

export function addWorkers(program: Command): void {
  withPlaneFlags(program.command("workers"))
    .argument("[action]", `what to do: ${ACTIONS.join(", ")}`, "list")
    .argument("[worker]", "drain, recycle: a worker or supervisor from the list")
    .description("list the workers of this broker with their load and queues; drain or recycle them")
    .option("--all", "drain or recycle all workers that can execute the command, on all machines")
    .addHelpText("after", EXAMPLES)
    .action((action: string, name: string | undefined, flags: Flags) => {
      if (action === "list" && name === undefined) return runOnPlane({ flags }, (session) => list(session, flags));
      if (action === "list") throw usage(`list accepts no worker; remove ${name}`);
      if (action !== "drain" && action !== "recycle")
        throw usage(`unknown action ${action}; use ${ACTIONS.join(", ")}`);
      if ((name === undefined) === (flags.all !== true)) throw usage(`${action} needs either a worker or --all`);
      return runOnPlane({ flags }, (session) => sendCommand(session, action, name, flags));
    });
}

async function list({ plane, screen, now }: PlaneSession, flags: Flags): Promise<void> {
  const workers = await plane.listWorkers();
  if (flags.json === true) return screen.out(`${JSON.stringify(workersJson(workers))}\n`);
  if (workers.length > 0) return screen.out(workersText(workers, now(), screen.outColumns()));
  screen.err(`no workers; start one with: ${screen.command} worker (or all kinds with: ${screen.command} up)\n`);
}

async function sendCommand(
  { plane, screen }: PlaneSession,
  command: OperatorCommand,
  name: string | undefined,
  flags: Flags,
): Promise<void> {
  const names = name === undefined ? commandTargets(await plane.listWorkers(), command) : [name];
  const results: CommandResult[] = [];
  for (const one of names) results.push(await plane.sendWorkerCommand(one, command));
  const workers = results.flatMap((result) => result.workers);
  if (flags.json === true) return screen.out(`${JSON.stringify({ command, workers })}\n`);
  if (workers.length === 0) return void screen.err(`no worker accepts the command ${command}\n`);
  const shown = workers.map(shortProcess).join(", ");
  const effect = command === "drain" ? "they exit" : "new processes replace them";
  screen.err(
    `${showable(`sent ${command} to ${plural(workers.length, "worker")}: ${shown}; ${effect} after their current tasks; check with: ${screen.command} workers`)}\n`,
  );
}

function usage(problem: string): TrawlError {
  return new TrawlError("BAD_USAGE", { op: "cli.workers", message: `trawl workers: ${problem}` });
}
