import type { Source } from "./resolve.ts";

/**
 * Reads the standard AWS variables, as other S3 programs do. This source has the lowest precedence. An access key, its
 * secret and its session token belong together: if Trawl's own settings contain a key, no part of the AWS key is used.
 */
export function amazonSource(
  environment: Readonly<Record<string, string | undefined>>,
  own: readonly Source[],
): Source {
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
