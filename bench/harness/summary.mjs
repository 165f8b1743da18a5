/** Summaries of runs, and the tables that show them. Pure. */
import { spread } from "./spread.mjs";

/**
 * For each contestant of a group: median, minimum and maximum of each figure over its valid runs. Without valid runs
 * there are no figures, and `reason` says why.
 */
export function summarise(runs) {
  const keys = [...new Set(runs.map(({ group, contestant }) => JSON.stringify([group, contestant])))];
  return keys.map((key) => {
    const [group, contestant] = JSON.parse(key);
    const own = runs.filter((run) => run.group === group && run.contestant === contestant);
    const valid = own.filter(({ figures }) => figures !== undefined);
    const notes = [...new Set(own.flatMap(({ notes = [] }) => notes.slice(0, 1)))];
    const entry = { group, contestant, runs: own.length, failed: own.length - valid.length, notes };
    if (valid.length === 0) return { ...entry, reason: own[0].problem.split("\n")[0] };
    return { ...entry, gapsBy: valid[0].gapsBy, figures: summariseFigures(valid.map(({ figures }) => figures)) };
  });
}

function summariseFigures(list) {
  const names = [...new Set(list.flatMap(Object.keys))];
  return Object.fromEntries(names.map((name) => [name, spread(list.flatMap((one) => one[name] ?? []))]));
}

/** The summaries of a group, in the order of its contestants. */
export function entriesOf(groupName, definition, summary) {
  return Object.keys(definition.contestants).flatMap((name) =>
    summary.filter(({ group, contestant }) => group === groupName && contestant === name),
  );
}

/**
 * The cells of the table of a group, headings first. A contestant without figures has its reason in the last column.
 */
export function tableOf(groupName, definition, summary) {
  const cells = entriesOf(groupName, definition, summary).map((entry) => {
    const { label } = definition.contestants[entry.contestant];
    const remarks = [
      ...(entry.reason === undefined ? [] : [entry.reason]),
      ...(entry.figures !== undefined && entry.failed > 0 ? [`failed ${entry.failed} of ${entry.runs}`] : []),
      ...entry.notes.slice(0, 1),
    ];
    const read = (column) => (entry.figures === undefined ? undefined : column.read(entry, definition, summary));
    return { label, values: definition.columns.map(read), remark: remarks.join("; ") };
  });
  // A column without any value is not shown.
  const shown = definition.columns.map((_, nth) => cells.some(({ values }) => values[nth] !== undefined));
  const keep = (list) => list.filter((_, nth) => shown[nth]);
  const hasRemarks = cells.some(({ remark }) => remark !== "");
  const row = (label, values, remark) => [label, ...keep(values), ...(hasRemarks ? [remark] : [])];
  return [
    row(
      "",
      definition.columns.map(({ heading }) => heading),
      "remarks",
    ),
    ...cells.map(({ label, values, remark }) =>
      row(
        label,
        values.map((value) => value ?? "-"),
        remark,
      ),
    ),
  ];
}
