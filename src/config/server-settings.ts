/** The part of the settings that is about `trawl serve`. */
import { count, duration, type Field, text } from "./fields.ts";
import { keyList } from "./key-list.ts";

export const SERVER_SETTINGS = {
  apiHost: text({
    env: "TRAWL_API_HOST",
    shown: "127.0.0.1",
    doc: "The address `trawl serve` listens on. Without keys it is this machine's own alone.",
  }),
  apiKeys: keyList({
    env: "TRAWL_API_KEYS",
    doc: "Keys of the API beside those of `trawl keys add`: `name:secret:scopes` or `name:secret:scopes:tenant`, with commas between; scopes are `read`, `submit`, `admin`, with + between.",
  }),
  apiSpiders: text({
    env: "TRAWL_API_SPIDERS",
    shown: "none",
    doc: "The folder of spiders that jobs sent over HTTP may name, by their path in it; the same path on every worker. `none`: no job may bring a spider over HTTP, since workers run its code.",
  }),
  apiPort: count({
    env: "TRAWL_API_PORT",
    shown: 7700,
    least: 0,
    most: 65_535,
    doc: "The port `trawl serve` listens on; 0 takes any that is free.",
  }),
  apiBodyBytes: count({
    env: "TRAWL_API_BODY_BYTES",
    shown: 33_554_432,
    least: 1_024,
    most: 1_073_741_824,
    doc: "Longest JSON body `trawl serve` reads. Lists of URLs sent as application/x-ndjson may be of any length.",
  }),
  apiTryRulesMs: duration({
    env: "TRAWL_API_TRY_RULES",
    shown: "2s",
    least: "100ms",
    most: "1m",
    doc: "How long `trawl serve` reads a page by rules that somebody tries on it, as the form for a job does; what takes longer is cut off, and would be no good on a million pages, either.",
  }),
} as const satisfies Record<string, Field<unknown>>;
