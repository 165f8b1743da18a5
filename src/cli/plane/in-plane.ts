/** Runs a command on a control plane: a server's, where --api or TRAWL_API names one, else broker and store themselves. */
import type { Command } from "commander";
import type { Config } from "../../config/schema.ts";
import { TrawlError } from "../../errors.ts";
import { type Clock, systemClock } from "../../runtime/clock.ts";
import { showable } from "../../runtime/showable.ts";
import { inSession, type Opening, type PlaceFlags, withPlaces } from "../session.ts";
import { processScreen, type Screen } from "../terminal.ts";
import type { ControlPlane } from "./control-plane.ts";

/** A wait that is worth a word. */
const TELLING_MS = 1_000;

export type PlaneFlags = PlaceFlags & { api?: string };
/** `isServed`: a server answers, which does what servers do beside it. */
export type PlaneSession = Clock & { config: Config; screen: Screen; plane: ControlPlane; isServed: boolean };

/** The flags of a command that may ask a server. */
export function withPlane(command: Command): Command {
  return withPlaces(command).option(
    "--api <url>",
    "ask this trawl serve (default TRAWL_API), with the key of TRAWL_API_KEY, in place of broker and store",
  );
}

export async function inPlane<T>(
  opening: Opening & { flags: PlaneFlags; isScreenTaken?: boolean },
  work: (session: PlaneSession) => Promise<T>,
): Promise<T> {
  const { flags } = opening;
  const asked = await settingsOf(flags);
  const { api, apiKey, apiTries: tries } = asked;
  if (api !== "none" && !isLocal(flags)) {
    // Loaded on first use, as what opens broker and store is.
    const { createRemotePlane } = await import("./remote-plane.ts");
    const screen = processScreen();
    // Who has the whole screen asks again by itself, and has its own place to say so.
    const asking = opening.isScreenTaken === true ? ONCE : { tries, onWait: createWaitNote(screen, api) };
    const plane = createRemotePlane({ url: api, key: apiKey === "" ? undefined : apiKey, ...asking });
    return work({ config: asked, screen, plane, isServed: true, ...systemClock() });
  }
  return inSession({ ...opening, asked }, async ({ trawl, ...session }) => {
    const { createDirectPlane } = await import("./direct-plane.ts");
    const plane = createDirectPlane(trawl, session.config);
    return work({ ...session, plane, isServed: false, ...trawl.clock });
  });
}

const ONCE = { tries: 1, onWait: () => {} };

/** Whoever sits at a terminal should not wonder for long why nothing happens. */
function createWaitNote(screen: Screen, api: string): (error: unknown, ms: number) => void {
  let isSaid = false;
  return (_, ms) => {
    if (isSaid || !screen.isLive || ms < TELLING_MS) return;
    isSaid = true;
    screen.err(`no answer from ${showable(api)} yet: trying again, for some seconds (TRAWL_API_TRIES)\n`);
  };
}

/** What was named on the command line beats what the environment says. */
function isLocal({ broker, store }: PlaneFlags): boolean {
  return broker !== undefined || store !== undefined;
}

async function settingsOf(flags: PlaneFlags): Promise<Config> {
  if (flags.api !== undefined && flags.api !== "none" && isLocal(flags)) {
    throw new TrawlError("BAD_USAGE", {
      op: "cli.plane",
      message: "--api asks a server, --broker and --store do without one: give one or the other",
    });
  }
  const { loadConfig } = await import("../../config/load.ts");
  const { api, broker, store, logLevel } = flags;
  return loadConfig({ api, broker, store, logLevel }, process.cwd());
}
