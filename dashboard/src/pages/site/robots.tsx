import type { SiteDetailOut } from "../../../../src/api/wire-sites.ts";
import { Empty } from "../../ui/empty.tsx";
import { duration } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { ScrapedLink } from "../../ui/scraped.tsx";
import { Ago } from "../../ui/time.tsx";

type Robots = NonNullable<SiteDetailOut["robots"]>;

const KINDS = {
  file: "It has one.",
  absent: "It has none: everything is allowed.",
  unreachable: "It could not be had: until it can, nothing is fetched.",
} as const;

/** Somebody else's text: shown as such. */
export function RobotsCard({ robots }: { robots: Robots | null }) {
  return (
    <Card title="robots.txt">
      {robots === null ? (
        <Empty title="It was not asked for yet.">
          <p>The first request of a job that keeps to robots.txt brings it.</p>
        </Empty>
      ) : (
        <div class="card-body robots">
          <p>{KINDS[robots.kind]}</p>
          <dl class="facts">
            <dt>Allows us</dt>
            <dd>{robots.allows}</dd>
            <dt>Crawl-delay</dt>
            <dd>{robots.crawlDelayMs === null ? "none" : duration(robots.crawlDelayMs)}</dd>
            <dt>Fetched</dt>
            <dd>
              <Ago at={robots.fetchedAt} isQuiet={false} />
            </dd>
            <dt>Asked for again</dt>
            <dd>
              <Ago at={robots.freshUntil} isQuiet={false} />
            </dd>
            {robots.sitemaps.length > 0 && (
              <>
                <dt>Sitemaps</dt>
                <dd class="robots-maps">
                  {robots.sitemaps.map((url) => (
                    <ScrapedLink key={url} url={url} />
                  ))}
                </dd>
              </>
            )}
          </dl>
          {robots.text !== "" && (
            <details>
              <summary>The file</summary>
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keys */}
              <pre class="robots-text" tabIndex={0} dir="ltr">
                {robots.text}
              </pre>
            </details>
          )}
        </div>
      )}
    </Card>
  );
}
