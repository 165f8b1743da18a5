/** The operator's word on a site: what it gets, whatever its jobs and its robots.txt say. Workers keep to it at once. */
import { useState } from "preact/hooks";
import type { SiteDetailOut } from "../../../../src/api/wire-sites.ts";
import { useAction } from "../../polled.ts";
import { api } from "../../session.ts";
import { TextField } from "../../ui/field.tsx";
import { Card } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { type Problems, problemsOf } from "../../ui/problems.ts";

type Words = { rate: string; burst: string; perSite: string };

export function AllowanceForm({ site, onChanged }: { site: SiteDetailOut; onChanged: () => void }) {
  // What is typed stays as it is, whatever the site gets meanwhile.
  const [typed, setTyped] = useState<Words | undefined>(undefined);
  const [said, setSaid] = useState("");
  const words = typed ?? wordsOf(site);
  const change = (part: Partial<Words>) => {
    setSaid("");
    setTyped({ ...words, ...part });
  };
  const saving = useAction(async () => {
    const { rate, burst, perSite } = words;
    const now = await api().sites.set(site.site, { rate, burst: Number(burst), perSite: Number(perSite) });
    setTyped(undefined);
    setSaid(`It gets ${now.rate} from the next request on.`);
    onChanged();
  });
  const takingBack = useAction(async () => {
    await api().sites.unset(site.site);
    setTyped(undefined);
    setSaid("Taken back: its jobs and its robots.txt say what it gets.");
    onChanged();
  });
  const wrong = problemsOf(saving.error);
  return (
    <Card title="What it gets">
      <form
        class="card-body allowance"
        onSubmit={(event) => {
          event.preventDefault();
          void saving.run();
        }}
      >
        <div class="allowance-fields">
          <TextField
            label="Rate"
            hint="4/s, 10/m, unlimited"
            value={words.rate}
            problem={wrong.at("rate")}
            onInput={(rate) => change({ rate })}
            isRequired
          />
          <TextField
            label="Burst"
            hint="at once after a quiet time"
            type="number"
            value={words.burst}
            problem={wrong.at("burst")}
            onInput={(burst) => change({ burst })}
            isRequired
          />
          <TextField
            label="At once"
            hint="requests under way"
            type="number"
            value={words.perSite}
            problem={wrong.at("perSite")}
            onInput={(perSite) => change({ perSite })}
            isRequired
          />
        </div>
        <p class="quiet">
          {site.operator === null
            ? "Set it, and it beats what its jobs and its robots.txt say, until you take it back."
            : "This is your word: it beats what its jobs and its robots.txt say."}
        </p>
        <Foot wrong={wrong} error={takingBack.error} />
        <p role="status" class="allowance-said">
          {said}
        </p>
        <div class="allowance-buttons">
          <button type="submit" class="primary" disabled={saving.isBusy || typed === undefined}>
            Set
          </button>
          <button type="button" disabled={site.operator === null || takingBack.isBusy} onClick={() => takingBack.run()}>
            Take it back
          </button>
        </div>
      </form>
    </Card>
  );
}

/** What has found no field. A part of its own, since the fields look first. */
function Foot({ wrong, error }: { wrong: Problems; error: unknown }) {
  return <Problem error={wrong.rest ?? error} />;
}

function wordsOf({ rate, burst, perSite }: SiteDetailOut): Words {
  return { rate, burst: String(burst), perSite: String(perSite) };
}
