/**
 * Objects of a bucket under a prefix. The server guarantees that an object is complete or absent, and that it is
 * durable once the server has answered. A crash during a multipart upload leaves parts that no listing shows. To remove
 * them, the bucket needs a lifecycle rule (AbortIncompleteMultipartUpload).
 */

import type { S3Answer, S3Client, S3Request } from "./s3-client.ts";
import { failUnanswered, failWith, findCode } from "./s3-failure.ts";
import { uploadInParts } from "./upload-in-parts.ts";

type S3ObjectsOptions = {
  endpoint: string;
  bucket: string;
  /** Prefix of every key, ending in a slash; may be empty. */
  prefix: string;
  /** Larger objects are uploaded in parts of this size. Servers require at least 5 MiB. */
  partBytes: number;
  /** Number of parts of one object that are uploaded concurrently. */
  partsAtOnce: number;
};

export type S3Objects = {
  /** Creates or replaces an object. */
  put(op: string, key: string, bytes: Buffer): Promise<void>;
  /** Reads an object. Returns undefined if it does not exist. */
  find(op: string, key: string): Promise<Buffer | undefined>;
  /**
   * When the object was last stored, by the server's clock. Undefined if the object does not exist or the server
   * refuses the request; NaN if the server does not return the time.
   */
  putAtOf(op: string, key: string): Promise<number | undefined>;
  /** Removing a missing object has no effect. */
  remove(op: string, key: string): Promise<void>;
  /** The keys of up to 1,000 objects whose keys start with `start`. */
  list(op: string, start: string): Promise<string[]>;
  /** The location for error messages. */
  locationOf(key: string): string;
};

export function openS3Objects(client: S3Client, options: S3ObjectsOptions): S3Objects {
  const { endpoint, bucket, prefix, partBytes } = options;
  const locationOf = (key: string) => `s3://${bucket}/${prefix}${key}`;

  async function request(op: string, wanted: S3Request): Promise<S3Answer> {
    const key = prefix + wanted.key;
    return client.send({ ...wanted, key }).catch((cause: unknown) => {
      return failUnanswered(op, locationOf(wanted.key), endpoint, cause);
    });
  }

  async function requestOrFail(op: string, wanted: S3Request): Promise<S3Answer> {
    const answer = await request(op, wanted);
    return isGood(answer) ? answer : failWith(op, locationOf(wanted.key), answer);
  }

  async function putAtOf(op: string, key: string): Promise<number | undefined> {
    const answer = await request(op, { method: "HEAD", key });
    return isGood(answer) ? Date.parse(answer.headers.get("last-modified") ?? "") : undefined;
  }

  return {
    locationOf,
    putAtOf,
    async put(op, key, bytes) {
      if (bytes.length <= partBytes) return void (await requestOrFail(op, { method: "PUT", key, body: bytes }));
      const send = (part: Omit<S3Request, "key">) => requestOrFail(op, { ...part, key });
      await uploadInParts({ send, exists: async () => (await putAtOf(op, key)) !== undefined }, bytes, options);
    },
    async find(op, key) {
      const answer = await request(op, { method: "GET", key });
      if (isGood(answer)) return answer.body;
      // A missing bucket is a configuration error, not a lost page.
      if (answer.status === 404 && findCode(answer) !== "NoSuchBucket") return undefined;
      return failWith(op, locationOf(key), answer);
    },
    async list(op, start) {
      const query = { "list-type": "2", prefix: prefix + start };
      const answer = await client
        .send({ method: "GET", key: "", query })
        .catch((cause: unknown) => failUnanswered(op, locationOf(start), endpoint, cause));
      if (!isGood(answer)) failWith(op, locationOf(start), answer);
      // The keys consist of letters, digits, `%` and `/`, so XML needs no escapes for them.
      const keys = [...answer.body.toString("utf8").matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = ""]) => key);
      return keys.map((key) => key.slice(prefix.length));
    },
    async remove(op, key) {
      const answer = await request(op, { method: "DELETE", key });
      const isGone = answer.status === 404 && findCode(answer) !== "NoSuchBucket";
      if (!isGood(answer) && !isGone) failWith(op, locationOf(key), answer);
    },
  };
}

/**
 * Whether a request succeeded. Completing an upload is slow, so the server may answer 200 first and report an error in
 * the response body later. Objects of Trawl are compressed, so none of them starts like such an error.
 */
function isGood({ status, body }: S3Answer): boolean {
  return status >= 200 && status < 300 && !/^\s*(<\?xml[^>]*>)?\s*<Error>/.test(body.toString("latin1", 0, 1024));
}
