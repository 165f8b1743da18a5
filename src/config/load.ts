/** Loads the settings of a process from `trawl.config.*` in the working folder, the environment and flags. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { TrawlError } from "../errors.ts";
import { amazonSource } from "./amazon-source.ts";
import { environmentSource, resolveConfig, type Source } from "./resolve.ts";
import type { Config } from "./schema.ts";
import { otelSource } from "./tracing-settings.ts";

const FILES = ["trawl.config.ts", "trawl.config.mts", "trawl.config.js", "trawl.config.mjs"];

export async function loadConfig(flags: Source["values"], folder: string): Promise<Config> {
  const file = FILES.map((name) => join(folder, name)).find((path) => existsSync(path));
  const sources = file === undefined ? [] : [await fileSource(file)];
  const own = [...sources, environmentSource(process.env), { from: "flags", values: flags }];
  return resolveConfig([amazonSource(process.env, own), otelSource(process.env), ...own]);
}

async function fileSource(path: string): Promise<Source> {
  // Imported on first use: most folders have no config file, and the TypeScript compiler is slow to load.
  const { loadModule } = await import("../runtime/load-module.ts");
  const loaded = await loadModule(resolve(path), (cause) => {
    return new TrawlError("BAD_CONFIG", {
      op: "config.load",
      message: `${path} cannot be loaded: ${cause.message}`,
      detail: { path },
      cause,
    });
  });
  const values = loaded.default;
  if (typeof values === "object" && values !== null) return { from: path, values: values as Source["values"] };
  throw new TrawlError("BAD_CONFIG", {
    op: "config.load",
    message: `${path} must export default an object of settings, such as { rate: "2/s" }`,
    detail: { path },
  });
}
