import { expect } from "vitest";
import type { TaskRequest } from "../../../src/domain/request.ts";
import { requestUrl } from "../../../src/domain/task-url.ts";
import type { Suite } from "./backend.ts";
import { aJob, aTask, grantsOf, oneGrant, settlementOf, submit } from "./makers.ts";

/** Tasks that are not a plain GET (F9, F15). */
export function requests({ open, test }: Suite): void {
  const request: TaskRequest = {
    method: "POST",
    headers: { "content-type": "application/json", "x-own": "1 {2} 3" },
    body: '{"q":"Straße 1","nested":{"a":[1, 2]}}',
  };
  const url = "https://a.test/search";

  test("F9 requests with the same URL are distinct if their method or body differs", async () => {
    const { frontier } = await open();
    const variants: (TaskRequest | undefined)[] = [undefined, request, { ...request, body: "{}" }, { method: "HEAD" }];
    const tasks = [...variants, ...variants].map((one) =>
      aTask(requestUrl(url, one), one === undefined ? {} : { request: one }),
    );

    await submit(frontier, aJob(), tasks);

    const grants = await grantsOf(frontier, { max: 10 });
    expect(grants.map((grant) => grant.request)).toEqual(variants);
  });

  test("F15 a request is kept through a retry, a dead letter and its replay", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob({ retries: { max: 1, backoffMs: 1000 } }), [
      aTask(requestUrl(url, request), { request }),
    ]);
    const failure = { outcome: { kind: "retry", because: "network" } } as const;

    await frontier.settle([settlementOf(await oneGrant(frontier), failure)]);
    clock.advance(60_000);
    const second = await oneGrant(frontier);
    expect(second.request).toEqual(request);
    await frontier.settle([settlementOf(second, failure)]);
    await frontier.replayDead({}, 10, 1);

    expect(await oneGrant(frontier)).toMatchObject({ url: requestUrl(url, request), request });
  });

  test("F8 links may be requests", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), [aTask("https://a.test/")]);
    const link = aTask(requestUrl(url, request), { request, depth: 1 });

    await frontier.settle([settlementOf(await oneGrant(frontier), { discovered: [link, link] })]);

    expect((await grantsOf(frontier, { max: 10 })).map((grant) => grant.request)).toEqual([request]);
  });
}
