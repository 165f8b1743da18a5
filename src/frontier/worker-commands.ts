/** Sends commands to workers, by the name of the worker or of its supervisor. */
import { TrawlError } from "../errors.ts";
import { shortProcess } from "../runtime/process-identity.ts";
import type { OperatorCommand, WorkerCommand } from "./frontier.ts";
import type { FrontierAdmin, WorkerView } from "./frontier-admin.ts";

/** `workers`: the workers to which the command was sent. */
export type CommandResult = { command: OperatorCommand; workers: string[] };

/**
 * Sends a command. Workers receive it with their next announcement, within seconds. Throws NOT_FOUND if no process has
 * the name, BAD_REQUEST if several have it, and COMMAND_REFUSED if the worker cannot execute the command.
 */
export async function sendWorkerCommand(
  frontier: Pick<FrontierAdmin, "listWorkers" | "commandWorker">,
  name: string,
  command: OperatorCommand,
): Promise<CommandResult> {
  const all = await frontier.listWorkers();
  const supervised = all.filter(({ vitals }) => hasName(vitals?.supervisor, name));
  const targets = supervised.length > 0 ? supervised : all.filter(({ worker }) => hasName(worker, name));
  refuseSeveral(name, targets, supervised.length > 0);
  const sent: WorkerCommand = supervised.length > 0 && command === "drain" ? "drain-all" : command;
  const able = targets.filter(({ vitals }) => vitals?.commands?.includes(sent));
  const [unable] = targets;
  if (able.length === 0 && unable !== undefined) throw refused(unable, command);
  const received = await Promise.all(able.map(({ worker }) => frontier.commandWorker(worker, sent)));
  const workers = able.map(({ worker }) => worker).filter((_, nth) => received[nth]);
  if (workers.length > 0) return { command, workers };
  throw new TrawlError("NOT_FOUND", {
    op: "workers.command",
    message: `no worker ${JSON.stringify(name)} is running; list the workers with: trawl workers, or GET /v1/workers`,
    detail: { worker: name },
  });
}

/**
 * The names to send a command to, so that it reaches all of these workers that can execute it. The workers of one
 * supervisor share its name.
 */
export function commandTargets(workers: readonly WorkerView[], command: OperatorCommand): string[] {
  const able = workers.filter(({ vitals }) => vitals?.commands?.includes(command));
  return [...new Set(able.map(({ worker, vitals }) => vitals?.supervisor ?? worker))];
}

function hasName(process: string | undefined, name: string): boolean {
  return process !== undefined && (process === name || shortProcess(process) === name);
}

/**
 * Throws if several processes have the name. Short names may collide: machines may have processes with the same id, and
 * containers the same host name.
 */
function refuseSeveral(name: string, targets: readonly WorkerView[], isSupervisor: boolean): void {
  const names = new Set(targets.map(({ worker, vitals }) => (isSupervisor ? vitals?.supervisor : worker)));
  if (names.size < 2) return;
  throw new TrawlError("BAD_REQUEST", {
    op: "workers.command",
    message: `${names.size} processes have the name ${name}; use the full name of one: ${[...names].join(", ")}`,
  });
}

function refused(view: WorkerView, command: OperatorCommand): TrawlError {
  const { worker } = view;
  return new TrawlError("COMMAND_REFUSED", {
    op: "workers.command",
    message: `${shortProcess(worker)} cannot ${command}: ${whyNot(view)}`,
    detail: { worker, command },
  });
}

function whyNot({ version, vitals }: WorkerView): string {
  const { commands } = vitals ?? {};
  if (commands === undefined) return `it runs Trawl ${version}, which does not support commands; stop it with SIGTERM`;
  if (commands.length === 0) return "it belongs to one crawl and ends with it; stop that crawl with Ctrl-C";
  return "it has no supervisor that would start a new process; drain it, and start a worker yourself";
}
