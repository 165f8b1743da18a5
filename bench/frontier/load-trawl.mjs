/** Loads the frontier from dist/, from src/ while you work on it, or from the dist/ of another checkout. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createJiti } from "jiti";
import { ROOT } from "../harness/folders.mjs";

const FOLDERS = { dist: [join(ROOT, "dist"), ".js"], src: [join(ROOT, "src"), ".ts"] };

/** Why Trawl cannot run; undefined if it can. */
export function findTrawlObstacle(from) {
  const file = fileOf(from, "frontier/redis/open");
  return existsSync(file) ? undefined : `${file} is missing`;
}

function loader(from) {
  const jiti = createJiti(import.meta.url);
  return (name) => (from === "src" ? jiti.import(fileOf(from, name)) : import(pathToFileURL(fileOf(from, name)).href));
}

/** Returns a function that submits one URL as a job, like the command line does, but without reading robots.txt. */
export async function loadSubmit(from) {
  const names = ["config/resolve", "submit/resolve-job", "submit/broker-intake", "store/bodies/no-bodies"];
  const [{ resolveConfig }, { newJobId, parseJob, resolveJob }, { submitList }, { openNoRequestBodies }] =
    await Promise.all(names.map(loader(from)));
  const config = resolveConfig([]);
  // An older version, which is measured beside this one, has no such function and needs no request bodies.
  const requestBodies = openNoRequestBodies?.({ bodies: "none", requestBodyBytes: 65_536 });
  return (frontier, url) => {
    const input = parseJob({ urls: [url], politeness: { robots: false, rate: "unlimited", perSite: 64 } });
    const context = { id: newJobId(Date.now()), requestId: "bench", queue: "fetch", typedHosts: [], out: undefined };
    const none = async () => undefined;
    const deps = { frontier, requestBodies, lookUp: none, admit: none, addWebhook: none, now: Date.now };
    return submitList(deps, resolveJob(input, config, context), [url], "never");
  };
}

export async function loadTrawl(from) {
  const load = loader(from);
  const names = ["frontier/redis/open", "frontier/sqlite/open", "runtime/clock", "runtime/log"];
  const [{ openRedisFrontier }, { openSqliteFrontier }, { systemClock }, { createLog }] = await Promise.all(
    names.map(load),
  );
  const log = createLog("warn", (line) => process.stderr.write(line));
  return { openRedisFrontier, openSqliteFrontier, clock: systemClock(), log };
}

function fileOf(from, name) {
  const [folder, ending] = FOLDERS[from] ?? [join(from, "dist"), ".js"];
  return join(folder, `${name}${ending}`);
}
