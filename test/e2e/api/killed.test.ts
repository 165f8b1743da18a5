/** The process that submits a list to a server is killed, and the list is submitted again. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { waitUntil } from "../../services/wait-until.ts";
import { startTrawl } from "../cli.ts";
import { startBothModes } from "./both-modes.ts";

const COUNT = 200_000;

it("a list submitted twice with the same key is one job with every URL once", async () => {
  const { cwd, url, remote, request, trawl } = await startBothModes({});
  const list = Array.from({ length: COUNT }, (_, nth) => `https://s${nth % 50}.example/${nth}\n`).join("");
  writeFileSync(join(cwd, "urls.txt"), list);
  const args = ["submit", "urls.txt", "--follow", "none", "--json", "--idempotency-key", "list 1"];
  const submitted = async () => (await trawl.frontier.listJobs(10)).reduce((sum, job) => sum + job.counts.submitted, 0);

  const first = startTrawl(args, { cwd, env: { TRAWL_API: url } });
  expect(await waitUntil(async () => (await submitted()) >= 20_000, 60_000)).toBe(true);
  first.kill("SIGKILL");
  expect((await first.ended).signal).toBe("SIGKILL");
  const taken = await submitted();
  const second = await remote(args, { hangsAfterMs: 150_000 });
  const third = await remote(args);

  expect(taken).toBeLessThan(COUNT);
  expect(second.code, second.stderr).toBe(0);
  const { jobs } = (await request("GET", "/v1/jobs")).json as unknown as { jobs: object[] };
  expect(jobs).toMatchObject([{ sealed: true, counts: { queued: COUNT, refused: 0 } }]);
  const answer = JSON.parse(second.stdout);
  expect(answer.accepted + answer.duplicates).toBe(COUNT);
  // A list that was accepted completely is not sent again.
  expect(third).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/already submitted with this idempotency key/),
  });
  expect(JSON.parse(third.stdout)).toMatchObject({ id: answer.id, accepted: 0, duplicates: 0 });
}, 300_000);
