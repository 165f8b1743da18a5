/** What every command starts from: its flags, the resolved settings, the screen, and an opened broker and store. */
import type { Command } from "commander";
import type { Trawl } from "../compose.ts";
import type { Config } from "../config/schema.ts";
import { logTo } from "./log-lines.ts";
import { processScreen, type Screen } from "./terminal.ts";

export type PlaceFlags = { broker?: string; store?: string; logLevel?: string; json?: boolean };

export type Session = { config: Config; screen: Screen; trawl: Trawl; close(): Promise<void> };

/** Flags every command has: where things live, and machine-readable answers. */
export function withPlaces(command: Command): Command {
  return command
    .option("--broker <url>", "where the frontier lives (default sqlite:.trawl/broker.db)")
    .option("--store <url>", "where pages and records live (default sqlite:.trawl/store.db)")
    .option("--log-level <level>", "least level of log lines on stderr: debug, info, warn, … (default warn)")
    .option("--json", "print one JSON object as the last line of stdout");
}

/** Where things live and what is logged, as words for another process. */
export function placeWords({ broker, store, logLevel }: PlaceFlags): string[] {
  const flags = { "--broker": broker, "--store": store, "--log-level": logLevel };
  return Object.entries(flags).flatMap(([flag, value]) => (value === undefined ? [] : [flag, value]));
}

export type Opening = {
  flags: PlaceFlags;
  settings?: Record<string, unknown>;
  /** Whether the command has work to save: it waits for a lost broker as long as the settings say. */
  isPatient?: boolean;
  /** Where the settings have been read already. */
  asked?: Config;
};

/** Somebody who asks a question wants to hear within this that there is nobody to answer it. */
const QUESTION_MS = 5_000;

/** Opens what a command works on. Close it, whatever happens: a store that is not closed leaves its log file behind. */
export async function openSession({ flags, settings = {}, isPatient = false, ...given }: Opening): Promise<Session> {
  // Loaded on first use: whoever asks for --help needs no broker.
  const [{ openTrawl }, { loadConfig }] = await Promise.all([import("../compose.ts"), import("../config/load.ts")]);
  const { broker, store, logLevel } = flags;
  const asked = given.asked ?? (await loadConfig({ broker, store, logLevel, ...settings }, process.cwd()));
  const brokerPatienceMs = isPatient ? asked.brokerPatienceMs : Math.min(asked.brokerPatienceMs, QUESTION_MS);
  const config = { ...asked, brokerPatienceMs };
  const screen = processScreen();
  const trawl = await openTrawl(config, logTo(screen, flags.json === true));
  return { config, screen, trawl, close: () => trawl.close() };
}

/** Runs a command's work with an open session, and closes it. */
export async function inSession<T>(opening: Opening, work: (session: Session) => Promise<T>): Promise<T> {
  const session = await openSession(opening);
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}
