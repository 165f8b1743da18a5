/**
 * All groups of `npm run bench`. A group has a title, contestants, the columns of its table, and `run`, which measures
 * one contestant once and resolves with `{ figures, problem, notes }`.
 */
import { crawlGroups } from "./crawl/group.mjs";
import { neighbourGroup } from "./crawl/neighbours.mjs";
import { frontierGroups } from "./frontier/groups.mjs";
import { submitGroup } from "./submit/group.mjs";

/** `before` is the folder of another checkout, or undefined. */
export function listGroups({ before }) {
  return {
    ...crawlGroups({ before }),
    neighbour: neighbourGroup({ before }),
    ...frontierGroups({ before }),
    submit: submitGroup({ before }),
  };
}

/** Each alias names several groups. */
export function listAliases(groups) {
  const crawls = Object.keys(groups).filter((name) => groups[name].workload !== undefined);
  return { crawl: crawls, all: Object.keys(groups) };
}
