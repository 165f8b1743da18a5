import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { AwsClient } from "aws4fetch";
import { describe, expect, it, onTestFinished } from "vitest";
import { isRunning } from "./is-running.ts";
import { findS3Obstacle, startS3 } from "./s3.ts";
import { waitUntil } from "./wait-until.ts";

const obstacle = findS3Obstacle();
if (obstacle !== undefined) console.warn(`SKIPPED: tests on S3: ${obstacle}`);

describe.skipIf(obstacle !== undefined)("startS3", () => {
  it("starts a server that accepts only requests signed with its secret", async () => {
    const server = await startS3();
    onTestFinished(() => server.stop());
    const path = `${server.bucket}/a/b.gz`;
    const forger = new AwsClient({
      accessKeyId: server.accessKey,
      secretAccessKey: `${server.secretKey}!`,
      service: "s3",
      region: server.region,
      retries: 0,
    });

    expect((await server.fetch("PUT", path, "page")).status).toBe(200);
    for (const method of ["GET", "PUT", "DELETE"]) {
      const forged = await forger.fetch(`${server.endpoint}/${path}`, { method });
      expect(await forged.text()).toContain("SignatureDoesNotMatch");
      expect((await fetch(`${server.endpoint}/${path}`, { method })).ok).toBe(false);
    }
    expect(await (await server.fetch("GET", path)).text()).toBe("page");
  });

  it("ends, and clears its folder, when the process that started it is killed", async () => {
    const script = fileURLToPath(new URL("./hold-s3.mjs", import.meta.url));
    const holder = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit"] });
    const [line] = (await once(createInterface(holder.stdout), "line")) as [string];
    const { pid, folder } = JSON.parse(line) as { pid: number; folder: string };
    expect(isRunning(pid) && existsSync(folder)).toBe(true);

    holder.kill("SIGKILL");

    expect(await waitUntil(() => !isRunning(pid) && !existsSync(folder), 10_000)).toBe(true);
  });
});
