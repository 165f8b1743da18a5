import { describe, expect, it } from "vitest";
import { connectionClosed, type OpenFetcher, pageText, requestFor, useHarness } from "./harness.ts";
import { always, bytes } from "./misbehaving-server.ts";

export function describeAborting(open: OpenFetcher): void {
  const harness = useHarness(open);
  const reason = new Error("enough");

  describe("aborting", () => {
    it.each([
      ["while it waits for the response", ""],
      ["while it reads the headers", "HTTP/1.1 200 OK\r\n"],
      ["while it reads a body of known length", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf"],
      ["while it reads a body that ends with the connection", "HTTP/1.1 200 OK\r\n\r\nhalf"],
      ["while it reads the body of an error", "HTTP/1.1 500 Oops\r\ncontent-length: 10\r\n\r\nhalf"],
    ])("rejects with the reason and closes the connection %s", async (_, raw) => {
      const { server, get } = await harness();
      const controller = new AbortController();
      server.on("/slow", bytes(raw));
      const fetching = get("/slow", { signal: controller.signal });
      await server.nextRequest();
      const closed = connectionClosed(server);
      controller.abort(reason);
      await expect(fetching).rejects.toBe(reason);
      await closed;
    });

    it("rejects and sends nothing if the signal is already aborted", async () => {
      const { server, get } = await harness();
      await expect(get("/page", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
      expect(server.connections).toHaveLength(0);
    });

    it("rejects while it waits for its turn", async () => {
      let begin = () => {};
      const hasBegun = new Promise<void>((resolve) => {
        begin = resolve;
      });
      const turn = (_: string, signal: AbortSignal) => {
        begin();
        return new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      };
      const { server, get } = await harness({ allowance: { turn } });
      const controller = new AbortController();
      const fetching = get("/page", { signal: controller.signal });
      await hasBegun;
      controller.abort(reason);
      await expect(fetching).rejects.toBe(reason);
      expect(server.connections).toHaveLength(0);
    });

    it("does not send a request that was aborted while it waited for a free connection", async () => {
      const { server, get, fetcher } = await harness();
      const held: (() => void)[] = [];
      server.on("/hold", (socket) => held.push(() => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nheld")));
      server.on("/page", always({ body: "page" }));
      const controller = new AbortController();
      const holders = Array.from({ length: 20 }, () => fetcher.fetch(requestFor(`${server.origin}/hold`)));
      const waiting = get("/aborted", { signal: controller.signal });
      while (held.length === 0) await server.nextRequest();
      controller.abort(reason);
      await expect(waiting).rejects.toBe(reason);

      for (let answered = 0; answered < 20; answered++) {
        while (held.length === 0) await server.nextRequest();
        held.shift()?.();
      }
      for (const holder of holders) expect(pageText(await holder)).toBe("held");
      expect(pageText(await get("/page"))).toBe("page");
      expect(server.requests.map(({ path }) => path)).not.toContain("/aborted");
    });

    it("leaves the signal without listeners after each request", async () => {
      const { server, get } = await harness();
      server.on("/page", always({ body: "page" }));
      const { signal, listenerCount } = countingSignal();
      for (const path of ["/page", "/missing", "/page"]) await get(path, { signal });
      expect(listenerCount()).toBe(0);
    });
  });
}

/** A signal that counts its listeners. */
function countingSignal(): { signal: AbortSignal; listenerCount(): number } {
  const { signal } = new AbortController();
  let listeners = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners++;
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listeners--;
    remove(...args);
  };
  return { signal, listenerCount: () => listeners };
}
