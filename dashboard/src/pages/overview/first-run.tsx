import { may } from "../../session.ts";
import { plural } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";

/** The overview before the first job: explains how to start. */
export function FirstRun({ workers }: { workers: number | undefined }) {
  return (
    <Card title="No jobs yet" class="first-run">
      <ol class="card-body first-steps">
        <li>
          <h3>Start workers</h3>
          <p class="muted">{workersText(workers)}</p>
          <pre>trawl up</pre>
        </li>
        <li>
          <h3>Submit a job</h3>
          <p class="muted">
            {may("submit")
              ? "Use the form, where you can preview what your rules extract, or run in a terminal:"
              : "Run in a terminal, with a key that has the scope submit:"}
          </p>
          <pre>trawl submit https://books.toscrape.com/ --extract title=h1</pre>
          {may("submit") && (
            <a class="button primary" href="#/jobs/new">
              New job
            </a>
          )}
        </li>
        <li>
          <h3>Watch it here</h3>
          <p class="muted">This page shows progress, waiting URLs and failures as they happen.</p>
        </li>
      </ol>
    </Card>
  );
}

function workersText(workers: number | undefined): string {
  if (workers === undefined) return "Workers run the jobs. The operator of this server starts them with:";
  if (workers > 0) return `${plural(workers, "worker")} connected and idle. To start more:`;
  return "No worker is connected. Run in a terminal, on any machine that can reach the broker:";
}
