/**
 * Objects of a bucket under a prefix. One is there whole or not at all, and an answer means that it survives a power
 * cut: that is the server's promise. A crash amid a long one leaves parts that nobody sees, which a rule of the bucket
 * (AbortIncompleteMultipartUpload) removes.
 */

import type { S3Answer, S3Client, S3Request } from "./s3-client.ts";
import { failSilent, failWith, findCode } from "./s3-failure.ts";
import { uploadInParts } from "./upload-in-parts.ts";

export type S3ObjectsOptions = {
  endpoint: string;
  bucket: string;
  /** What every key begins with, with a slash at its end; may be empty. */
  prefix: string;
  /** Objects longer than this are sent in parts of so many bytes. Servers take no less than 5 MiB. */
  partBytes: number;
  /** Parts of one object that are under way at once. */
  partsAtOnce: number;
};

export type S3Objects = {
  /** Replaces what is there. */
  put(op: string, key: string, bytes: Buffer): Promise<void>;
  /** Undefined if there is no such object. */
  find(op: string, key: string): Promise<Buffer | undefined>;
  /** When it was last put, by the server's clock; undefined where it is not there, NaN where the server does not tell. */
  putAtOf(op: string, key: string): Promise<number | undefined>;
  /** Removing what is not there is harmless. */
  remove(op: string, key: string): Promise<void>;
  /** As a person would look for it. */
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
      // A bucket that is not there has lost no page: it was never made, or is misspelt.
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

/** Joining parts takes long: the server may say 200 at once, and in the body what went wrong. No body of ours is text. */
function isGood({ status, body }: S3Answer): boolean {
  return status >= 200 && status < 300 && !/^\s*(<\?xml[^>]*>)?\s*<Error>/.test(body.toString("latin1", 0, 1024));
}
