/** Flags about where the control plane listens, which `trawl serve` and `trawl up` share: declared, read, and passed on. */
import type { Command } from "commander";
import { wholeNumber } from "../flags.ts";

export type ListenFlags = { host?: string; port?: number; schedules: boolean };

export function withListenFlags(command: Command): Command {
  return command
    .option("--host <address>", "where to listen (default 127.0.0.1)")
    .option("--port <n>", "the port; 0 takes any that is free (default 7700)", wholeNumber("--port", 0, 65_535))
    .option("--no-schedules", "leave schedules to others: by default every server fires what is due");
}

/** As settings: what was not given is undefined, and comes from elsewhere. */
export function listenSettings({ host, port }: ListenFlags): Record<string, unknown> {
  return { apiHost: host, apiPort: port };
}

/** As the words that a process is started with. */
export function listenWords({ host, port, schedules }: ListenFlags): string[] {
  return [
    ...(host === undefined ? [] : ["--host", host]),
    ...(port === undefined ? [] : ["--port", String(port)]),
    ...(schedules ? [] : ["--no-schedules"]),
  ];
}
