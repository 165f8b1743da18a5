/**
 * Objects of a bucket under a prefix. The server guarantees that an object is complete or absent, and durable once it has
 * answered. A crash during a multipart upload leaves invisible parts, which a lifecycle rule of the bucket
 * (AbortIncompleteMultipartUpload) removes.
 */

import type { S3Answer, S3Client, S3Request } from "./s3-client.ts";
import { failSilent, failWith, findCode } from "./s3-failure.ts";
import { uploadInParts } from "./upload-in-parts.ts";

export type S3ObjectsOptions = {
  endpoint: string;
  bucket: string;
  /** Prefix of every key, ending in a slash; may be empty. */
  prefix: string;
  /** Larger objects are uploaded in parts of this size. Servers require at least 5 MiB. */
  partBytes: number;
  /** Concurrent uploads of parts of one object. */
  partsAtOnce: number;
};

export type S3Objects = {
  /** Replaces an existing object. */
  put(op: string, key: string, bytes: Buffer): Promise<void>;
  /** Undefined if there is no such object. */
  find(op: string, key: string): Promise<Buffer | undefined>;
  /** When it was last stored, by the server's clock; undefined if it does not exist, NaN if the server does not return it. */
  putAtOf(op: string, key: string): Promise<number | undefined>;
  /** Removing a missing object has no effect. */
  remove(op: string, key: string): Promise<void>;
  /** The location for error messages. */
  placeOf(key: string): string;
};

export function openS3Objects(client: S3Client, options: S3ObjectsOptions): S3Objects {
  const { endpoint, bucket, prefix, partBytes } = options;
  const placeOf = (key: string) => `s3://${bucket}/${prefix}${key}`;

  async function ask(op: string, request: S3Request): Promise<S3Answer> {
    const key = prefix + request.key;
    return client.send({ ...request, key }).catch((cause: unknown) => {
      return failSilent(op, placeOf(request.key), endpoint, cause);
    });
  }

  async function order(op: string, request: S3Request): Promise<S3Answer> {
    const answer = await ask(op, request);
    return isGood(answer) ? answer : failWith(op, placeOf(request.key), answer);
  }

  async function putAtOf(op: string, key: string): Promise<number | undefined> {
    const answer = await ask(op, { method: "HEAD", key });
    return isGood(answer) ? Date.parse(answer.headers.get("last-modified") ?? "") : undefined;
  }

  return {
    placeOf,
    putAtOf,
    async put(op, key, bytes) {
      if (bytes.length <= partBytes) return void (await order(op, { method: "PUT", key, body: bytes }));
      const send = (request: Omit<S3Request, "key">) => order(op, { ...request, key });
      await uploadInParts({ send, isThere: async () => (await putAtOf(op, key)) !== undefined }, bytes, options);
    },
    async find(op, key) {
      const answer = await ask(op, { method: "GET", key });
      if (isGood(answer)) return answer.body;
      // A missing bucket is a configuration error, not a lost page.
      if (answer.status === 404 && findCode(answer) !== "NoSuchBucket") return undefined;
      return failWith(op, placeOf(key), answer);
    },
    async remove(op, key) {
      const answer = await ask(op, { method: "DELETE", key });
      const isGone = answer.status === 404 && findCode(answer) !== "NoSuchBucket";
      if (!isGood(answer) && !isGone) failWith(op, placeOf(key), answer);
    },
  };
}

/** Completing an upload is slow: the server may answer 200 at once and report an error in the body. Our bodies are never text. */
function isGood({ status, body }: S3Answer): boolean {
  return status >= 200 && status < 300 && !/^\s*(<\?xml[^>]*>)?\s*<Error>/.test(body.toString("latin1", 0, 1024));
}
