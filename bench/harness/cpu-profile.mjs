/** Reads V8's .cpuprofile files: where the time of a process went. Pure. */

// What V8 reports beside functions. Waiting is not work, so it is kept out of the shares.
const WAITING = new Set(["(idle)", "(root)"]);

/**
 * Self time by function over several profiles (one per thread and process), largest first. `place` turns a script's URL
 * into what is shown of it.
 */
export function rankFunctions(profiles, place) {
  return rank(profiles, ({ functionName, url, lineNumber }) => {
    const name = functionName === "" ? "(anonymous)" : functionName;
    return url === "" ? name : `${name}  ${place(url)}:${lineNumber + 1}`;
  });
}

/** Self time by what `partOf` makes of a script's URL: a package, a folder. */
export function rankParts(profiles, partOf) {
  return rank(profiles, ({ functionName, url }) => {
    if (url !== "") return partOf(url);
    return functionName.startsWith("(") ? functionName : "(native)";
  });
}

function rank(profiles, labelOf) {
  const selfUs = new Map();
  for (const profile of profiles) {
    const labels = new Map(profile.nodes.map((node) => [node.id, labelOf(node.callFrame)]));
    for (const [nth, nodeId] of profile.samples.entries()) {
      const label = labels.get(nodeId);
      // The clock of a sample may run a little backwards between threads' cores.
      selfUs.set(label, (selfUs.get(label) ?? 0) + Math.max(0, profile.timeDeltas[nth]));
    }
  }
  const worked = [...selfUs].filter(([label]) => !WAITING.has(label));
  const totalUs = worked.reduce((sum, [, us]) => sum + us, 0);
  return worked
    .map(([label, us]) => ({ label, selfMs: us / 1_000, share: us / totalUs }))
    .toSorted((a, b) => b.selfMs - a.selfMs);
}
