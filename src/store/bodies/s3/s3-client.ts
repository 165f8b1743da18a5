/**
 * Signed requests to one bucket (AWS signature 4). All requests are idempotent and may be retried. The bucket is
 * configured by the operator, like the broker, so requests do not go through the egress gate.
 */
import { hash, randomInt } from "node:crypto";
import { AwsV4Signer } from "aws4fetch";
import { backoffMs } from "../../../domain/backoff.ts";
import type { Clock } from "../../../runtime/clock.ts";

export type S3ClientOptions = {
  /** URL of the service, without the bucket: `https://s3.eu-west-1.amazonaws.com`. */
  endpoint: string;
  bucket: string;
  /** True: URLs are `endpoint/bucket/key`. False: they are `bucket.endpoint/key`. */
  isPathStyle: boolean;
  region: string;
  accessKey: string;
  secretKey: string;
  /** Session token of temporary credentials. */
  sessionToken: string | undefined;
  /** Timeout of one attempt, including the whole response body. */
  timeoutMs: number;
  /** Maximum number of attempts if the server is unreachable, busy or failing. */
  tries: number;
  /** After this time, a failed attempt is not retried: a worker that stops must wait for its requests. */
  retryForMs: number;
  /** Delay before the second attempt; doubled for each further one. */
  backoffMs: number;
};

export type S3Request = {
  method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  key: string;
  query?: Readonly<Record<string, string>>;
  body?: Buffer;
};

export type S3Answer = { status: number; headers: Headers; body: Buffer };

export type S3Client = {
  /** Returns the response to the last attempt, whatever its status. Rejects if that attempt got no response. */
  send(request: S3Request): Promise<S3Answer>;
};

export function createS3Client({ clock }: { clock: Clock }, options: S3ClientOptions): S3Client {
  /** Signing keys derived from the secret, one per day. */
  const cache = new Map<string, ArrayBuffer>();

  async function sendOnce({ method, key, query = {}, body }: S3Request): Promise<S3Answer> {
    const signer = new AwsV4Signer({
      method,
      url: urlOf(options, key, query),
      // With the hash, the server rejects a body that was damaged in transit.
      headers: { "x-amz-content-sha256": hash("sha256", body ?? "", "hex") },
      accessKeyId: options.accessKey,
      secretAccessKey: options.secretKey,
      ...(options.sessionToken === undefined ? {} : { sessionToken: options.sessionToken }),
      service: "s3",
      region: options.region,
      cache,
    });
    const { url, headers } = await signer.sign();
    const answer = await fetch(url, {
      method,
      headers,
      body: body === undefined ? null : new Uint8Array(body.buffer as ArrayBuffer, body.byteOffset, body.length),
      // Redirects are not followed: they lead to another region, where the signature is invalid.
      redirect: "manual",
      signal: AbortSignal.timeout(options.timeoutMs),
    });
    return { status: answer.status, headers: answer.headers, body: Buffer.from(await answer.arrayBuffer()) };
  }

  return {
    async send(request) {
      const giveUpAt = clock.now() + options.retryForMs;
      for (let failures = 1; ; failures++) {
        const isLast = () => failures >= options.tries || clock.now() >= giveUpAt;
        try {
          const answer = await sendOnce(request);
          if (isLast() || !isTemporary(answer)) return answer;
        } catch (error) {
          if (isLast()) throw error;
        }
        await clock.sleep(backoffMs(options.backoffMs, failures, randomInt(2 ** 31)));
      }
    },
  };
}

/** Whether a retry may succeed. */
function isTemporary({ status, body }: S3Answer): boolean {
  if (status === 400) return body.includes("<Code>RequestTimeout</Code>"); // the server's timeout for a slow upload
  return status === 408 || status === 429 || (status >= 500 && status !== 501);
}

function urlOf({ endpoint, bucket, isPathStyle }: S3ClientOptions, key: string, query: S3Request["query"]): string {
  const url = new URL(endpoint);
  if (!isPathStyle) url.hostname = `${bucket}.${url.hostname}`;
  const path = [...(isPathStyle ? [bucket] : []), ...key.split("/")].map(encodeURIComponent).join("/");
  url.pathname = `${url.pathname.replace(/\/$/, "")}/${path}`;
  url.search = new URLSearchParams(query).toString();
  return url.href;
}
