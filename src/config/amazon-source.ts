import type { Source } from "./resolve.ts";

/**
 * What the variables that every S3 program reads say, for whoever has set them anyway: the weakest source. Keys are one
 * thing of several parts: where ours are given, none of these is mixed in.
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
  const place = {
    s3Endpoint: first("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"),
    s3Region: first("AWS_REGION", "AWS_DEFAULT_REGION"),
  };
  return { from: "environment", values: { ...place, ...(hasOwnKeys ? {} : keys) } };
}
