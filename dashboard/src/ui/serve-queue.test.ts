import { expect, it } from "vitest";
import { crawlQueue } from "../../../src/domain/crawl-queue.ts";
import { regionalQueue } from "../../../src/domain/queue-name.ts";
import { newJobId } from "../../../src/submit/resolve-job.ts";
import { serveQueue } from "./serve-queue.ts";

it("suggests a worker with the region of a queue", () => {
  expect(serveQueue(regionalQueue("slow", "eu"))).toMatchObject({
    problem: "No worker serves the region eu (queue slow)",
    command: "trawl worker --queues slow --region eu",
  });
});

it("suggests a worker for the queue of submitted jobs, and to continue a crawl for its queue", () => {
  const id = newJobId(Date.now());

  expect(serveQueue("slow").command).toBe("trawl worker --queues slow");
  expect(serveQueue(crawlQueue(id))).toEqual({
    problem: `No process runs the crawl ${id}`,
    action: "Continue it",
    command: `trawl crawl --resume ${id}`,
  });
});
