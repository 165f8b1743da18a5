import { describe, expect, it } from "vitest";
import { createFakeClock } from "./fake-clock.ts";
import { hungUp, type OpenFetcher, pageText, requestFor, useHarness } from "./harness.ts";
import { always, bytes } from "./misbehaving-server.ts";

export function describeAborting(open: OpenFetcher): void {
  const harness = useHarness(open);
  const reason = new Error("enough");

  describe("aborting", () => {
    it.each([
      ["while waiting for the answer", ""],
      ["within the headers", "HTTP/1.1 200 OK\r\n"],
      ["within a body of known length", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf"],
      ["within a body that ends with the connection", "HTTP/1.1 200 OK\r\n\r\nhalf"],
      ["within an error's body", "HTTP/1.1 500 Oops\r\ncontent-length: 10\r\n\r\nhalf"],
    ])("rejects with the reason and hangs up %s", async (_, raw) => {
      const { server, get } = await harness();
      const aborter = new AbortController();
      server.on("/slow", bytes(raw));
      const asked = get("/slow", { signal: aborter.signal });
      await server.nextRequest();
      const closed = hungUp(server);
      aborter.abort(reason);
      await expect(asked).rejects.toBe(reason);
      await closed;
    });

    it("rejects before anything is sent if aborted before", async () => {
      const { server, get } = await harness();
      await expect(get("/page", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
      expect(server.connections).toHaveLength(0);
    });

    it("rejects while waiting for its slot", async () => {
      const clock = createFakeClock(0);
      const { server, get } = await harness({ clock });
      const aborter = new AbortController();
      const asked = get("/page", { signal: aborter.signal, slot: { sendAt: 1_000, sendBy: 1_001, arrivalAt: 0 } });
      await clock.asleep();
      aborter.abort(reason);
      await expect(asked).rejects.toBe(reason);
      expect(server.connections).toHaveLength(0);
    });

    it("does not send a request that was aborted while it waited for a free connection", async () => {
      const { server, get, fetcher } = await harness();
      const held: (() => void)[] = [];
      server.on("/hold", (socket) => held.push(() => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nheld")));
      server.on("/page", always({ body: "page" }));
      const aborter = new AbortController();
      const holders = Array.from({ length: 20 }, () => fetcher.fetch(requestFor(`${server.origin}/hold`)));
      const waiting = get("/aborted", { signal: aborter.signal });
      while (held.length === 0) await server.nextRequest();
      aborter.abort(reason);
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
      const { signal, abort } = countingSignal();
      for (const path of ["/page", "/missing", "/page"]) await get(path, { signal });
      expect(abort()).toBe(0);
    });
  });
}

/** A signal that knows how many listeners it has left. */
function countingSignal(): { signal: AbortSignal; abort(): number } {
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
  return { signal, abort: () => listeners };
}
