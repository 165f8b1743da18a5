import { describe, expect, it } from "vitest";
import { refreshTarget } from "./refresh.ts";

describe("a refresh", () => {
  it.each([
    ["0; url=/a", "/a"],
    ["0;URL=/a", "/a"],
    ["5; url = '/a?b=1;c=2' ", "/a?b=1;c=2"],
    ['10,"/a"', "/a"],
    ["3 /a", "/a"],
    [" 0.5; url=/a", "/a"],
    [".5; url=/a", "/a"],
    ["0; url='/a", "/a"],
    ["0; /url=a", "/url=a"],
  ])("%j redirects to %s", (text, target) => {
    expect(refreshTarget(text)).toBe(target);
  });

  it.each([
    "",
    "0",
    "5",
    "5;",
    "5; url=",
    "5; url=''",
    "11; url=/a",
    "9999999999; url=/a",
    "-1; url=/a",
    "url=/a",
    "soon; url=/a",
  ])("%j does not redirect", (text) => {
    expect(refreshTarget(text)).toBeUndefined();
  });
});
