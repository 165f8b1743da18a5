import { expect, it } from "vitest";
import type { JobInput } from "../../../../src/client/client.ts";
import { jobFor } from "./fetch-page.ts";

const request = { url: "https://api.example/items", json: { page: 1 } };
const login: NonNullable<JobInput["login"]> = { url: "https://a.example/login", form: { user: "env:SHOP_USER" } };

it("fetches the page of a preview with the request, the login and the proxies of the job, without retries", () => {
  const job: JobInput = { urls: [request], sessions: { count: 5 }, login, proxy: { use: ["dc"] }, retries: { max: 9 } };

  expect(jobFor(request.url, job)).toMatchObject({
    urls: [request],
    ...{ cookies: true, login, proxy: { use: ["dc"] } },
    retries: { max: 0, unsafe: false },
  });
});

it("fetches the page of a preview with GET if the user typed another URL", () => {
  const preview = jobFor("https://api.example/other", { urls: [request] });

  expect(preview.urls).toEqual(["https://api.example/other"]);
  expect(preview).not.toHaveProperty("cookies");
  expect(preview).not.toHaveProperty("login");
});
