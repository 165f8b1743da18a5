import { describe, expect, it } from "vitest";
import { formatBytes, plural } from "../domain/format-number.ts";
import { shorten, table, withCommand } from "./terminal.ts";

describe("a table", () => {
  it("aligns text left and numbers right, without trailing spaces", () => {
    const rows = [
      ["JOB", "PAGES", "NAME"],
      ["j1", "12", "a"],
      ["j234", "1,234", ""],
    ];

    expect(table(rows, { right: [1] })).toBe("JOB   PAGES  NAME\nj1       12  a\nj234  1,234\n");
  });

  it("shortens its last column to fit the terminal", () => {
    const lines = table([["404", "https://shop.example/a/very/long/way/to/a/page"]], { width: 40 }).split("\n");

    expect(lines[0]?.length).toBe(40);
    expect(lines[0]).toMatch(/^404 {2}https:\/\/shop\..*….*page$/);
  });

  it("escapes control characters and does not count colours as width", () => {
    const red = (text: string) => `<${text}>`;

    expect(
      table(
        [
          ["a\x1b[2J", "x\r"],
          ["b", "y"],
        ],
        { paint: { 0: red } },
      ),
    ).toBe("<a\\u001b[2J>  x\\u000d\n<b         >  y\n");
  });

  it("is empty without rows", () => {
    expect(table([])).toBe("");
  });
});

describe("text on a terminal", () => {
  it("is shortened in the middle, so that both ends of a URL stay readable", () => {
    expect(shorten("https://shop.example/product/1", 15)).toBe("https:/…oduct/1");
    expect(shorten("short", 15)).toBe("short");
  });

  it("suggests commands with the command that starts the program", () => {
    const text = "resume it with: trawl crawl --resume j1 (if its process is running: trawl resume j1); trawl runs";

    expect(withCommand(text, { command: "npx trawl" })).toBe(
      "resume it with: npx trawl crawl --resume j1 (if its process is running: npx trawl resume j1); trawl runs",
    );
    expect(withCommand(text, { command: "trawl" })).toBe(text);
  });

  it("uses the singular for one", () => {
    expect([plural(0, "page"), plural(1, "page"), plural(1234, "page")]).toEqual(["0 pages", "1 page", "1,234 pages"]);
  });

  it("formats bytes in a fitting unit", () => {
    expect([formatBytes(999), formatBytes(1000), formatBytes(2_437_000)]).toEqual(["999 B", "1.0 KB", "2.4 MB"]);
  });
});
