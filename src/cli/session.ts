/** The session of a command: its settings, the screen, and the opened broker and store. */
import type { Command } from "commander";
import type { App } from "../compose/app.ts";
import type { Config } from "../config/schema.ts";
import { logTo } from "./log-lines.ts";
import { processScreen, type Screen } from "./terminal.ts";

export type ConnectionFlags = { broker?: string; store?: string; logLevel?: string; json?: boolean };

export type CommandSession = { config: Config; screen: Screen; trawl: App; close(): Promise<void> };

/** Adds the flags that most commands have: broker, store, log level and JSON output. */
export function withConnectionFlags(command: Command): Command {
  return command
    .option("--broker <url>", "connection URL of the broker (default sqlite:.trawl/broker.db)")
    .option("--store <url>", "connection URL of the store (default sqlite:.trawl/store.db)")
    .option(
      "--log-level <level>",
      "minimum level of log lines on stderr: debug, info, warn, error or silent (default warn)",
    )
    .option("--json", "print one JSON object as the last line of stdout");
}

/** The same flags as arguments for a child process. */
export function connectionArgs({ broker, store, logLevel }: ConnectionFlags): string[] {
  const flags = { "--broker": broker, "--store": store, "--log-level": logLevel };
  return Object.entries(flags).flatMap(([flag, value]) => (value === undefined ? [] : [flag, value]));
}

export type Opening = {
  flags: ConnectionFlags;
  settings?: Record<string, unknown>;
  /**
   * Whether the command waits for an unavailable broker as long as the settings allow. Commands that submit, run or
   * delete jobs do.
   */
  waitsForBroker?: boolean;
  /** The settings, if the caller has already loaded them. */
  loaded?: Config;
};

/** Other commands report an unavailable broker after this time. */
const QUERY_TIMEOUT_MS = 5_000;

/** Opens the broker and store of a command. If the session is not closed, SQLite leaves a WAL file behind. */
async function openSession({
  flags,
  settings = {},
  waitsForBroker = false,
  ...given
}: Opening): Promise<CommandSession> {
  // Imported on first use: --help needs no broker.
  const [{ openApp }, { loadConfig }] = await Promise.all([import("../compose/app.ts"), import("../config/load.ts")]);
  const { broker, store, logLevel } = flags;
  const loaded = given.loaded ?? (await loadConfig({ broker, store, logLevel, ...settings }, process.cwd()));
  const retryForMs = loaded.brokerRetryForMs;
  const brokerRetryForMs = waitsForBroker ? retryForMs : Math.min(retryForMs, QUERY_TIMEOUT_MS);
  const config = { ...loaded, brokerRetryForMs };
  const screen = processScreen();
  const trawl = await openApp(config, logTo(screen, flags.json === true));
  return { config, screen, trawl, close: () => trawl.close() };
}

/** Opens a session, runs `work`, and closes the session. */
export async function inSession<T>(opening: Opening, work: (session: CommandSession) => Promise<T>): Promise<T> {
  const session = await openSession(opening);
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}
