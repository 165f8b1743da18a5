import { expect, it } from "vitest";
import type { FollowOptions } from "./define-spider.ts";
import { createSpiderReader } from "./spider-reader.ts";

const PAGE = { url: "https://a.example/", status: 200, headers: {}, contentType: "text/html", bodyBytes: 1 };

/** Reads a page with one link. The handler `page` calls `follow` with these arguments. */
function follow(target: string, options: FollowOptions) {
  const spider = {
    name: "shop",
    start: [],
    page: (context: { follow(target: string, options: FollowOptions): void }) => context.follow(target, options),
    handlers: { product: () => {} },
  };
  const read = createSpiderReader(spider, () => () => true, {
    handlerMs: 60_000,
    bodySettings: { bodies: "none", requestBodyBytes: 1_000_000 },
  });
  const page = { ...PAGE, fetchedAt: 0, tookMs: 1 } as unknown as Parameters<typeof read>[0]["page"];
  const signal = new AbortController().signal;
  return read({ page, html: '<a href="/b">b</a>', task: { depth: 0 }, signal, tab: undefined });
}

it.each(["product", "page"])("follows a link to the handler %s", async (to) => {
  expect((await follow("a", { to })).wanted).toEqual([{ url: "https://a.example/b", handler: to }]);
});

it.each(["a", ".none"])(
  "fails if `follow` names an unknown handler, whether it finds a link or not: %s",
  async (target) => {
    await expect(follow(target, { to: "nope" })).rejects.toThrow(
      "spider shop has no handler nope; it has page, product",
    );
  },
);
