/** Parses options, prints usage messages and handles interrupts for the scripts. */

/** Runs `work` and returns its exit code. If `readOptions` throws, prints the error and the usage, and returns 2. */
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

/** Parses a whole number that is at least `least`. */
export function readCount(flag, text, least = 1) {
  const count = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(count) && count >= least) return count;
  throw new Error(`${flag} takes a whole number, ${least} or more, not "${text}"`);
}

/**
 * Parses a list of names, separated by commas. Returns all known names if none are given. Keeps the order of `known`,
 * because the order of the runs affects a measurement. An alias is replaced by its names.
 */
export function readNames(flag, given, known, aliases = {}) {
  const names = given?.split(",").flatMap((name) => aliases[name] ?? [name]) ?? known;
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`${flag}: unknown name "${unknown}"; known names: ${known.join(", ")}`);
  return known.filter((name) => names.includes(name));
}

/**
 * Returns a signal that aborts at the first Ctrl-C or SIGTERM, so that the script can end the processes that it
 * started.
 */
export function interruptions() {
  const interrupted = new AbortController();
  process.once("SIGINT", () => interrupted.abort());
  process.once("SIGTERM", () => interrupted.abort());
  return interrupted.signal;
}
