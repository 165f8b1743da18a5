/** The offered media type that the client prefers. The first offered type is the default. */
export function pickType<T extends string>(accept: string | string[] | undefined, offered: readonly [T, ...T[]]): T {
  const wanted = String(accept ?? "")
    .split(",", MAX_ENTRIES)
    .map(parseEntry)
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight);
  for (const { type } of wanted) {
    if (type === "*/*") return offered[0];
    const found = offered.find((each) => each === type || (type.endsWith("/*") && each.startsWith(type.slice(0, -1))));
    if (found !== undefined) return found;
  }
  return offered[0];
}

/** Further entries of an Accept header are ignored. */
const MAX_ENTRIES = 50;

function parseEntry(text: string): { type: string; weight: number } {
  const [type = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase());
  const weight = parameters.find((part) => part.startsWith("q="))?.slice("q=".length);
  return { type, weight: weight === undefined ? 1 : Number(weight) || 0 };
}
