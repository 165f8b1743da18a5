/** `trawl doctor`: checks broker, store and workers, and suggests a fix for each problem. */
import type { Command } from "commander";
import { type ConnectionFlags, withConnectionFlags } from "../session.ts";

const NOTES = `
Checks the broker, the store, the body storage, the workers, the queues and the
jobs, and prints a fix for each problem and warning.
Exit codes: 0 no problems (there may be warnings), 1 at least one problem,
2 invalid usage or configuration, 130 interrupted.`;

export function addDoctor(program: Command): void {
  withConnectionFlags(program.command("doctor"))
    .description("check the broker, the store and the workers, and suggest fixes")
    .addHelpText("after", NOTES)
    .action(async (flags: ConnectionFlags) => {
      const { doctor } = await import("../doctor/doctor.ts");
      process.exitCode = await doctor(flags);
    });
}
