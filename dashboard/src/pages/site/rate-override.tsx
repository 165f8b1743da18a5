/**
 * The operator's override for the limits of a site. It replaces the limits of jobs and robots.txt when the current term
 * of the site is returned or ends, at most 2 seconds later.
 */
import { useState } from "preact/hooks";
import type { SiteDetailOut } from "../../../../src/client/wire-types.ts";
import { useAction } from "../../polled.ts";
import { api } from "../../session.ts";
import { TextField } from "../../ui/field.tsx";
import { type FieldProblems, problemsOf } from "../../ui/field-problems.ts";
import { Card } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";

type Limits = { rate: string; burst: string; perSite: string };

export function RateOverrideForm({ site, onChanged }: { site: SiteDetailOut; onChanged: () => void }) {
  // Once the user types, polled values no longer replace the input.
  const [typed, setTyped] = useState<Limits | undefined>(undefined);
  const [status, setStatus] = useState("");
  const limits = typed ?? limitsOf(site);
  const change = (part: Partial<Limits>) => {
    setStatus("");
    setTyped({ ...limits, ...part });
  };
  const saving = useAction(async () => {
    const { rate, burst, perSite } = limits;
    const now = await api().sites.set(site.site, { rate, burst: Number(burst), perSite: Number(perSite) });
    setTyped(undefined);
    setStatus(`Override set. The rate ${now.rate} applies within 2 seconds.`);
    onChanged();
  });
  const removing = useAction(async () => {
    await api().sites.unset(site.site);
    setTyped(undefined);
    setStatus("Override removed. The limits of jobs and robots.txt apply within 2 seconds.");
    onChanged();
  });
  const problems = problemsOf(saving.error);
  return (
    <Card title="Rate limit">
      <form
        class="card-body override"
        onSubmit={(event) => {
          event.preventDefault();
          void saving.run();
        }}
      >
        <div class="override-fields">
          <TextField
            label="Rate"
            hint="Such as 4/s, 10/m or unlimited."
            value={limits.rate}
            problem={problems.at("rate")}
            onInput={(rate) => change({ rate })}
            isRequired
          />
          <TextField
            label="Burst"
            hint="Requests that may be sent at once after a pause."
            type="number"
            value={limits.burst}
            problem={problems.at("burst")}
            onInput={(burst) => change({ burst })}
            isRequired
          />
          <TextField
            label="Concurrency"
            hint="Maximum number of requests in flight."
            type="number"
            value={limits.perSite}
            problem={problems.at("perSite")}
            onInput={(perSite) => change({ perSite })}
            isRequired
          />
        </div>
        <p class="muted">
          {site.operator === null
            ? "An override replaces the limits of jobs and robots.txt until you remove it."
            : "The override replaces the limits of jobs and robots.txt."}
        </p>
        <OtherProblems problems={problems} error={removing.error} />
        <p role="status" class="override-status">
          {status}
        </p>
        <div class="override-buttons">
          <button type="submit" class="primary" disabled={saving.isBusy || typed === undefined}>
            Set override
          </button>
          <button type="button" disabled={site.operator === null || removing.isBusy} onClick={() => removing.run()}>
            Remove override
          </button>
        </div>
      </form>
    </Card>
  );
}

/** Errors that belong to no field. A separate component, because `rest` must be read after the fields are rendered. */
function OtherProblems({ problems, error }: { problems: FieldProblems; error: unknown }) {
  return <Problem error={problems.rest ?? error} />;
}

function limitsOf({ rate, burst, perSite }: SiteDetailOut): Limits {
  return { rate, burst: String(burst), perSite: String(perSite) };
}
