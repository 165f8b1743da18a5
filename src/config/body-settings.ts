/** The settings of body storage: bodies of pages and of requests. */
import { MAX_REQUEST_BODY } from "../domain/request.ts";
import { choice, count, duration, type Field, secret, text } from "./fields.ts";

export const BODY_SETTINGS = {
  bodies: text({
    env: "TRAWL_BODIES",
    default: "file:.trawl/bodies",
    doc: "Where bodies, screenshots, PDFs, spooled pages and large request bodies are stored: `file:PATH`, `s3://BUCKET[/PREFIX]` or `none`. With `none`, jobs with `keep.bodies`, screenshots, PDFs, `parse: queue` or request bodies of more than 65,536 bytes are refused.",
  }),
  requestBodyBytes: count({
    env: "TRAWL_REQUEST_BODY_BYTES",
    default: 10_000_000,
    min: 65_536,
    max: MAX_REQUEST_BODY,
    doc: "Maximum size in bytes of the body of a request. Bodies of more than 65,536 bytes are stored in `TRAWL_BODIES` until the job is deleted or archived; all servers and workers need the same `TRAWL_BODIES`.",
  }),
  s3Endpoint: text({
    env: "TRAWL_S3_ENDPOINT",
    default: "auto",
    doc: "URL of the S3 server, such as `https://minio.example:9000`. If you do not set it, `AWS_ENDPOINT_URL_S3` or `AWS_ENDPOINT_URL` is used; if these are not set either, `auto` applies. `auto`: Amazon S3 in `s3Region`.",
  }),
  s3Region: text({
    env: "TRAWL_S3_REGION",
    default: "us-east-1",
    doc: "Region of the S3 bucket. If you do not set it, `AWS_REGION` or `AWS_DEFAULT_REGION` is used; if these are not set either, the default applies.",
  }),
  s3PathStyle: choice({
    env: "TRAWL_S3_PATH_STYLE",
    default: "auto",
    of: ["auto", "on", "off"],
    doc: "Whether the bucket name is in the path of S3 URLs (`on`) or in the host (`off`). `auto`: in the host if `s3Endpoint` is `auto`, else in the path.",
  }),
  s3AccessKey: secret({
    env: "TRAWL_S3_ACCESS_KEY",
    doc: "Access key id for the S3 server. If neither `s3AccessKey` nor `s3SecretKey` is set, `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN` are used.",
  }),
  s3SecretKey: secret({ env: "TRAWL_S3_SECRET_KEY", doc: "Secret access key for the S3 server." }),
  s3SessionToken: secret({
    env: "TRAWL_S3_SESSION_TOKEN",
    doc: "Session token for temporary S3 credentials.",
  }),
  s3TimeoutMs: duration({
    env: "TRAWL_S3_TIMEOUT",
    default: "30s",
    min: "100ms",
    max: "1h",
    doc: "Timeout of one attempt to send a request to the S3 server. After a temporary failure, Trawl tries again, up to 8 times in total. It does not start another attempt later than 30 seconds after the start of the first.",
  }),
} as const satisfies Record<string, Field<unknown>>;
