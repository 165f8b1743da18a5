/** Computes from V8's .cpuprofile files where a process spent its time. Pure. */

// Labels that V8 reports instead of a function while the process waits. They are excluded from the shares.
const WAITING = new Set(["(idle)", "(root)"]);

/**
 * Self time by function, over several profiles (one per thread and process), largest first. `place` returns the text to
 * show for the URL of a script.
 */
export function rankFunctions(profiles, place) {
  return rank(profiles, ({ functionName, url, lineNumber }) => {
    const name = functionName === "" ? "(anonymous)" : functionName;
    return url === "" ? name : `${name}  ${place(url)}:${lineNumber + 1}`;
  });
}

/** Self time by part. `partOf` returns the part for the URL of a script, such as a package or a folder. */
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
      // The time between two samples can be slightly negative, because cores have different clocks.
      selfUs.set(label, (selfUs.get(label) ?? 0) + Math.max(0, profile.timeDeltas[nth]));
    }
  }
  const worked = [...selfUs].filter(([label]) => !WAITING.has(label));
  const totalUs = worked.reduce((sum, [, us]) => sum + us, 0);
  return worked
    .map(([label, us]) => ({ label, selfMs: us / 1_000, share: us / totalUs }))
    .toSorted((a, b) => b.selfMs - a.selfMs);
}
