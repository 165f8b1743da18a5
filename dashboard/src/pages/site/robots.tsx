import type { SiteDetailOut } from "../../../../src/client/wire-types.ts";
import { Empty } from "../../ui/empty.tsx";
import { duration } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { ScrapedLink } from "../../ui/scraped.tsx";
import { Ago } from "../../ui/time.tsx";

type Robots = NonNullable<SiteDetailOut["robots"]>;

const KINDS = {
  file: "The site has a robots.txt.",
  absent: "The site has no robots.txt, so everything is allowed.",
  unreachable: "robots.txt could not be fetched. Trawl fetches no pages of this site until it has robots.txt.",
} as const;

/** The robots.txt of the site, which is untrusted text. */
export function RobotsCard({ robots }: { robots: Robots | null }) {
  return (
    <Card title="robots.txt">
      {robots === null ? (
        <Empty title="Not fetched yet.">
          <p>For jobs that respect robots.txt, Trawl fetches it before the first page of the site.</p>
        </Empty>
      ) : (
        <div class="card-body robots">
          <p>{KINDS[robots.kind]}</p>
          <dl class="facts">
            <dt>Allows</dt>
            <dd>{robots.allows}</dd>
            <dt>Crawl-delay</dt>
            <dd>{robots.crawlDelayMs === null ? "none" : duration(robots.crawlDelayMs)}</dd>
            <dt>Fetched</dt>
            <dd>
              <Ago at={robots.fetchedAt} isUnfocusable={false} />
            </dd>
            <dt>Next fetch</dt>
            <dd>
              <Ago at={robots.freshUntil} isUnfocusable={false} />
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
              <summary>Show file</summary>
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
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
