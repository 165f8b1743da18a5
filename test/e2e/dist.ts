/** Builds dist/ if it is out of date: the end-to-end tests run the built command line, as users do. */
import { fileURLToPath } from "node:url";

const SCRIPT = new URL("../../scripts/dist.mjs", import.meta.url);

/** The path of the built command line. */
export const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

/** Builds only if needed. After `npm test` has started, dist/ is up to date. */
export async function ensureDist(): Promise<void> {
  const { isBuilt, build } = (await import(SCRIPT.href)) as { isBuilt(): boolean; build(): boolean };
  if (!isBuilt() && !build()) throw new Error("dist/ could not be built; see the messages of the compiler");
}
