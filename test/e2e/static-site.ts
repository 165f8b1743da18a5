/** Serves a folder like a simple web server: the extension determines the type, and a folder serves its index.html. */
import { createReadStream, statSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { extname, join, normalize } from "node:path";
import type { Handler } from "../site/origin.ts";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".txt": "text/plain; charset=utf-8",
  ".xml": "application/xml",
  ".svg": "image/svg+xml",
  ".png": "image/png",
};

export function serveFolder(folder: string): Handler {
  return (request, response) => {
    const path = decodeURIComponent((request.url ?? "/").replace(/[?#].*$/, ""));
    const file = join(folder, normalize(path));
    const found = statSync(file, { throwIfNoEntry: false });
    if (found === undefined) return notFound(response);
    if (!found.isDirectory()) return sendFile(response, file);
    if (path.endsWith("/")) return sendFile(response, join(file, "index.html"));
    response.setHeader("location", `${path}/`);
    answer(response, 301, "text/plain; charset=utf-8", "moved\n");
  };
}

function sendFile(response: ServerResponse, file: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) {
    notFound(response);
    return;
  }
  response.writeHead(200, {
    "content-type": TYPES[extname(file)] ?? "application/octet-stream",
    "content-length": found.size,
  });
  createReadStream(file).pipe(response);
}

function notFound(response: ServerResponse): void {
  answer(response, 404, "text/html; charset=utf-8", "<h1>Not found</h1>");
}

function answer(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(body) });
  response.end(body);
}
