import { describe, expect, it } from "vitest";
import { connectionClosed, type OpenFetcher, useHarness } from "./harness.ts";
import { always, bytes } from "./misbehaving-server.ts";

export function describeRedirects(open: OpenFetcher): void {
  const harness = useHarness(open);

  describe("redirects", () => {
    it.each([301, 302, 303, 307, 308])(
      "returns %i with its target in canonical form, and does not follow it",
      async (status) => {
        const { server, get, calls } = await harness();
        server.on("/old", always({ status, headers: { location: "HTTP://Other.test:80/x#part" }, body: "moved" }));

        const outcome = await get("/old");

        expect(outcome).toMatchObject({
          kind: "redirect",
          to: "http://other.test/x",
          page: { url: `${server.origin}/old`, status },
        });
        expect([server.requests.length, calls.turn.length]).toEqual([1, 1]);
      },
    );

    it("resolves the target against the requested URL", async () => {
      const { server, get } = await harness();
      server.on("/a/b", always({ status: 302, headers: { location: "../new?x" } }));

      expect(await get("/a/b")).toMatchObject({ kind: "redirect", to: `${server.origin}/new?x` });
    });

    it.each([
      ["nothing", {}],
      ["a mail address", { location: "mailto:a@b.test" }],
      ["a file", { location: "file:///etc/passwd" }],
      ["a script", { location: "javascript:alert(1)" }],
      ["a broken URL", { location: "http://[::1" }],
    ])("fails permanently on a redirect to %s", async (_, headers) => {
      const { server, get } = await harness();
      server.on("/odd", always({ status: 302, headers }));
      expect(await get("/odd")).toMatchObject({ kind: "dead", because: "bad_response", status: 302 });
    });

    it("accepts raw UTF-8 in Location, like browsers", async () => {
      const { server, get } = await harness();
      const location = Buffer.from("/caf\u00e9", "utf8").toString("latin1");
      server.on("/raw", always({ status: 302, headers: { location } }));

      expect(await get("/raw")).toMatchObject({ kind: "redirect", to: `${server.origin}/caf%C3%A9` });
    });

    it("does not wait for the whole body of a redirect", async () => {
      const { server, get } = await harness();
      const head = "HTTP/1.1 302 Found\r\nlocation: /new\r\ncontent-length: 100000000\r\n\r\n";
      server.on("/big", bytes(`${head}${"x".repeat(100_000)}`));

      expect(await get("/big")).toMatchObject({ kind: "redirect", to: `${server.origin}/new` });
      await connectionClosed(server);
    });
  });
}
