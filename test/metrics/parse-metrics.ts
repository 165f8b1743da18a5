/**
 * A strict parser of the Prometheus text format 0.0.4. Like `promtool check metrics`, it returns the problems of a
 * scrape. It is written from the description of the format, and shares no code with src/.
 */

export type Sample = { name: string; labels: Readonly<Record<string, string>>; value: number };
export type Family = { name: string; type: string; help: string; samples: Sample[] };
export type Scrape = { families: ReadonlyMap<string, Family>; problems: readonly string[] };

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const LABEL = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
const TYPES = new Set(["counter", "gauge", "histogram", "summary", "untyped"]);
/** Names end in a base unit, or count things. */
const WRONG_UNITS = /_(ms|milliseconds|minutes|hours|days|kb|mb|gb|kilobytes|megabytes|percent)(_total)?$/;

export function parseMetrics(text: string): Scrape {
  const families = new Map<string, Family>();
  const problems: string[] = [];
  let current: Family | undefined;
  if (!text.endsWith("\n")) problems.push("the last line has no line break");
  for (const [nth, line] of text.split("\n").slice(0, -1).entries()) {
    const wrong = (what: string) => void problems.push(`line ${nth + 1}: ${what}: ${line.slice(0, 200)}`);
    if (line === "") wrong("is empty");
    else if (line.startsWith("#")) current = comment(line, current, families, wrong);
    else {
      const sample = readSample(line);
      if (typeof sample === "string") wrong(sample);
      else if (current === undefined || current.type === "") wrong("has no HELP and TYPE before it");
      else if (familyName(sample.name, current.type) !== current.name) wrong(`is among the samples of ${current.name}`);
      else current.samples.push(sample);
    }
  }
  for (const family of families.values()) problems.push(...problemsOf(family));
  return { families, problems };
}

function comment(
  line: string,
  current: Family | undefined,
  families: Map<string, Family>,
  wrong: (what: string) => void,
): Family | undefined {
  const [, kind = "", name = "", rest = ""] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
  if (kind === "HELP") {
    if (families.has(name)) wrong("there are two metrics of that name");
    if (!NAME.test(name)) wrong("the name is not allowed");
    const family = { name, help: rest, type: "", samples: [] };
    families.set(name, family);
    return family;
  }
  if (kind !== "TYPE") wrong("is neither HELP nor TYPE");
  else if (current?.name !== name) wrong("TYPE does not follow its HELP");
  else if (!TYPES.has(rest)) wrong("the type is unknown");
  else if (current.type !== "") wrong("has two types");
  else current.type = rest;
  return current;
}

/** The sample, or the problem with the line. */
function readSample(line: string): Sample | string {
  const [, name = "", braces, text = ""] = /^([^\s{]+)(\{.*\})? (\S+)$/.exec(line) ?? [];
  if (!NAME.test(name)) return "cannot be read";
  const value = text === "+Inf" ? Number.POSITIVE_INFINITY : text === "-Inf" ? Number.NEGATIVE_INFINITY : Number(text);
  if (text === "" || (Number.isNaN(value) && text !== "NaN")) return "the value is not a number";
  const labels = readLabels(braces?.slice(1, -1) ?? "");
  return typeof labels === "string" ? labels : { name, labels, value };
}

function readLabels(text: string): Record<string, string> | string {
  const labels: Record<string, string> = {};
  let left = text;
  while (left !== "") {
    const [whole = "", name = "", quoted = ""] = /^([^=]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,(?=.)|$)/.exec(left) ?? [];
    if (whole === "" || !LABEL.test(name) || name.startsWith("__")) return "the labels cannot be read";
    if (name in labels) return `the label ${name} occurs twice`;
    labels[name] = quoted.replace(/\\(["\\n])/g, (_, mark: string) => (mark === "n" ? "\n" : mark));
    left = left.slice(whole.length);
  }
  return labels;
}

function familyName(name: string, type: string): string {
  return type === "histogram" ? name.replace(/_(bucket|sum|count)$/, "") : name;
}

function problemsOf(family: Family): string[] {
  const { name, type, help, samples } = family;
  const problems: string[] = [];
  if (type === "") problems.push(`${name} has no type`);
  if (help.trim() === "") problems.push(`${name} has no help`);
  if (samples.length === 0) problems.push(`${name} has no sample`);
  if ((type === "counter") !== name.endsWith("_total"))
    problems.push(`${name}: counters, and only counters, end in _total`);
  if (/_(bucket|sum|count)$/.test(name)) problems.push(`${name} is named as a part of a histogram`);
  if (WRONG_UNITS.test(name)) problems.push(`${name} is not in seconds, bytes or a ratio`);
  const series = samples.map(({ name: own, labels }) => `${own}${JSON.stringify(Object.entries(labels).sort())}`);
  if (new Set(series).size !== series.length) problems.push(`${name} has a series twice`);
  const names = new Set(
    samples.map(({ labels }) =>
      Object.keys(labels)
        .filter((label) => label !== "le")
        .join(),
    ),
  );
  if (names.size > 1) problems.push(`${name} has series with different labels`);
  if (type === "counter" && samples.some(({ value }) => !(value >= 0))) problems.push(`${name} has a value below 0`);
  return type === "histogram" ? [...problems, ...histogramProblems(family)] : problems;
}

function histogramProblems({ name, samples }: Family): string[] {
  const series = new Map<string, Sample[]>();
  for (const sample of samples) {
    const { le: _le, ...labels } = sample.labels;
    const key = JSON.stringify(Object.entries(labels).sort());
    series.set(key, [...(series.get(key) ?? []), sample]);
  }
  return [...series.values()].flatMap((own) => {
    const buckets = own.filter((sample) => sample.name === `${name}_bucket`);
    const bounds = buckets.map(({ labels }) => (labels.le === "+Inf" ? Number.POSITIVE_INFINITY : Number(labels.le)));
    const counts = buckets.map(({ value }) => value);
    const find = (part: string) => own.find((sample) => sample.name === `${name}_${part}`)?.value;
    const isRising = (values: number[]) => values.every((value, at) => at === 0 || value >= (values[at - 1] ?? 0));
    return [
      ...(bounds.at(-1) === Number.POSITIVE_INFINITY ? [] : [`${name} has no +Inf bucket`]),
      ...(isRising(bounds) && new Set(bounds).size === bounds.length ? [] : [`${name} has bounds out of order`]),
      ...(isRising(counts) ? [] : [`${name} has decreasing bucket counts`]),
      ...(counts.at(-1) === find("count") ? [] : [`${name} has a count that differs from its last bucket`]),
      ...(find("sum") === undefined ? [`${name} has no sum`] : []),
    ];
  });
}
