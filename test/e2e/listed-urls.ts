import { gunzipSync } from "node:zlib";
import type { DemoShop } from "../../src/demo/demo-shop.ts";

/** The pages that the sitemaps of the demo shop list. */
export async function listedUrls({ url }: DemoShop): Promise<string[]> {
  const files = await locsOf(`${url}/sitemap.xml`);
  return (await Promise.all(files.map(locsOf))).flat();
}

async function locsOf(url: string): Promise<string[]> {
  const reply = await fetch(url);
  const body = new Uint8Array(await reply.arrayBuffer());
  const text = Buffer.from(url.endsWith(".gz") ? gunzipSync(body) : body).toString();
  return [...text.matchAll(/<loc>([^<]+)<\/loc>/g)].map(([, loc = ""]) => loc);
}
