/** Opens the body store that `TRAWL_BODIES` names. */
import { maskedUrl } from "../config/connection-url.ts";
import type { Config } from "../config/schema.ts";
import type { BodySettings } from "../domain/request.ts";
import { TrawlError } from "../errors.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Bodies, PageSpool, RequestBodies } from "../store/bodies/bodies.ts";
import { openFileBodies } from "../store/bodies/file-bodies.ts";
import { openFileRequestBodies } from "../store/bodies/file-request-bodies.ts";
import { openFileSpool } from "../store/bodies/file-spool.ts";
import { openNoBodies, openNoRequestBodies, openNoSpool } from "../store/bodies/no-bodies.ts";

type OpenBodies = { bodies: Bodies; spool: PageSpool; requestBodies: RequestBodies };

/** The value of TRAWL_BODIES. */
type BodiesPlace =
  | { kind: "none" }
  | { kind: "folder"; path: string }
  | { kind: "bucket"; bucket: string; prefix: string };

const PART_BYTES = 8 * 1024 * 1024;
const PARTS_AT_ONCE = 4;
/** The waits between this many attempts add up to about 30 s, longer than a server takes to restart. */
const TRIES = 8;
const RETRY_FOR_MS = 30_000;
const BACKOFF_MS = 200;

/** Opens the body store without sending a request. Throws BAD_CONFIG if a setting is invalid. */
export async function openBodies(
  config: Config,
  deps: { clock: Clock },
  tuning = { tries: TRIES },
): Promise<OpenBodies> {
  const settings = { bodies: config.bodies, requestBodyBytes: config.requestBodyBytes };
  const place = bodiesPlace(config);
  switch (place.kind) {
    case "none":
      return { bodies: openNoBodies(), spool: openNoSpool(), requestBodies: openNoRequestBodies(settings) };
    case "folder":
      return {
        bodies: openFileBodies(place.path),
        spool: openFileSpool(place.path),
        requestBodies: openFileRequestBodies(place.path, settings),
      };
    case "bucket":
      return openBucket(config, place, deps, tuning, settings);
  }
}

/** Parses TRAWL_BODIES. Throws BAD_CONFIG. */
export function bodiesPlace({ bodies }: Config): BodiesPlace {
  if (bodies === "none") return { kind: "none" };
  if (bodies.startsWith("file:") && bodies !== "file:") return { kind: "folder", path: bodies.slice("file:".length) };
  const [, bucket, path = ""] = /^s3:\/\/([a-z0-9][a-z0-9.-]+)(?:\/(.*))?$/.exec(bodies) ?? [];
  const prefix = path.replace(/\/+$/, "");
  if (bucket !== undefined) return { kind: "bucket", bucket, prefix: prefix === "" ? "" : `${prefix}/` };
  throw badSetting(
    "TRAWL_BODIES",
    `is ${JSON.stringify(maskedUrl(bodies))}; this version takes file:PATH (such as file:.trawl/bodies), s3://BUCKET/PREFIX (such as s3://my-bucket/pages) or none`,
  );
}

/** Loads the S3 client on first use. */
async function openBucket(
  config: Config,
  { bucket, prefix }: BodiesPlace & { kind: "bucket" },
  deps: { clock: Clock },
  { tries }: { tries: number },
  settings: BodySettings,
): Promise<OpenBodies> {
  const { s3Region: region, s3AccessKey: accessKey, s3SecretKey: secretKey, s3SessionToken, s3TimeoutMs } = config;
  const endpoint = endpointOf(config);
  if (accessKey === "" || secretKey === "") {
    const missing = accessKey === "" ? "TRAWL_S3_ACCESS_KEY" : "TRAWL_S3_SECRET_KEY";
    const both = "TRAWL_S3_ACCESS_KEY and TRAWL_S3_SECRET_KEY, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
    throw badSetting(missing, `is empty, but bodies are stored in s3://${bucket}; set ${both}`);
  }
  const isPathStyle = config.s3PathStyle === "auto" ? config.s3Endpoint !== "auto" : config.s3PathStyle === "on";
  const sessionToken = s3SessionToken === "" ? undefined : s3SessionToken;
  const [{ createS3Client }, { openS3Objects }, { openS3Bodies }, { openS3Spool }, { openS3RequestBodies }] =
    await Promise.all([
      import("../store/bodies/s3/s3-client.ts"),
      import("../store/bodies/s3/s3-objects.ts"),
      import("../store/bodies/s3/s3-bodies.ts"),
      import("../store/bodies/s3/s3-spool.ts"),
      import("../store/bodies/s3/s3-request-bodies.ts"),
    ]);
  const tuning = { timeoutMs: s3TimeoutMs, tries, retryForMs: RETRY_FOR_MS, backoffMs: BACKOFF_MS };
  const keys = { accessKey, secretKey, sessionToken };
  const client = createS3Client(deps, { endpoint, bucket, isPathStyle, region, ...keys, ...tuning });
  const sizes = { partBytes: PART_BYTES, partsAtOnce: PARTS_AT_ONCE };
  const objects = openS3Objects(client, { endpoint, bucket, prefix, ...sizes });
  return {
    bodies: openS3Bodies(objects, () => deps.clock.now()),
    spool: openS3Spool(objects),
    requestBodies: openS3RequestBodies(objects, settings),
  };
}

function endpointOf({ s3Endpoint, s3Region }: Config): string {
  if (s3Endpoint === "auto") return `https://s3.${s3Region}.amazonaws.com`;
  const url = URL.canParse(s3Endpoint) ? new URL(s3Endpoint) : undefined;
  const isGood = url !== undefined && /^https?:$/.test(url.protocol) && url.username === "" && url.search === "";
  if (isGood) return s3Endpoint;
  throw badSetting(
    "TRAWL_S3_ENDPOINT",
    "is not an http(s) URL without credentials and query; set a URL such as https://minio.example:9000",
  );
}

function badSetting(setting: string, problem: string): TrawlError {
  return new TrawlError("BAD_CONFIG", { op: "compose", message: `${setting} ${problem}`, detail: { setting } });
}
