import { expect, it } from "vitest";
import { amazonSource } from "./load.ts";
import { environmentSource, resolveConfig } from "./resolve.ts";

const AMAZON = {
  AWS_ACCESS_KEY_ID: "their key",
  AWS_SECRET_ACCESS_KEY: "their secret",
  AWS_SESSION_TOKEN: "their token",
  AWS_DEFAULT_REGION: "eu-west-1",
  AWS_REGION: "",
};

it("reads the standard AWS variables", () => {
  expect(resolved(AMAZON)).toMatchObject({
    s3AccessKey: "their key",
    s3SecretKey: "their secret",
    s3SessionToken: "their token",
    s3Region: "eu-west-1",
    s3Endpoint: "auto",
  });
});

it("prefers Trawl's own settings and never mixes keys", () => {
  const own = { TRAWL_S3_ACCESS_KEY: "our key", TRAWL_S3_SECRET_KEY: "our secret", TRAWL_S3_REGION: "us-west-2" };

  expect(resolved({ ...AMAZON, ...own })).toMatchObject({
    s3AccessKey: "our key",
    s3SecretKey: "our secret",
    s3SessionToken: "",
    s3Region: "us-west-2",
  });
});

function resolved(environment: Record<string, string>) {
  const own = [environmentSource(environment)];
  return resolveConfig([amazonSource(environment, own), ...own]);
}
