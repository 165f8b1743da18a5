/** The settings of `trawl serve`. */
import { count, duration, type Field, text } from "./fields.ts";
import { keyList } from "./key-list.ts";

export const SERVER_SETTINGS = {
  apiHost: text({
    env: "TRAWL_API_HOST",
    default: "127.0.0.1",
    doc: "Address that the server of `trawl serve` and `trawl up` listens on. Without API keys, only loopback addresses are allowed.",
  }),
  apiKeys: keyList({
    env: "TRAWL_API_KEYS",
    doc: "API keys in addition to those of `trawl keys add`: `name:secret:scopes` or `name:secret:scopes:tenant`, separated by commas. Scopes are `read`, `submit` and `admin`, separated by `+`.",
  }),
  apiSpiders: text({
    env: "TRAWL_API_SPIDERS",
    default: "none",
    doc: "Folder with the spiders that jobs sent over HTTP may use. A job names a spider by its path in this folder. The folder must have the same path on the machine of every worker. `none`: jobs sent over HTTP cannot use spiders.",
  }),
  apiPort: count({
    env: "TRAWL_API_PORT",
    default: 7700,
    min: 0,
    max: 65_535,
    doc: "Port that the server of `trawl serve` and `trawl up` listens on; 0 selects a free port.",
  }),
  apiBodyBytes: count({
    env: "TRAWL_API_BODY_BYTES",
    default: 33_554_432,
    min: 1_024,
    max: 1_073_741_824,
    doc: "Maximum size in bytes of a JSON body that the server accepts. URL lists sent as `application/x-ndjson` have no limit.",
  }),
  apiTryRulesMs: duration({
    env: "TRAWL_API_TRY_RULES",
    default: "2s",
    min: "100ms",
    max: "1m",
    doc: "Time limit for one preview of extraction rules on the server. The job form of the dashboard shows such previews. A preview that takes longer is aborted, because its rules would also be too slow for a crawl.",
  }),
} as const satisfies Record<string, Field<unknown>>;
