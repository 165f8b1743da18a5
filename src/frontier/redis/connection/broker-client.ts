/**
 * Calls a Redis broker, which may be restarted in between. Every call is retried until it is answered, or until the
 * broker has been unreachable for `retryForMs`. After every lost connection, and if the server does not have a script,
 * the client checks whether the server was restarted (recover.lua). A missing script is then sent. Callers: shards.ts,
 * open.ts and health.ts. A crash of this process loses nothing.
 *
 * openBrokerClient is long because all its calls share one state: the connections, the unreachable targets, and the
 * shards that were checked for a restart.
 */
import { setMaxListeners } from "node:events";
import type { Clock } from "../../../runtime/clock.ts";
import type { Log } from "../../../runtime/log.ts";
import { commandsDenied, REQUIRED_COMMANDS } from "../health/permissions.ts";
import type { BrokerClock, RoundTrip } from "./broker-clock.ts";
import { toTrawlError, unreachable } from "./broker-errors.ts";
import type { RedisUrl } from "./connection-url.ts";
import {
  type Client,
  connect,
  isDeniedInScript,
  isTemporary,
  isUnknownScript,
  onDisconnect,
  onRefusal,
  probe,
  wasNeverSent,
} from "./ioredis.ts";
import { describeError, diagnose, watchConnectionErrors } from "./redis-errors.ts";
import { type Script, withComment } from "./scripts.ts";

export type ScriptArg = string | number;
export type Reply = readonly (string | number)[];

/** `isRepeat`: an earlier attempt may have been executed. */
export type TimedReply = { reply: Reply; isRepeat: boolean; trip: RoundTrip };

/** `failFast`: fail at once if the shard is unreachable. */
type CallOptions = { failFast: boolean };

export type BrokerClient = {
  /** The URL of the broker without its password. */
  redacted: string;
  /** Runs a script on the shard whose keys start with `shard`. `args` is called for every attempt. */
  run(
    script: string,
    shard: string,
    args: (isRepeat: boolean) => readonly ScriptArg[],
    options?: CallOptions,
  ): Promise<TimedReply>;
  /** Runs a command that only reads. */
  read(command: string, ...args: readonly ScriptArg[]): Promise<unknown>;
  /** Calls `onMessage` for every message on the channel, and after every reconnect, until the client is closed. */
  subscribe(channel: string, onMessage: () => void): Promise<void>;
  /** Calls `listener` when the broker may have been restarted, and so may have lost its last writes. */
  onRestart(listener: () => void): void;
  close(): Promise<void>;
};

type Call = { op: string; target: string; failFast: boolean };
type Deps = {
  clock: Clock;
  log: Log;
  /** The clock of the server that holds this shard. */
  timeOf(shard: string): BrokerClock;
  scripts: ReadonlyMap<string, Script>;
};

/** Pause between two attempts of a call. The client library reconnects by itself in this time. */
const RETRY_MS = 25;
const FIRST_CONNECT_MS = 2_000;
/**
 * Scripts that open terms have a SHA-1 per shard. Otherwise, after a restart of the server, a client of another shard
 * or prefix could load the script first, and this shard would not notice the restart.
 */
const PER_SHARD: ReadonlySet<string> = new Set(["lease", "open-term"]);

export function openBrokerClient(url: RedisUrl, deps: Deps, { retryForMs }: { retryForMs: number }): BrokerClient {
  const { clock, log, timeOf, scripts } = deps;
  const closing = new AbortController();
  // Every call that waits for the broker adds a listener, and there may be hundreds.
  setMaxListeners(0, closing.signal);
  const restartListeners: (() => void)[] = [];
  const scriptsPerShard = new Map<string, Script>();
  /** Shards that were checked for a restart on the current connections. */
  const checkedShards = new Set<string>();
  let subscriber: Client | undefined;
  /** Since when each target of calls has been unreachable. A target is a shard, "" (any server), or "subscriber". */
  const lostAt = new Map<string, number>();
  /** Why the server last refused the connection, unless it has accepted one since. */
  let refusal: Error | undefined;
  const client = prepare(connect(url));
  const connectionError = watchConnectionErrors(client);
  /** Why the broker is unreachable. Computed once for all waiting calls. */
  let diagnosis: Promise<string> | undefined;

  function prepare(fresh: Client): Client {
    // The calls report errors; without a listener the library would throw.
    fresh.on("error", () => {});
    onRefusal(fresh, (error) => {
      refusal = error;
    });
    fresh.on("ready", () => {
      refusal = undefined;
    });
    // The first client after a restart loads the scripts, so the others notice the restart only by the lost connection.
    onDisconnect(fresh, mayHaveRestarted);
    return fresh;
  }

  function mayHaveRestarted(): void {
    checkedShards.clear();
    for (const listener of restartListeners) listener();
  }

  async function retryUntilAnswered<T>(
    { op, target, failFast }: Call,
    call: (isRepeat: boolean) => Promise<T>,
  ): Promise<T> {
    let isRepeat = false;
    let failingSince: number | undefined;
    for (;;) {
      try {
        await firstConnect(client);
        const answer = await call(isRepeat);
        noteAnswer(target);
        return answer;
      } catch (caught) {
        const error = refusal ?? caught;
        removeCommand(error);
        if (closing.signal.aborted || !isTemporary(error)) throw toTrawlError(url, op, error);
        isRepeat ||= !wasNeverSent(error);
        const cause = connectionError() ?? (error as Error);
        noteLoss(target, cause);
        if (failFast) throw unreachable(url, { op, lostMs: lostMsOfTarget(target), why: describeError(cause), cause });
        // Each call measures its own time, because other nodes of a cluster may answer in the meantime.
        failingSince ??= clock.now();
        await waitForContact(op, cause, clock.now() - failingSince);
      }
    }
  }

  /**
   * The library searches for sentinels and clusters without a time limit. After FIRST_CONNECT_MS the call proceeds and
   * fails, so that the time counts as unreachable.
   */
  async function firstConnect(fresh: Client): Promise<void> {
    if (fresh.status !== "wait") return;
    const connected = new AbortController();
    const done = () => connected.abort();
    fresh.connect().then(done, done);
    await clock.sleep(FIRST_CONNECT_MS, connected.signal);
  }

  function noteAnswer(target: string): void {
    // In a cluster, one node may have refused the connection while another answers.
    refusal = undefined;
    if (!lostAt.has(target)) return;
    log.warn("broker.back", { broker: url.redacted, lostMs: lostMsOfTarget(target) });
    lostAt.delete(target);
    diagnosis = undefined;
  }

  function noteLoss(target: string, cause: Error): void {
    // Logged once for all shards: they are usually lost together.
    if (lostAt.size === 0) log.warn("broker.lost", { broker: url.redacted, cause: describeError(cause) });
    if (!lostAt.has(target)) lostAt.set(target, clock.now());
  }

  function lostMsOfTarget(target: string): number {
    return clock.now() - (lostAt.get(target) ?? clock.now());
  }

  async function waitForContact(op: string, cause: Error, lostMs: number): Promise<void> {
    if (lostMs >= retryForMs) {
      diagnosis ??= diagnose(url, cause, probe);
      throw unreachable(url, { op, lostMs, why: await diagnosis, cause });
    }
    await clock.sleep(RETRY_MS, closing.signal);
  }

  async function evaluate({ sha, source }: Script, shard: string, args: readonly ScriptArg[]): Promise<Reply> {
    // This is checked even if no script is missing: a former master that is master again may have the scripts, but may
    // have lost writes.
    if (!checkedShards.has(shard)) await recover(shard);
    checkedShards.add(shard);
    try {
      return (await client.evalsha(sha, 1, shard, ...args)) as Reply;
    } catch (error) {
      if (!isUnknownScript(error)) throw error;
      await recover(shard);
      return (await client.eval(source, 1, shard, ...args)) as Reply;
    }
  }

  /**
   * If the ACL denied a command of a script, returns an error that names the denied commands. Passes a time to the
   * script, because the ACL may also deny TIME.
   */
  async function nameDeniedCommands(error: unknown, op: string, shard: string): Promise<unknown> {
    if (!isDeniedInScript(error)) return error;
    const { source } = scriptNamed(scripts, "find-denied");
    const [, ...denied] = (await client.eval(source, 1, shard, "0", ...REQUIRED_COMMANDS, "info")) as Reply;
    return denied.length === 0 ? error : commandsDenied(op, denied.map(String), url.redacted);
  }

  /** Checks whether the server was restarted, and so may have lost writes, before it grants anything. */
  async function recover(shard: string): Promise<void> {
    const { source } = scriptNamed(scripts, "recover");
    const hasRestarted = (await client.eval(source, 1, shard)) === 1;
    if (!hasRestarted) return;
    log.warn("broker.restarted", { broker: url.redacted });
    mayHaveRestarted();
  }

  function scriptFor(name: string, shard: string): Script {
    if (!PER_SHARD.has(name)) return scriptNamed(scripts, name);
    const own = scriptsPerShard.get(`${name} ${shard}`) ?? withComment(scriptNamed(scripts, name), shard);
    scriptsPerShard.set(`${name} ${shard}`, own);
    return own;
  }

  return {
    redacted: url.redacted,
    async run(name, shard, args, { failFast } = { failFast: false }) {
      const script = scriptFor(name, shard);
      return retryUntilAnswered({ op: `frontier.${name}`, target: shard, failFast }, async (isRepeat) => {
        const sentAt = clock.now();
        const reply = await evaluate(script, shard, args(isRepeat)).catch(async (error: unknown) => {
          throw await nameDeniedCommands(error, `frontier.${name}`, shard);
        });
        const brokerNow = Number(typeof reply === "string" ? reply : reply[0]);
        const trip = { sentAt, receivedAt: clock.now(), brokerNow };
        timeOf(shard).recordRoundTrip(trip);
        return { reply, isRepeat, trip };
      });
    },
    read(command, ...args) {
      const call = { op: `frontier.${command}`, target: "", failFast: false };
      return retryUntilAnswered(call, () => client.call(command, ...args));
    },
    async subscribe(channel, onMessage) {
      subscriber ??= prepare(connect(url));
      const connection = subscriber;
      // One listener for each shard.
      connection.setMaxListeners(0);
      await retryUntilAnswered({ op: "frontier.subscribe", target: "subscriber", failFast: false }, async () => {
        await firstConnect(connection);
        await connection.subscribe(channel);
      });
      connection.on("message", (from) => from === channel && onMessage());
      // Messages that were published while the connection was down are lost.
      connection.on("ready", onMessage);
    },
    onRestart: (listener) => void restartListeners.push(listener),
    async close() {
      closing.abort();
      client.disconnect();
      subscriber?.disconnect();
    },
  };
}

function scriptNamed(scripts: ReadonlyMap<string, Script>, name: string): Script {
  const script = scripts.get(name);
  if (script === undefined) throw new Error(`no script ${name}.lua`);
  return script;
}

/**
 * Removes the command that the library attaches to an error. It may contain a password or a script of 30 KB, which must
 * not be logged.
 */
function removeCommand(error: unknown): void {
  if (error instanceof Error && "command" in error) error.command = undefined;
}
