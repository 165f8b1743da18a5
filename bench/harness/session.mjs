/** What the runs of one session share: origins and services, started on first use. `close` ends all of them. */
import { makePages } from "../origin/make-pages.mjs";
import { startNginx } from "../origin/nginx.mjs";
import { createServices } from "../services/services.mjs";

export function createSession({ options, signal }) {
  const origins = new Map();
  const services = createServices();

  return {
    options,
    signal,
    services,
    /** Workloads with the same sites and pages share an origin. */
    async openOrigin({ sites, pages, kind, slow }) {
      const key = JSON.stringify({ sites, pages, kind, slow });
      if (!origins.has(key)) origins.set(key, await startNginx({ sites, pages: makePages({ kind, pages }), slow }));
      return origins.get(key);
    },
    async close() {
      await Promise.all([...origins.values()].map((origin) => origin.stop()));
      await services.stop();
    },
  };
}
