/** Loads the frontier from dist/, or from src/ while you work on it. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createJiti } from "jiti";
import { ROOT } from "../harness/contestants.mjs";

const FOLDERS = { dist: [join(ROOT, "dist"), ".js"], src: [join(ROOT, "src"), ".ts"] };

/** Why Trawl cannot run; undefined if it can. */
export function findTrawlObstacle(from) {
  const file = fileOf(from, "frontier/redis/open");
  return existsSync(file) ? undefined : `${file} is missing`;
}

function loader(from) {
  const jiti = createJiti(import.meta.url);
  return (name) => (from === "dist" ? import(pathToFileURL(fileOf(from, name)).href) : jiti.import(fileOf(from, name)));
}

/** Submits one URL as a job, like the command line does, without reading robots.txt. */
export async function loadSubmit(from) {
  const names = ["config/resolve", "submit/resolve-job", "submit/broker-intake"];
  const [{ resolveConfig }, { newJobId, parseJob, resolveJob }, { submitList }] = await Promise.all(
    names.map(loader(from)),
  );
  const config = resolveConfig([]);
  return (frontier, url) => {
    const input = parseJob({ urls: [url], politeness: { robots: false, rate: "unlimited", perSite: 64 } });
    const context = { id: newJobId(Date.now()), requestId: "bench", queue: "fetch", typedHosts: [], out: undefined };
    const none = async () => undefined;
    const deps = { frontier, lookUp: none, admit: none, addWebhook: none, now: Date.now };
    return submitList(deps, resolveJob(input, config, context), [url], "never");
  };
}

export async function loadTrawl(from) {
  const load = loader(from);
  const [{ openRedisFrontier }, { systemClock }, { createLog }] = await Promise.all(
    ["frontier/redis/open", "runtime/clock", "runtime/log"].map(load),
  );
  return { openRedisFrontier, clock: systemClock(), log: createLog("warn", (line) => process.stderr.write(line)) };
}

function fileOf(from, name) {
  const [folder, ending] = FOLDERS[from];
  return join(folder, `${name}${ending}`);
}
