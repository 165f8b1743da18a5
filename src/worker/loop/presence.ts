/**
 * Announces this worker and its state to the frontier every `everyMs`, and receives the commands of operators.
 * Withdraws the announcement when it stops. After a crash the announcement expires by itself.
 */
import type { Frontier, Presence, WorkerCommand } from "../../frontier/frontier.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Log } from "../../runtime/log.ts";
import type { Service } from "../../runtime/service.ts";

type Deps = {
  frontier: Pick<Frontier, "announce" | "withdraw">;
  /** The current announcement. */
  describe(): Presence;
  /** Called once for each command. */
  onCommand(command: WorkerCommand): void;
  clock: Clock;
  log: Log;
};

/** An announcement stays valid even if the next two fail or are late. */
const TTL_INTERVALS = 3;

export function createPresence(
  { frontier, describe, onCommand, clock, log }: Deps,
  { everyMs }: { everyMs: number },
): Service {
  const stopping = new AbortController();
  let loop: Promise<void> | undefined;
  let isAnnounced = false;
  let lastCommand: WorkerCommand | undefined;

  async function announceUntilStopped(): Promise<void> {
    while (!stopping.signal.aborted) {
      const command = await announce();
      const isNew = command !== undefined && command !== lastCommand;
      lastCommand = command;
      // Announces again at once, so that the operator sees the new state.
      if (isNew) onCommand(command);
      else await clock.sleep(everyMs, stopping.signal);
    }
    // If the last announcement failed, a withdrawal would only delay the shutdown.
    if (isAnnounced) await withdraw();
  }

  async function announce(): Promise<WorkerCommand | undefined> {
    try {
      const command = await frontier.announce(describe(), everyMs * TTL_INTERVALS);
      isAnnounced = true;
      return command;
    } catch (cause) {
      // The worker continues without an announcement. If the broker is lost, the worker ends by itself.
      isAnnounced = false;
      log.warn("presence.announce_failed", { cause });
      return lastCommand;
    }
  }

  async function withdraw(): Promise<void> {
    const { worker } = describe();
    await frontier.withdraw(worker).catch((cause: unknown) => log.warn("presence.withdraw_failed", { cause }));
  }

  return {
    start: () => {
      loop ??= announceUntilStopped();
    },
    stop: async () => {
      stopping.abort();
      await loop;
    },
  };
}
