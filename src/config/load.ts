/** Loads the settings of a process from `trawl.config.*` in the working folder, the environment and flags. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { TrawlError } from "../errors.ts";
import { environmentProxies } from "./proxy-list.ts";
import { environmentSource, resolveConfig, type SettingsSource } from "./resolve.ts";
import type { Config } from "./schema.ts";
import { otelSource } from "./tracing-settings.ts";

const FILES = ["trawl.config.ts", "trawl.config.mts", "trawl.config.js", "trawl.config.mjs"];

export async function loadConfig(flags: SettingsSource["values"], folder: string): Promise<Config> {
  const file = FILES.map((name) => join(folder, name)).find((path) => existsSync(path));
  const sources = file === undefined ? [] : [await fileSource(file)];
  const own = [...sources, environmentSource(process.env), { from: "flags", values: flags }];
  const config = resolveConfig([amazonSource(process.env, own), otelSource(process.env), ...own]);
  const isSet = own.some(({ values }) => values.proxies !== undefined);
  return isSet ? config : Object.freeze({ ...config, proxies: environmentProxies(process.env) });
}

async function fileSource(path: string): Promise<SettingsSource> {
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
  if (typeof values === "object" && values !== null) return { from: path, values: values as SettingsSource["values"] };
  throw new TrawlError("BAD_CONFIG", {
    op: "config.load",
    message: `${path} must have a default export: an object of settings, such as { rate: "2/s" }`,
    detail: { path },
  });
}

/**
 * Reads the standard AWS variables, as other S3 programs do. This source has the lowest precedence. An access key, its
 * secret and its session token belong together: if Trawl's own settings contain a key, no part of the AWS key is used.
 */
export function amazonSource(
  environment: Readonly<Record<string, string | undefined>>,
  own: readonly SettingsSource[],
): SettingsSource {
  const first = (...names: string[]) => names.map((name) => environment[name]).find((value) => value);
  const hasOwnKeys = own.some(({ values }) => values.s3AccessKey !== undefined || values.s3SecretKey !== undefined);
  const keys = {
    s3AccessKey: first("AWS_ACCESS_KEY_ID"),
    s3SecretKey: first("AWS_SECRET_ACCESS_KEY"),
    s3SessionToken: first("AWS_SESSION_TOKEN"),
  };
  const server = {
    s3Endpoint: first("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"),
    s3Region: first("AWS_REGION", "AWS_DEFAULT_REGION"),
  };
  return { from: "environment", values: { ...server, ...(hasOwnKeys ? {} : keys) } };
}
