/** `trawl workers`: who works on this broker, how they are doing, and what is asked of them. */
import type { Command } from "commander";
import { plural } from "../../domain/counted.ts";
import { TrawlError } from "../../errors.ts";
import type { AskedOrder } from "../../frontier/frontier.ts";
import { namesToAsk, type OrderAnswer } from "../../frontier/order-workers.ts";
import { shortProcess } from "../../runtime/process-id.ts";
import { showable } from "../../runtime/showable.ts";
import { inPlane, type PlaneFlags, type PlaneSession, withPlane } from "../plane/in-plane.ts";
import { workersJson, workersText } from "../workers/show-workers.ts";

type Flags = PlaneFlags & { all?: boolean };

const ACTIONS = ["list", "drain", "recycle"] as const;

const EXAMPLES = `
Examples:
  trawl workers
  trawl workers drain vm/13189        a worker, or all that a supervisor has
  trawl workers drain --all           before an upgrade, say
  trawl workers recycle vm/13245
  TRAWL_BROKER=redis://127.0.0.1:6379 trawl workers --json

Workers tell of themselves every 5 seconds. One that stops is gone from the
list at once, one that was killed 15 seconds after it was last heard of.
Processes of a supervisor stand below it. What is wrong with a fleet is found
by trawl doctor.

drain lets a worker end what it has in hand, take no more, and end with 0;
nobody takes its place. By the name of its supervisor all of that are drained,
and it ends with them. recycle has the supervisor start a fresh process in its
place. Both are heard within 5 seconds, on any machine, and lose nothing.`;

export function addWorkers(program: Command): void {
  withPlane(program.command("workers"))
    .argument("[action]", `what to do: ${ACTIONS.join(", ")}`, "list")
    .argument("[worker]", "drain, recycle: a worker or supervisor, as the list names it")
    .description("list the workers of this broker: what they serve, have done and have in hand; drain or recycle them")
    .option("--all", "drain, recycle: every worker of this broker, on every machine; crawls are left alone")
    .addHelpText("after", EXAMPLES)
    .action((action: string, name: string | undefined, flags: Flags) => {
      if (action === "list" && name === undefined) return inPlane({ flags }, (session) => list(session, flags));
      if (action !== "drain" && action !== "recycle") throw usage(`takes ${ACTIONS.join(", ")}`);
      if ((name === undefined) === (flags.all !== true)) throw usage(`${action} takes a worker, or --all`);
      return inPlane({ flags }, (session) => order(session, action, name, flags));
    });
}

async function list({ plane, screen, now }: PlaneSession, flags: Flags): Promise<void> {
  const workers = await plane.listWorkers();
  if (flags.json === true) return screen.out(`${JSON.stringify(workersJson(workers))}\n`);
  if (workers.length > 0) return screen.out(workersText(workers, now(), screen.outColumns()));
  screen.err(
    `no workers; start one: ${screen.command} worker; or of every kind, on this machine: ${screen.command} up\n`,
  );
}

async function order(
  { plane, screen }: PlaneSession,
  asked: AskedOrder,
  name: string | undefined,
  flags: Flags,
): Promise<void> {
  const names = name === undefined ? namesToAsk(await plane.listWorkers(), asked) : [name];
  const told: OrderAnswer[] = [];
  for (const one of names) told.push(await plane.orderWorkers(one, asked));
  const workers = told.flatMap((answer) => answer.workers);
  if (flags.json === true) return screen.out(`${JSON.stringify({ order: asked, workers })}\n`);
  if (workers.length === 0) return void screen.err(`no worker is there that could ${asked}\n`);
  const shown = workers.map(shortProcess).join(", ");
  const becomes = asked === "drain" ? "they end" : "fresh ones take their places";
  screen.err(
    `${showable(`${plural(workers.length, "worker")} asked to ${asked}: ${shown}; ${becomes} when their tasks are over, watch it with: trawl workers`)}\n`,
  );
}

function usage(says: string): TrawlError {
  return new TrawlError("BAD_USAGE", { op: "cli.workers", message: `trawl workers: ${says}` });
}
