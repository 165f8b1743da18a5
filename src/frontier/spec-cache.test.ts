import { expect, it } from "vitest";
import { aJobSpec } from "../../test/submit/a-job-spec.ts";
import { createSpecParser } from "./spec-cache.ts";

it("returns the same frozen object while the text of a job is the same, and another one for another text", () => {
  const parse = createSpecParser();
  const spec = aJobSpec({ urls: ["https://a.test/"] });
  const text = JSON.stringify(spec);

  const first = parse("job", text);

  expect(first).toEqual(JSON.parse(text));
  expect(parse("job", `${text}`)).toBe(first);
  expect(Object.isFrozen(first) && Object.isFrozen(first.urls)).toBe(true);
  expect(parse("job", JSON.stringify({ ...spec, name: "another" })).name).toBe("another");
  expect(parse("other", text)).not.toBe(first);
});

it("parses correctly however many specifications it has parsed", () => {
  const parse = createSpecParser();
  const urls = Array.from({ length: 500 }, (_, nth) => `https://a.test/${"x".repeat(100)}/${nth}`);
  for (let nth = 0; nth < 300; nth++) {
    expect(parse(`job ${nth}`, JSON.stringify({ name: `name ${nth}`, urls })).name).toBe(`name ${nth}`);
  }
  expect(parse("job 0", JSON.stringify({ name: "name 0", urls })).name).toBe("name 0");
});
