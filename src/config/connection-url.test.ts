import { describe, expect, it } from "vitest";
import { maskedUrl, secretsOf } from "./connection-url.ts";

describe("maskedUrl", () => {
  it.each([
    ["sqlite:.trawl/broker.db", "sqlite:.trawl/broker.db"],
    ["sqlite:/home/a@b/broker.db", "sqlite:/home/a@b/broker.db"],
    ["none", "none"],
    ["redis://127.0.0.1:6379/2", "redis://127.0.0.1:6379/2"],
    ["redis://fleet:s3cret@redis.test:6379", "redis://***@redis.test:6379"],
    ["rediss://:s3cret@redis.test", "rediss://***@redis.test"],
    ["redis+cluster://u:s3cret@a:1,b:2", "redis+cluster://***@a:1,b:2"],
    ["redis://u:s3@cr/et@redis.test", "redis://***@redis.test"],
    ["redis:u:s3cret@redis.test", "redis:***@redis.test"],
    ["redis://redis.test?password=s3cret&db=1", "redis://redis.test?password=***&db=***"],
    ["u:s3cret@redis.test", "u:***@redis.test"],
  ])("%s is shown as %s", (url, shown) => {
    expect(maskedUrl(url)).toBe(shown);
  });
});

describe("secretsOf", () => {
  it.each([
    ["sqlite:/home/a@b/broker.db", []],
    ["redis://127.0.0.1:6379/2", []],
    ["redis://fleet:s3cret@redis.test:6379", ["s3cret"]],
    ["rediss://:s%40cret@redis.test", ["s%40cret", "s@cret"]],
    ["redis://u:s3@cr/et@redis.test", ["s3@cr/et"]],
    ["postgres://trawl@db.test/x", []],
  ])("%s contains %j", (url, secrets) => {
    expect(secretsOf(url)).toEqual(secrets);
  });
});
