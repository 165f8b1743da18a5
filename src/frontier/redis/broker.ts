/**
 * Calls on a Redis broker that outlive its restarts. Every call is made until it is answered or the broker has been out
 * of reach for `patienceMs`; a server that has lost our scripts is given them back, after it was asked whether it has
 * been restarted (see recover.lua). Called by shards.ts, and by open.ts and examine.ts. Nothing is kept here that a crash
 * could lose.
 *
 * openBroker is long because all its calls share one state: what is connected, what is lost since when, and who was asked.
 */
import { setMaxListeners } from "node:events";
import type { Clock } from "../../runtime/clock.ts";
import type { Log } from "../../runtime/log.ts";
import { coded, unreachable } from "./broker-errors.ts";
import type { BrokerTime } from "./broker-time.ts";
import {
  type Client,
  connect,
  isDeniedInScript,
  isLostContact,
  isUnknownScript,
  onDisconnect,
  onRefusal,
  probe,
  wasNeverSent,
} from "./connect.ts";
import type { RedisPlace } from "./place.ts";
import { RIGHTS, rightsMissing } from "./rights.ts";
import { type Script, withComment } from "./scripts.ts";
import { createTroubleEar, diagnose, troubleWords } from "./trouble.ts";

export type Word = string | number;
export type Reply = readonly (string | number)[];

/** `isHasty`: fails at once where the shard is out of reach. */
export type CallOptions = { isHasty: boolean };

export type Broker = {
  shown: string;
  /** Runs a script on the shard whose keys begin with `shard`. `again`: an earlier try may have been carried out. */
  run(
    script: string,
    shard: string,
    words: (again: boolean) => readonly Word[],
    options?: CallOptions,
  ): Promise<{ reply: Reply; again: boolean }>;
  /** A command that only reads. */
  ask(command: string, ...words: readonly Word[]): Promise<unknown>;
  /** Heard on `channel`, for as long as the broker is open. */
  listen(channel: string, heard: () => void): Promise<void>;
  /** Called when the broker may have been restarted, and so may have lost its last writes. */
  onRestart(call: () => void): void;
  close(): Promise<void>;
};

type Call = { op: string; target: string; isHasty: boolean };
type Deps = {
  clock: Clock;
  log: Log;
  /** The clock of the server that has this shard. */
  timeOf(shard: string): BrokerTime;
  scripts: ReadonlyMap<string, Script>;
};

/** Pause between two tries; the client itself reconnects meanwhile. */
const TRY_AGAIN_MS = 25;
const FIRST_CONNECT_MS = 2_000;
/**
 * What sells slots is loaded once for every shard: another shard of the same server, or another prefix, whose clients
 * came first after a restart would else have brought the script back without this shard knowing of the restart.
 */
const PER_SHARD: ReadonlySet<string> = new Set(["lease", "spend"]);

export function openBroker(place: RedisPlace, deps: Deps, { patienceMs }: { patienceMs: number }): Broker {
  const { clock, log, timeOf, scripts } = deps;
  const closing = new AbortController();
  // Every call that waits for the broker listens to it, and there may be hundreds.
  setMaxListeners(0, closing.signal);
  const restarted: (() => void)[] = [];
  const ownScripts = new Map<string, Script>();
  /** Shards whose server was asked, on the connections there are now, whether it is the one that was here last. */
  const asked = new Set<string>();
  let ears: Client | undefined;
  /** Since when what calls want to reach, a shard or any server, has been out of reach. */
  const lostAt = new Map<string, number>();
  /** Why the server last did not let us in, unless it has since. */
  let refusal: Error | undefined;
  const client = opened(connect(place));
  const trouble = createTroubleEar(client);
  /** Looked for once for all calls that wait. */
  let diagnosis: Promise<string> | undefined;

  function opened(fresh: Client): Client {
    // The calls report what goes wrong; without a listener the library would throw.
    fresh.on("error", () => {});
    onRefusal(fresh, (error) => {
      refusal = error;
    });
    fresh.on("ready", () => {
      refusal = undefined;
    });
    // Whoever comes first brings a restarted server its scripts back: all others learn of it by their lost connection.
    onDisconnect(fresh, mayHaveRestarted);
    return fresh;
  }

  function mayHaveRestarted(): void {
    asked.clear();
    for (const call of restarted) call();
  }

  /** Makes a call until it is answered. */
  async function persist<T>({ op, target, isHasty }: Call, call: (again: boolean) => Promise<T>): Promise<T> {
    let again = false;
    let failingSince: number | undefined;
    for (;;) {
      try {
        await firstConnect(client);
        const answer = await call(again);
        hasAnswered(target);
        return answer;
      } catch (caught) {
        const error = refusal ?? caught;
        withoutCommand(error);
        if (closing.signal.aborted || !isLostContact(error)) throw coded(place, op, error);
        again ||= !wasNeverSent(error);
        const cause = trouble() ?? (error as Error);
        noteLoss(target, cause);
        if (isHasty) throw unreachable(place, { op, lostMs: lostMsOfTarget(target), why: troubleWords(cause), cause });
        // Each call has its own patience: of a cluster, other nodes may answer all the while.
        failingSince ??= clock.now();
        await waitForContact(op, cause, clock.now() - failingSince);
      }
    }
  }

  /** Sentinels and clusters are looked for without end: after a while the call goes on, fails, and counts its patience. */
  async function firstConnect(fresh: Client): Promise<void> {
    if (fresh.status !== "wait") return;
    const connected = new AbortController();
    const done = () => connected.abort();
    fresh.connect().then(done, done);
    await clock.sleep(FIRST_CONNECT_MS, connected.signal);
  }

  function hasAnswered(target: string): void {
    // Of a cluster, one node may have refused us and another answer.
    refusal = undefined;
    if (!lostAt.has(target)) return;
    log.warn("broker.back", { broker: place.shown, lostMs: lostMsOfTarget(target) });
    lostAt.delete(target);
    diagnosis = undefined;
  }

  function noteLoss(target: string, cause: Error): void {
    // Told once, for however many shards: they are mostly lost together.
    if (lostAt.size === 0) log.warn("broker.lost", { broker: place.shown, cause: troubleWords(cause) });
    if (!lostAt.has(target)) lostAt.set(target, clock.now());
  }

  function lostMsOfTarget(target: string): number {
    return clock.now() - (lostAt.get(target) ?? clock.now());
  }

  async function waitForContact(op: string, cause: Error, lostMs: number): Promise<void> {
    if (lostMs >= patienceMs) {
      diagnosis ??= diagnose(place, cause, probe);
      throw unreachable(place, { op, lostMs, why: await diagnosis, cause });
    }
    await clock.sleep(TRY_AGAIN_MS, closing.signal);
  }

  async function evaluate({ sha, source }: Script, shard: string, words: readonly Word[]): Promise<Reply> {
    // A former master that is master again has the scripts, and may lack the last writes.
    if (!asked.has(shard)) await recover(shard);
    asked.add(shard);
    try {
      return (await client.evalsha(sha, 1, shard, ...words)) as Reply;
    } catch (error) {
      if (!isUnknownScript(error)) throw error;
      await recover(shard);
      return (await client.eval(source, 1, shard, ...words)) as Reply;
    }
  }

  /** What a script was not allowed to do, by name. Asked with a time, or it would need the right to ask for one. */
  async function namingRights(error: unknown, op: string, shard: string): Promise<unknown> {
    if (!isDeniedInScript(error)) return error;
    const { source } = scriptNamed(scripts, "find-denied");
    const [, ...denied] = (await client.eval(source, 1, shard, "0", ...RIGHTS, "info")) as Reply;
    return denied.length === 0 ? error : rightsMissing(op, denied.map(String), place.shown);
  }

  /** Before a server that has lost its scripts grants anything, it must know whether it has lost anything else. */
  async function recover(shard: string): Promise<void> {
    const { source } = scriptNamed(scripts, "recover");
    const hasRestarted = (await client.eval(source, 1, shard)) === 1;
    if (!hasRestarted) return;
    log.warn("broker.restarted", { broker: place.shown });
    mayHaveRestarted();
  }

  function scriptFor(name: string, shard: string): Script {
    if (!PER_SHARD.has(name)) return scriptNamed(scripts, name);
    const own = ownScripts.get(`${name} ${shard}`) ?? withComment(scriptNamed(scripts, name), shard);
    ownScripts.set(`${name} ${shard}`, own);
    return own;
  }

  return {
    shown: place.shown,
    async run(name, shard, words, { isHasty } = { isHasty: false }) {
      const script = scriptFor(name, shard);
      let isAgain = false;
      const reply = await persist({ op: `frontier.${name}`, target: shard, isHasty }, async (again) => {
        isAgain = again;
        const sentAt = clock.now();
        const answer = await evaluate(script, shard, words(again)).catch(async (error: unknown) => {
          throw await namingRights(error, `frontier.${name}`, shard);
        });
        timeOf(shard).heard(sentAt, Number(typeof answer === "string" ? answer : answer[0]));
        return answer;
      });
      return { reply, again: isAgain };
    },
    ask(command, ...words) {
      const about = { op: `frontier.${command}`, target: "", isHasty: false };
      return persist(about, () => client.call(command, ...words));
    },
    async listen(channel, heard) {
      ears ??= opened(connect(place));
      const listener = ears;
      // One for each shard.
      listener.setMaxListeners(0);
      await persist({ op: "frontier.listen", target: "ears", isHasty: false }, async () => {
        await firstConnect(listener);
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

/** The library hangs the whole command on an error: a password, or a script of 30 KB, that would end up in a log. */
function withoutCommand(error: unknown): void {
  if (error instanceof Error && "command" in error) error.command = undefined;
}
