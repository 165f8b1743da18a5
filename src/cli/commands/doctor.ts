/** `trawl doctor`: is everything there, does everything fit together, and what is to be done where not. */
import type { Command } from "commander";
import { type PlaceFlags, withPlaces } from "../session.ts";

const NOTES = `
It looks at the broker, the store and the bodies, at who works and at what
waits, and says what to do about what does not fit.
Exit codes: 0 all is well, or only warnings; 1 there is a problem.`;

export function addDoctor(program: Command): void {
  withPlaces(program.command("doctor"))
    .description("check that broker, store and workers are there and fit together")
    .addHelpText("after", NOTES)
    .action(async (flags: PlaceFlags) => {
      const { doctor } = await import("../doctor/doctor.ts");
      process.exitCode = await doctor(flags);
    });
}
