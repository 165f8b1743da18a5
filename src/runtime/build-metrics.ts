import { type Declarations, expose } from "./metrics.ts";

export const BUILD_METRICS = {
  trawl_build_info: {
    type: "gauge",
    help: "Always 1. The labels contain the versions of Trawl and Node.js.",
    labels: { version: { max: 1 }, node: { max: 1 } },
  },
} as const satisfies Declarations;

export function exposeBuild(version: string): string {
  return expose(BUILD_METRICS, { trawl_build_info: [[[version, process.version], [1]]] });
}
