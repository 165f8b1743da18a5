/**
 * Calls on a Redis broker that outlive its restarts. Every call is made until it is answered or the broker has been out
 * of reach for `patienceMs`; a server that has lost our scripts is given them back, after it was asked whether it has
 * been restarted (see recover.lua). Called by shard.ts only. Nothing is kept here that a crash could lose.
 */
import { TrawlError } from "../../errors.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Log } from "../../runtime/log.ts";
import type { BrokerTime } from "./broker-time.ts";
import { type Client, connect, isLostContact, isOutOfMemory, isUnknownScript, wasNeverSent } from "./connect.ts";
import type { RedisPlace } from "./place.ts";
import type { Script } from "./scripts.ts";

export type Word = string | number;
export type Reply = readonly (string | number)[];

export type Broker = {
  shown: string;
  /** Runs a script on the shard whose keys begin with `shard`. `again`: an earlier try may have been carried out. */
  run(script: string, shard: string, words: readonly Word[]): Promise<{ reply: Reply; again: boolean }>;
  /** A command that only reads. */
  ask(command: string, ...words: readonly Word[]): Promise<unknown>;
  /** Heard on `channel`, for as long as the broker is open. */
  listen(channel: string, heard: () => void): Promise<void>;
  /** Called when the broker turns out to be another one than before, or to have been restarted. */
  onRestart(call: () => void): void;
  close(): Promise<void>;
};

type Deps = { clock: Clock; log: Log; time: BrokerTime; scripts: ReadonlyMap<string, Script> };

/** Pause between two tries; the client itself reconnects meanwhile. */
const TRY_AGAIN_MS = 25;

export function openBroker(place: RedisPlace, deps: Deps, { patienceMs }: { patienceMs: number }): Broker {
  const { clock, log, time, scripts } = deps;
  const client = opened(connect(place));
  const closing = new AbortController();
  const restarted: (() => void)[] = [];
  let ears: Client | undefined;
  let lostAt: number | undefined;

  function opened(fresh: Client): Client {
    // The calls report what goes wrong; without a listener the library would throw.
    fresh.on("error", () => {});
    return fresh;
  }

  /** Makes a call until it is answered. */
  async function persist<T>(op: string, call: (again: boolean) => Promise<T>): Promise<T> {
    let again = false;
    for (;;) {
      try {
        if (client.status === "wait") await client.connect();
        const answer = await call(again);
        if (lostAt !== undefined) log.info("broker.back", { broker: place.shown, lostMs: clock.now() - lostAt });
        lostAt = undefined;
        return answer;
      } catch (error) {
        if (closing.signal.aborted || !isLostContact(error)) throw coded(place, op, error);
        again ||= !wasNeverSent(error);
        await waitForContact(op, error);
      }
    }
  }

  async function waitForContact(op: string, error: unknown): Promise<void> {
    if (lostAt === undefined) {
      lostAt = clock.now();
      log.warn("broker.lost", { broker: place.shown, cause: error });
    }
    if (clock.now() - lostAt >= patienceMs) throw unreachable(place, op, error, clock.now() - lostAt);
    await clock.sleep(TRY_AGAIN_MS, closing.signal);
  }

  async function evaluate({ sha, source }: Script, shard: string, words: readonly Word[]): Promise<Reply> {
    try {
      return (await client.evalsha(sha, 1, shard, ...words)) as Reply;
    } catch (error) {
      if (!isUnknownScript(error)) throw error;
      await recover(shard);
      return (await client.eval(source, 1, shard, ...words)) as Reply;
    }
  }

  /** Before a server that has lost its scripts grants anything, it must know whether it has lost anything else. */
  async function recover(shard: string): Promise<void> {
    const { source } = scriptNamed(scripts, "recover");
    const hasRestarted = (await client.eval(source, 1, shard)) === 1;
    if (!hasRestarted) return;
    log.warn("broker.restarted", { broker: place.shown });
    for (const call of restarted) call();
  }

  return {
    shown: place.shown,
    async run(name, shard, words) {
      const script = scriptNamed(scripts, name);
      let isAgain = false;
      const reply = await persist(`frontier.${name}`, async (again) => {
        isAgain = again;
        const sentAt = clock.now();
        const answer = await evaluate(script, shard, words);
        time.heard(sentAt, Number(typeof answer === "string" ? answer : answer[0]));
        return answer;
      });
      return { reply, again: isAgain };
    },
    ask: (command, ...words) => persist(`frontier.${command}`, () => client.call(command, ...words)),
    async listen(channel, heard) {
      ears ??= opened(connect(place));
      const listener = ears;
      await persist("frontier.listen", async () => {
        if (listener.status === "wait") await listener.connect();
        await listener.subscribe(channel);
      });
      listener.on("message", (from) => from === channel && heard());
      // What was said while the line was down was not heard.
      listener.on("ready", heard);
    },
    onRestart: (call) => void restarted.push(call),
    async close() {
      closing.abort();
      client.disconnect();
      ears?.disconnect();
    },
  };
}

function scriptNamed(scripts: ReadonlyMap<string, Script>, name: string): Script {
  const script = scripts.get(name);
  if (script === undefined) throw new Error(`no script ${name}.lua`);
  return script;
}

function unreachable(place: RedisPlace, op: string, cause: unknown, lostMs: number): TrawlError {
  const { message } = cause as Error;
  return new TrawlError("BROKER_UNREACHABLE", {
    op,
    message: `broker ${place.shown} has not been reached for ${Math.round(lostMs / 1000)} s (${message}); check that it runs and TRAWL_BROKER, or raise TRAWL_BROKER_PATIENCE`,
    detail: { broker: place.shown },
    cause,
  });
}

/** An answer that no waiting will change. */
function coded(place: RedisPlace, op: string, cause: unknown): unknown {
  const { message } = cause as Error;
  if (cause instanceof TrawlError) return cause;
  const detail = { broker: place.shown };
  if (isOutOfMemory(cause)) {
    return new TrawlError("BROKER_FULL", {
      op,
      message: `broker ${place.shown} is out of memory (maxmemory); let workers catch up, or raise maxmemory`,
      detail,
      cause,
    });
  }
  if (/^(NOAUTH|WRONGPASS|NOPERM)/.test(message) || /unknown command|invalid username/i.test(message)) {
    return new TrawlError("BROKER_UNREACHABLE", {
      op,
      message: `broker ${place.shown} refuses us: ${message}; docs/operations.md lists the rights that are needed`,
      detail,
      cause,
    });
  }
  return new TrawlError("BROKER_UNREACHABLE", {
    op,
    message: `broker ${place.shown} failed: ${message}`,
    detail,
    cause,
  });
}
