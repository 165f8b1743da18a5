import { type Declarations, expose } from "./metrics.ts";

export const BUILD_METRICS = {
  trawl_build_info: {
    type: "gauge",
    help: "Always 1; its labels say which Trawl this is, and on which Node.",
    labels: { version: { most: 1 }, node: { most: 1 } },
  },
} as const satisfies Declarations;

export function exposeBuild(version: string): string {
  return expose(BUILD_METRICS, { trawl_build_info: [[[version, process.version], [1]]] });
}
