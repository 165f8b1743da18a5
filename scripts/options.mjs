/** What the scripts that take options share: reading them, saying how a script is used, and being interrupted. */

/** The exit code of a script: what `readOptions` throws is told with the usage, and ends it with 2. */
export async function withOptions({ usage, readOptions }, work) {
  let options;
  try {
    options = readOptions();
  } catch (cause) {
    console.error(`${cause.message}\n\n${usage}`);
    return 2;
  }
  return work(options);
}

/** A whole number, from `least` on. */
export function readCount(flag, words, least = 1) {
  const count = /^\d+$/.test(words) ? Number(words) : Number.NaN;
  if (Number.isSafeInteger(count) && count >= least) return count;
  throw new Error(`${flag} takes a whole number, ${least} or more, not "${words}"`);
}

/** Aborts at the first Ctrl-C or SIGTERM, so that what was started can be ended. */
export function interruptions() {
  const interrupted = new AbortController();
  process.once("SIGINT", () => interrupted.abort());
  process.once("SIGTERM", () => interrupted.abort());
  return interrupted.signal;
}
