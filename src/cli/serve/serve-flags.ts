/** The flags of the API server, shared by `trawl serve` and `trawl up`. */
import type { Command } from "commander";
import { wholeNumber } from "../flags.ts";

export type ListenFlags = { host?: string; port?: number; schedules: boolean };

export function withListenFlags(command: Command): Command {
  return command
    .option("--host <address>", "address to listen on; without API keys, only a loopback address (default 127.0.0.1)")
    .option("--port <n>", "port; 0: any free port (default 7700)", wholeNumber("--port", 0, 65_535))
    .option("--no-schedules", "do not start scheduled runs on this server");
}

/** The flags as settings. A flag that is not given is undefined and comes from the environment or the config file. */
export function listenSettings({ host, port }: ListenFlags): Record<string, unknown> {
  return { apiHost: host, apiPort: port };
}

/** The flags as arguments of a child process. */
export function listenArgs({ host, port, schedules }: ListenFlags): string[] {
  return [
    ...(host === undefined ? [] : ["--host", host]),
    ...(port === undefined ? [] : ["--port", String(port)]),
    ...(schedules ? [] : ["--no-schedules"]),
  ];
}
