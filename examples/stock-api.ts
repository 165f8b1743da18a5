/** Reads a JSON API that requires a key and has a cursor. Each page needs one more request per entry. */
import { defineSpider } from "trawl";

type StockPage = { ids: number[]; next: string | null };
type Stock = { id: number; name: string; pieces: number };

export default defineSpider({
  name: "stock-api",
  start: ["http://127.0.0.1:8321/api/stock"],
  headers: { "x-api-key": "env:DEMO_API_KEY" },
  politeness: { rate: "50/s" },

  async page({ html, emit, follow, request }) {
    const { ids, next } = JSON.parse(html) as StockPage;
    if (next !== null) follow(`/api/stock?cursor=${next}`);
    for (const id of ids) emit((await request(`/api/stock/${id}`)).json() as Stock);
  },
});
