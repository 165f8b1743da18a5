/**
 * Runs a command on a control plane: on a server if --api or TRAWL_API is set, otherwise on the broker and the store.
 */
import type { Command } from "commander";
import type { Config } from "../../config/schema.ts";
import { TrawlError } from "../../errors.ts";
import { type Clock, systemClock } from "../../runtime/clock.ts";
import { showable } from "../../runtime/showable.ts";
import { type ConnectionFlags, inSession, type Opening, withConnectionFlags } from "../session.ts";
import { processScreen, type Screen } from "../terminal.ts";
import type { ControlPlane } from "./control-plane.ts";

/** Waits before a retry are reported if they are at least this long. */
const NOTICE_MS = 1_000;

export type PlaneFlags = ConnectionFlags & { api?: string };
/** `isServed`: the plane is a server. A server also runs schedules and retention. */
export type PlaneSession = Clock & { config: Config; screen: Screen; plane: ControlPlane; isServed: boolean };

/** The flags of a command that can use a server. */
export function withPlaneFlags(command: Command): Command {
  return withConnectionFlags(command).option(
    "--api <url>",
    "call the server at this URL instead of opening the broker and the store; set the API key in TRAWL_API_KEY (default: TRAWL_API)",
  );
}

export async function runOnPlane<T>(
  opening: Opening & { flags: PlaneFlags; isScreenTaken?: boolean },
  work: (session: PlaneSession) => Promise<T>,
): Promise<T> {
  const { flags } = opening;
  const config = await settingsOf(flags);
  const { api, apiKey, apiTries: tries } = config;
  if (api !== "none" && !isLocal(flags)) {
    // Loaded on first use, like the direct plane.
    const { createRemotePlane } = await import("./remote-plane.ts");
    const screen = processScreen();
    // A full-screen command polls and retries itself, and shows errors on its screen.
    const retries = opening.isScreenTaken === true ? ONCE : { tries, onWait: createWaitNote(screen, api) };
    const plane = createRemotePlane({ url: api, key: apiKey === "" ? undefined : apiKey, ...retries });
    return work({ config, screen, plane, isServed: true, ...systemClock() });
  }
  return inSession({ ...opening, loaded: config }, async ({ trawl, ...session }) => {
    const { createDirectPlane } = await import("./direct-plane.ts");
    const plane = createDirectPlane(trawl, session.config);
    return work({ ...session, plane, isServed: false, ...trawl.clock });
  });
}

const ONCE = { tries: 1, onWait: () => {} };

/** Reports the first long wait, on a terminal only. */
function createWaitNote(screen: Screen, api: string): (error: unknown, ms: number) => void {
  let isReported = false;
  return (_, ms) => {
    if (isReported || !screen.isLive || ms < NOTICE_MS) return;
    isReported = true;
    screen.err(`no response from ${showable(api)} yet; retrying (TRAWL_API_TRIES limits the attempts)\n`);
  };
}

/** Whether --broker or --store is set. These flags override TRAWL_API. */
function isLocal({ broker, store }: PlaneFlags): boolean {
  return broker !== undefined || store !== undefined;
}

async function settingsOf(flags: PlaneFlags): Promise<Config> {
  if (flags.api !== undefined && flags.api !== "none" && isLocal(flags)) {
    throw new TrawlError("BAD_USAGE", {
      op: "cli.plane",
      message: "--api cannot be combined with --broker or --store: remove --api, or the other flags",
    });
  }
  const { loadConfig } = await import("../../config/load.ts");
  const { api, broker, store, logLevel } = flags;
  return loadConfig({ api, broker, store, logLevel }, process.cwd());
}
