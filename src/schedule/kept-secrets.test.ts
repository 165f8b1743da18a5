import { describe, expect, it } from "vitest";
import { MASK, withMaskedSecrets } from "../submit/masked-secrets.ts";
import { parseJob } from "../submit/resolve-job.ts";
import { withKeptSecrets } from "./kept-secrets.ts";

describe("the credentials of a schedule", () => {
  const kept = parseJob({
    urls: ["https://a.example/"],
    auth: {
      "https://a.example": { basic: { user: "alice", password: "env:PASSWORD" } },
      "https://api.a.example": { bearer: "t0ken" },
    },
  });
  const shown = withMaskedSecrets(kept);

  it("are masked unless they are references", () => {
    expect(shown.auth).toEqual({
      "https://a.example": { basic: { user: MASK, password: "env:PASSWORD" } },
      "https://api.a.example": { bearer: MASK },
    });
  });

  it("keep their values if the masks are sent back, and only for the same origin and the same hosts", () => {
    expect(withKeptSecrets(shown, kept)).toEqual(kept);
    const otherOrigin = { ...shown, auth: { "https://b.example": { bearer: MASK } } };
    expect(() => withKeptSecrets(otherOrigin, kept)).toThrow(/auth\.https:\/\/b\.example\.bearer: \*\*\* is the mask/);
    const otherHost = { ...shown, urls: ["https://b.example/"] };
    expect(() => withKeptSecrets(otherHost, kept)).toThrow(/is the mask/);
  });
});
