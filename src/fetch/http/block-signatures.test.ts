import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { BLOCK_PAGES, OTHER_PAGES, type SavedPage } from "../../../test/site/block-pages.ts";
import { BLOCK_NAMES } from "../../domain/block.ts";
import {
  BLOCK_SIGNATURES,
  type BlockedAnswer,
  type BlockSignature,
  findBlock,
  findNamedBlock,
} from "./block-signatures.ts";

const HTML = { "content-type": "text/html" };

const BLOCKED = Object.entries(BLOCK_PAGES).flatMap(([name, pages]) => pages.map((page) => ({ name, ...page })));

describe("block signatures", () => {
  it.each(BLOCKED)("name $name: $what", async ({ name, ...saved }) => {
    const answer = answerOf(saved);
    expect(await findBlock(answer)).toBe(name);
    // Without a proxy and without `blocks`, a plain status is no block.
    expect(await findNamedBlock(answer)).toBe(name.startsWith("status ") ? undefined : name);
  });

  it.each(OTHER_PAGES)("do not match $what", async (saved) => {
    expect(await findBlock(answerOf(saved))).toBeUndefined();
  });

  it("each have a page that no earlier signature matches", () => {
    const pages = Object.values(BLOCK_PAGES).flat();
    const matches = ({ statuses, headers, body }: BlockSignature, page: SavedPage) =>
      statuses.includes(page.status) &&
      (headers === undefined || Object.entries(headers).some(([key, value]) => value.test(page.headers[key] ?? ""))) &&
      (body === undefined || body.some((part) => page.html.toLowerCase().includes(part)));
    const first = pages.map((page) => BLOCK_SIGNATURES.find((row) => matches(row, page)));
    expect(BLOCK_SIGNATURES.filter((row) => !first.includes(row))).toEqual([]);
    expect(Object.keys(BLOCK_PAGES)).toEqual([...BLOCK_NAMES]);
  });

  it("are found in a compressed body, and a damaged one is no error", async () => {
    const headers = { ...HTML, "content-encoding": "gzip" };
    const errorBody = gzipSync("<div id='px-captcha'>");
    expect(await findNamedBlock({ status: 403, headers, body: Buffer.alloc(0), errorBody })).toBe("perimeterx");
    const damaged = errorBody.subarray(0, 10);
    expect(await findNamedBlock({ status: 403, headers, body: Buffer.alloc(0), errorBody: damaged })).toBeUndefined();
  });

  it("ignore the text of a long page with status 200", async () => {
    const html = `<div id="px-captcha"></div>${"x".repeat(20_000)}`;
    expect(await findBlock(answerOf({ status: 200, headers: HTML, html }))).toBeUndefined();
  });

  it("each have a name, a status, and a header or a text", () => {
    for (const { name, statuses, headers, body } of BLOCK_SIGNATURES) {
      expect([name, statuses.length > 0, headers !== undefined || body !== undefined]).toEqual([name, true, true]);
      expect(body?.every((part) => part === part.toLowerCase()) ?? true).toBe(true);
    }
  });
});

function answerOf({ status, headers, html }: Omit<SavedPage, "what">): BlockedAnswer {
  const bytes = Buffer.from(html);
  return status === 200
    ? { status, headers, body: bytes }
    : { status, headers, body: Buffer.alloc(0), errorBody: bytes };
}
