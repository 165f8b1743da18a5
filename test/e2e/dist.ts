/** Makes sure that dist/ is what src/ says: these tests run the built command line, as a user does. */
import { fileURLToPath } from "node:url";

const SCRIPT = new URL("../../scripts/dist.mjs", import.meta.url);

/** What `trawl` is, once it is built. */
export const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

/** Builds only where that is due; `npm test` has done it before. */
export async function ensureDist(): Promise<void> {
  const { isBuilt, build } = (await import(SCRIPT.href)) as { isBuilt(): boolean; build(): boolean };
  if (!isBuilt() && !build()) throw new Error("dist/ could not be built; the compiler has said why");
}
