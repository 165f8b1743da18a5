/** `trawl workers`: who works on this broker, and how they are doing. */
import type { Command } from "commander";
import { inPlane, type PlaneFlags, withPlane } from "../plane/in-plane.ts";
import { workersJson, workersText } from "../workers/show-workers.ts";

const EXAMPLES = `
Examples:
  trawl workers
  TRAWL_BROKER=redis://127.0.0.1:6379 trawl workers --json

Workers tell of themselves every 5 seconds. One that stops is gone from the
list at once, one that was killed 15 seconds after it was last heard of.
Processes of a supervisor stand below it. What is wrong with a fleet is found
by trawl doctor.`;

export function addWorkers(program: Command): void {
  withPlane(program.command("workers"))
    .description("list the workers of this broker: what they serve, have done and have in hand")
    .addHelpText("after", EXAMPLES)
    .action((flags: PlaneFlags) =>
      inPlane({ flags }, async ({ plane, screen, now }) => {
        const workers = await plane.listWorkers();
        if (flags.json === true) return screen.out(`${JSON.stringify(workersJson(workers))}\n`);
        if (workers.length > 0) return screen.out(workersText(workers, now(), screen.outColumns()));
        screen.err(
          `no workers; start one: ${screen.command} worker; or of every kind, on this machine: ${screen.command} up\n`,
        );
      }),
    );
}
