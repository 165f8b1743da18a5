/**
 * Runs the same command in two modes: with direct access to broker and store, and through a server on the same broker
 * and store.
 */
import { join } from "node:path";
import { startWorking, type Working } from "../../api/working-api.ts";
import { type CliEnd, type CliOptions, trawl } from "../cli.ts";
import { newFolder } from "../folder.ts";

export const OPERATOR = "operator-key-0123456789";
export const READER = "reader-key-0123456789ab";

export type BothModes = Working & {
  direct(args: readonly string[], options?: Partial<CliOptions>): Promise<CliEnd>;
  remote(args: readonly string[], options?: Partial<CliOptions>): Promise<CliEnd>;
  cwd: string;
  /** The settings of broker and store for both modes. */
  storage: Readonly<Record<string, string>>;
};

type Content = Parameters<typeof startWorking>[0];

export async function startBothModes(content: Content, settings: Record<string, unknown> = {}): Promise<BothModes> {
  const cwd = newFolder();
  const broker = `sqlite:${join(cwd, "broker.db")}`;
  const store = `sqlite:${join(cwd, "store.db")}`;
  const working = await startWorking(content, { broker, store, ...settings });
  const storage = { TRAWL_BROKER: broker, TRAWL_STORE: store };
  const runWith =
    (env: Readonly<Record<string, string>>): BothModes["direct"] =>
    (args, options = {}) =>
      trawl(args, { cwd, ...options, env: { ...env, ...options.env } });
  const isKeyed = settings.apiKeys !== undefined;
  return {
    ...working,
    ...{ cwd, storage },
    direct: runWith(storage),
    remote: runWith({ TRAWL_API: working.url, ...(isKeyed ? { TRAWL_API_KEY: OPERATOR } : {}) }),
  };
}

export const KEYED = { apiKeys: [`operator:${OPERATOR}:admin`, `reader:${READER}:read`] };

/** The exit code and output without times and ids, which differ between two runs. */
export function comparableOutput({ code, stdout, stderr }: CliEnd, ...ids: readonly string[]): object {
  const plain = (text: string) =>
    ids
      .reduce((output, id) => output.replaceAll(id, "ID"), text)
      .replaceAll(/\d+(ms|s|m|h|d) ago/g, "AGO")
      .replaceAll(/ in \d+[smhd]\b/g, " in SOON")
      .replaceAll(
        /"(createdAt|finishedAt|endedAt|nextAt|revokedAt|at|next|id|jobId|requestId|key)":("[^"]*"|\d+)/g,
        '"$1":"-"',
      )
      .replaceAll(/\bjob j[0-9a-z]{14,}/g, "job ID")
      .replaceAll(/"rate":[\d.]+/g, '"rate":0')
      .replaceAll(/\b(after|started) [\d.]+ ?(ms|s)/g, "$1 A-WHILE");
  return { code, stdout: plain(stdout), stderr: plain(stderr) };
}
