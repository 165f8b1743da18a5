/** Runs the contestants of all groups in turns, so that a machine that slows down affects all of them. */
import { createSession } from "./session.mjs";
import { summarise } from "./summary.mjs";

/**
 * `runs` has one entry per run: `{ group, contestant, round, figures, problem, notes }`. A contestant that cannot run
 * has one entry with `isSkipped` and the reason. `versions` has the version of each contestant.
 */
export async function runRounds({ options, groups, signal, print }) {
  const session = createSession({ options, signal });
  const [runs, versions] = [[], {}];
  try {
    const plan = await prepare({ options, groups, runs, versions, print });
    for (let round = 1; round <= options.rounds; round += 1) {
      for (const { group, names } of plan) {
        // Every second round runs in the opposite order: the first of two contestants has no advantage.
        for (const contestant of round % 2 === 1 ? names : names.toReversed()) {
          if (signal.aborted) return { runs, versions };
          const outcome = await runSafely(() => groups[group].run(contestant, session));
          const run = { group, contestant, round, ...outcome };
          print(describeRun(run, groups[group], options.rounds));
          runs.push(run);
        }
      }
    }
    return { runs, versions };
  } finally {
    await session.close();
  }
}

/** The contestants of each group that can run. Installs what is missing. */
async function prepare({ options, groups, runs, versions, print }) {
  const known = new Map();
  const plan = [];
  for (const group of options.only) {
    const names = [];
    for (const [contestant, definition] of Object.entries(groups[group].contestants)) {
      if (!options.contestants.includes(contestant)) continue;
      const problem = await findObstacle(contestant, definition);
      if (problem === undefined) names.push(contestant);
      else {
        print(`${group} ${contestant}: skipped, ${problem}`);
        runs.push({ group, contestant, round: 0, problem, isSkipped: true, notes: [] });
      }
    }
    plan.push({ group, names });
  }
  return plan;

  /** Prepares the contestant once, also if it is in several groups. Returns the reason if it cannot run. */
  async function findObstacle(contestant, { label, prepare: prepareOne }) {
    if (!known.has(label)) {
      const version = await prepareOne().catch((cause) => {
        known.set(label, cause.message);
      });
      if (version !== undefined) {
        known.set(label, undefined);
        versions[label] = version;
        print(`${contestant}: ${version}`);
      }
    }
    return known.get(label);
  }
}

async function runSafely(run) {
  try {
    return await run();
  } catch (cause) {
    return { problem: cause.message, notes: [] };
  }
}

function describeRun(run, definition, rounds) {
  const lead = `round ${run.round}/${rounds} ${run.group} ${run.contestant}`;
  const notes = run.notes.map((note) => `\n  note: ${note}`).join("");
  if (run.problem !== undefined) return `${lead} FAILED: ${run.problem}${notes}`;
  const [entry] = summarise([run]);
  const cells = definition.columns.map(({ heading, read }) => [heading, read(entry, definition, [])]);
  const shown = cells.filter(([, value]) => value !== undefined).map(([heading, value]) => `${heading} ${value}`);
  return `${lead}: ${shown.join(", ")}${notes}`;
}
