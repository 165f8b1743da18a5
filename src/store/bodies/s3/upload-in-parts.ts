/** Multipart upload. The object becomes visible when the last step succeeds. */
import type { S3Answer, S3Request } from "./s3-client.ts";

type Deps = {
  /** Sends one request of the upload. Rejects if it fails. */
  send(request: Omit<S3Request, "key">): Promise<S3Answer>;
  exists(): Promise<boolean>;
};

type Sizes = { partBytes: number; partsAtOnce: number };

export async function uploadInParts({ send, exists }: Deps, bytes: Buffer, sizes: Sizes): Promise<void> {
  const begun = await send({ method: "POST", query: { uploads: "" } });
  const uploadId = uploadIdOf(begun);
  try {
    const tags = await sendParts(send, uploadId, bytes, sizes);
    await send({ method: "POST", query: { uploadId }, body: Buffer.from(listOf(tags)) });
  } catch (error) {
    // If the answer to the last step was lost, the retry of that step fails, because the upload is complete. In that
    // case the object exists.
    if (await exists().catch(() => false)) return;
    // Parts cost money until the upload is aborted. If the abort fails too, the first error is reported, and a
    // lifecycle rule of the bucket removes the parts.
    await send({ method: "DELETE", query: { uploadId } }).catch(() => undefined);
    throw error;
  }
}

/**
 * Uploads the parts and returns their tags, in order. If a part fails, it waits for the parts in progress before it
 * rejects, so no part arrives after the abort.
 */
async function sendParts(
  send: Deps["send"],
  uploadId: string,
  bytes: Buffer,
  { partBytes, partsAtOnce }: Sizes,
): Promise<string[]> {
  const tags: string[] = new Array(Math.ceil(bytes.length / partBytes)).fill("");
  const numbers = tags.keys();
  let hasFailed = false;

  async function sendNext(): Promise<void> {
    for (const index of numbers) {
      if (hasFailed) return;
      const body = bytes.subarray(index * partBytes, (index + 1) * partBytes);
      const query = { partNumber: String(index + 1), uploadId };
      const { headers } = await send({ method: "PUT", query, body });
      tags[index] = headers.get("etag") ?? "";
    }
  }

  const senders = Array.from({ length: partsAtOnce }, () =>
    sendNext().catch((error: unknown) => {
      hasFailed = true;
      throw error;
    }),
  );
  const ended = await Promise.allSettled(senders);
  for (const sender of ended) if (sender.status === "rejected") throw sender.reason;
  return tags;
}

function uploadIdOf({ body }: S3Answer): string {
  const uploadId = /<UploadId>([^<]+)<\/UploadId>/.exec(body.toString())?.[1];
  if (uploadId === undefined) throw new Error(`the server returned no upload id: ${body.toString("utf8", 0, 200)}`);
  return uploadId;
}

function listOf(tags: readonly string[]): string {
  const parts = tags.map((tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${tag}</ETag></Part>`);
  return `<CompleteMultipartUpload>${parts.join("")}</CompleteMultipartUpload>`;
}
