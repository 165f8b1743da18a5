/**
 * Signed requests to one bucket (AWS signature 4). Every request may be sent again: what we send twice says the same.
 * This is the operator's own place, as the broker is, so it is not reached through the gate that guards fetching.
 */
import { hash, randomInt } from "node:crypto";
import { AwsV4Signer } from "aws4fetch";
import { backoffMs } from "../../../domain/backoff.ts";
import type { Clock } from "../../../runtime/clock.ts";

export type S3ClientOptions = {
  /** Of the service, without the bucket: `https://s3.eu-west-1.amazonaws.com`. */
  endpoint: string;
  bucket: string;
  /** `endpoint/bucket/key`; otherwise `bucket.endpoint/key`. */
  isPathStyle: boolean;
  region: string;
  accessKey: string;
  secretKey: string;
  /** Of keys that were lent for a while. */
  sessionToken: string | undefined;
  /** For one try, to the last byte. */
  timeoutMs: number;
  /** How often a request is sent at most, while the server is away, busy or at fault. */
  tries: number;
  /** No try begins later than this after the first: whoever stops a worker waits for what it has under way. */
  patienceMs: number;
  /** Before the second try; doubled for each further one. */
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
  /** The server's answer, whatever it says; rejects if there was none, try after try. */
  send(request: S3Request): Promise<S3Answer>;
};

export function createS3Client({ clock }: { clock: Clock }, options: S3ClientOptions): S3Client {
  /** Keys derived from the secret, one a day. */
  const cache = new Map<string, ArrayBuffer>();

  async function sendOnce({ method, key, query = {}, body }: S3Request): Promise<S3Answer> {
    const signer = new AwsV4Signer({
      method,
      url: urlOf(options, key, query),
      // Named, so that the server refuses a body that was damaged on its way.
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
      // To another region's server: the signature would not do there.
      redirect: "manual",
      signal: AbortSignal.timeout(options.timeoutMs),
    });
    return { status: answer.status, headers: answer.headers, body: Buffer.from(await answer.arrayBuffer()) };
  }

  return {
    async send(request) {
      const giveUpAt = clock.now() + options.patienceMs;
      for (let failures = 1; ; failures++) {
        const isLast = () => failures >= options.tries || clock.now() >= giveUpAt;
        try {
          const answer = await sendOnce(request);
          if (isLast() || !isPassing(answer)) return answer;
        } catch (error) {
          if (isLast()) throw error;
        }
        await clock.sleep(backoffMs(options.backoffMs, failures, randomInt(2 ** 31)));
      }
    },
  };
}

/** Whether the same request may well be answered otherwise a little later. */
function isPassing({ status, body }: S3Answer): boolean {
  if (status === 400) return body.includes("<Code>RequestTimeout</Code>"); // it lost patience with a slow line
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
