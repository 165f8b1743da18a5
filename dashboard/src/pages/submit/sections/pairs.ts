/** Names with values as lines of text, `name: value`: headers and the fields of a login. */

export type Pairs = Readonly<Record<string, string>>;

/** A name may contain colons, such as `login:user`, if a space follows the colon that ends it. */
const WITH_SPACE = /^(.*?):(?:\s+(.*))?$/;
const WITHOUT_SPACE = /^([^:]*):(.*)$/;

/** A line without a colon is a name with an empty value. */
export function pairsIn(text: string): Record<string, string> {
  return Object.fromEntries(linesIn(text).map(pairIn));
}

export function linesOfPairs(pairs: Pairs): string {
  return Object.entries(pairs)
    .map(([name, value]) => (value === "" ? `${name}:` : `${name}: ${value}`))
    .join("\n");
}

/** The problem of the first line that is not complete. */
export function pairsProblem(text: string): string | undefined {
  const lines = linesIn(text);
  const incomplete = lines.find((line) => !line.includes(":"));
  if (incomplete !== undefined) return `Write each line as “name: value”. This line has no colon: ${incomplete}`;
  const names = lines.map((line) => pairIn(line)[0]);
  const twice = names.find((name, nth) => names.indexOf(name) !== nth);
  return twice === undefined ? undefined : `Two lines have the name ${twice}. Only the last one is used.`;
}

/** Whether lines can contain these values without a loss. Values with line breaks can only be edited as JSON. */
export function fitLines(pairs: Readonly<Record<string, unknown>>): pairs is Pairs {
  if (!Object.values(pairs).every((value) => typeof value === "string")) return false;
  const back = pairsIn(linesOfPairs(pairs as Pairs));
  const names = Object.keys(pairs);
  return names.length === Object.keys(back).length && names.every((name) => back[name] === pairs[name]);
}

function linesIn(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
}

function pairIn(line: string): [name: string, value: string] {
  const [, name = line, value = ""] = WITH_SPACE.exec(line) ?? WITHOUT_SPACE.exec(line) ?? [];
  return [name.trim(), value.trim()];
}
