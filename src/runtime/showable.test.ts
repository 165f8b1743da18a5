import { describe, expect, it } from "vitest";
import { createLog } from "./log.ts";
import { showable, showableLines } from "./showable.ts";

describe("text from outside Trawl", () => {
  it("is shown with control characters escaped", () => {
    expect(showable("a\x1b[2Jb\x9b31m\x07")).toBe("a\\u001b[2Jb\\u009b31m\\u0007");
    expect(showable("fine\r\ntrawl: all is well\t")).toBe("fine\\u000d\\u000atrawl: all is well\\u0009");
    expect(showable("moc.live\u202e\u2066\u200f\u2028")).toBe("moc.live\\u202e\\u2066\\u200f\\u2028");
  });

  it("keeps letters of all scripts, emoji and backslashes", () => {
    const text = "Grüße, 価格 – العربية 🙂 \\u001b";
    expect(showable(text)).toBe(text);
  });

  it("keeps its line breaks in showableLines", () => {
    expect(showableLines("one\n  two\x1b[0m\r\n")).toBe("one\n  two\\u001b[0m\\u000d\n");
  });

  it("parses as the same JSON value in a log line", () => {
    const lines: string[] = [];
    const url = "https://a.test/\x1b\x9b\u202e";
    createLog("info", (line) => lines.push(line)).info("x.y", { url });

    expect(lines[0]).toMatch(/^[\x20-\x7e]+\n$/);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ url });
  });
});
