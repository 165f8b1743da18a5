/** The frontier as built, or straight from the sources while working on it. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createJiti } from "jiti";
import { ROOT } from "../harness/contestants.mjs";

const FOLDERS = { dist: [join(ROOT, "dist"), ".js"], src: [join(ROOT, "src"), ".ts"] };

/** Undefined, or why Trawl cannot take part. */
export function findTrawlObstacle(from) {
  const file = fileOf(from, "frontier/redis/open");
  return existsSync(file) ? undefined : `${file} is missing`;
}

export async function loadTrawl(from) {
  const jiti = createJiti(import.meta.url);
  const load = (name) =>
    from === "dist" ? import(pathToFileURL(fileOf(from, name)).href) : jiti.import(fileOf(from, name));
  const [{ openRedisFrontier }, { systemClock }, { createLog }] = await Promise.all(
    ["frontier/redis/open", "runtime/clock", "runtime/log"].map(load),
  );
  return { openRedisFrontier, clock: systemClock(), log: createLog("warn", (line) => process.stderr.write(line)) };
}

function fileOf(from, name) {
  const [folder, ending] = FOLDERS[from];
  return join(folder, `${name}${ending}`);
}
