/**
 * The stored form of a task. It is short because millions of them may wait: `f2 s/a/b` is a fetch at depth 2 of
 * https://<site>/a/b. The URL comes last, after the last space: URLs contain no spaces.
 */
import type { TaskRequest } from "../../../domain/request.ts";
import type { NewTask, TaskKind } from "../../../domain/task.ts";

type TaskBody = Pick<NewTask, "url" | "kind" | "depth" | "handler" | "carry" | "request"> & { redirects: number };

const KINDS: Record<TaskKind, string> = { fetch: "f", render: "r", parse: "p", deliver: "d" };
const KIND_OF: Record<string, TaskKind> = { f: "fetch", r: "render", p: "parse", d: "deliver" };

export function encodeBody({ url, site, kind, depth, handler, carry, request, redirects = 0 }: NewTask): string {
  const hops = redirects > 0 ? `,${redirects}` : "";
  const isPlain = handler === undefined && carry === undefined && request === undefined;
  const extras = isPlain ? "" : JSON.stringify({ h: handler, c: carry, r: request });
  return `${KINDS[kind]}${depth}${hops}${extras}${encodeUrl(url, site)}`;
}

/** The end of every task body of this URL. */
export function encodeUrl(url: string, site: string): string {
  if (url.startsWith("https://") && url.startsWith(site, 8)) return ` s${url.slice(8 + site.length)}`;
  if (url.startsWith("http://") && url.startsWith(site, 7)) return ` h${url.slice(7 + site.length)}`;
  return ` u${url}`;
}

export function decodeBody(body: string, site: string): TaskBody {
  const at = body.lastIndexOf(" ");
  const head = body.slice(1, at);
  const extrasAt = head.indexOf("{");
  const [depth = "0", redirects = "0"] = (extrasAt < 0 ? head : head.slice(0, extrasAt)).split(",");
  const extras: { h?: string; c?: unknown; r?: TaskRequest } = extrasAt < 0 ? {} : JSON.parse(head.slice(extrasAt));
  const { h: handler, c: carry, r: request } = extras;
  return {
    url: decodeUrl(body.slice(at + 1), site),
    kind: KIND_OF[body[0] ?? "f"] ?? "fetch",
    depth: Number(depth),
    redirects: Number(redirects),
    ...(handler === undefined ? {} : { handler }),
    ...(carry === undefined ? {} : { carry }),
    ...(request === undefined ? {} : { request }),
  };
}

function decodeUrl(text: string, site: string): string {
  const rest = text.slice(1);
  if (text.startsWith("s")) return `https://${site}${rest}`;
  return text.startsWith("h") ? `http://${site}${rest}` : rest;
}
