/** Runs a command on a control plane: on a server if --api or TRAWL_API is set, otherwise on the broker and the store. */
import type { Command } from "commander";
import type { Config } from "../../config/schema.ts";
import { TrawlError } from "../../errors.ts";
import { type Clock, systemClock } from "../../runtime/clock.ts";
import { showable } from "../../runtime/showable.ts";
import { type ConnectionFlags, inSession, type Opening, withConnectionFlags } from "../session.ts";
import { processScreen, type Screen } from "../terminal.ts";
import type { ControlPlane } from "./control-plane.ts";

/** Longer waits are reported. */
const TELLING_MS = 1_000;

export type PlaneFlags = ConnectionFlags & { api?: string };
/** `isServed`: the plane is a server, which also runs schedules and retention. */
export type PlaneSession = Clock & { config: Config; screen: Screen; plane: ControlPlane; isServed: boolean };

/** The flags of a command that can use a server. */
export function withPlaneFlags(command: Command): Command {
  return withConnectionFlags(command).option(
    "--api <url>",
    "ask this trawl serve (default TRAWL_API), with the key of TRAWL_API_KEY, in place of broker and store",
  );
}

export async function runOnPlane<T>(
  opening: Opening & { flags: PlaneFlags; isScreenTaken?: boolean },
  work: (session: PlaneSession) => Promise<T>,
): Promise<T> {
  const { flags } = opening;
  const asked = await settingsOf(flags);
  const { api, apiKey, apiTries: tries } = asked;
  if (api !== "none" && !isLocal(flags)) {
    // Loaded on first use, like the direct plane.
    const { createRemotePlane } = await import("./remote-plane.ts");
    const screen = processScreen();
    // A full-screen command retries itself, and reports waits on its screen.
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

/** Reports the first long wait, on a terminal only. */
function createWaitNote(screen: Screen, api: string): (error: unknown, ms: number) => void {
  let isSaid = false;
  return (_, ms) => {
    if (isSaid || !screen.isLive || ms < TELLING_MS) return;
    isSaid = true;
    screen.err(`no answer from ${showable(api)} yet: trying again, for some seconds (TRAWL_API_TRIES)\n`);
  };
}

/** Flags win over the environment. */
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
