import { may } from "../../session.ts";
import { plural } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";

/** Nothing was ever submitted: says how one begins. */
export function FirstRun({ workers }: { workers: number | undefined }) {
  return (
    <Card title="Nothing was submitted yet" class="first-run">
      <ol class="card-body first-steps">
        <li>
          <h3>Start workers</h3>
          <p class="quiet">{wordsOn(workers)}</p>
          <pre>trawl up</pre>
        </li>
        <li>
          <h3>Submit a job</h3>
          <p class="quiet">
            {may("submit")
              ? "By the form, which shows what your rules extract from a page before anything is queued; or in a terminal:"
              : "In a terminal, with a key that may submit:"}
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
          <p class="quiet">Progress, what waits and why, and what was given up on, as it happens.</p>
        </li>
      </ol>
    </Card>
  );
}

function wordsOn(workers: number | undefined): string {
  if (workers === undefined) return "Workers do what is submitted. Whoever runs this server starts them with:";
  if (workers > 0) return `${plural(workers, "worker")} on this broker, with nothing to do. For more of them:`;
  return "None works on this broker. In a terminal, on this machine or another that reaches the broker:";
}
