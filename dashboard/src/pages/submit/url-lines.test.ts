import { expect, it } from "vitest";
import { firstUrl, linesOf, urlsIn } from "./url-lines.ts";

it("reads URLs and requests from lines, and writes them back", () => {
  const text = 'https://a.example/\n{"url":"https://a.example/api","json":{"page":1}}\n{"url": unfinished';
  const urls = urlsIn(`\n${text}\n\n`);

  expect(urls).toEqual([
    "https://a.example/",
    { url: "https://a.example/api", json: { page: 1 } },
    '{"url": unfinished',
  ]);
  expect(linesOf(urls)).toBe(text);
  expect(firstUrl(urls)).toBe("https://a.example/");
  expect(firstUrl(urls.slice(1))).toBe("https://a.example/api");
  expect(firstUrl([])).toBeUndefined();
});
