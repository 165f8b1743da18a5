/** Changes rate, priority and limits of a running job. All workers apply the change within 2 seconds. */
import { useState } from "preact/hooks";
import type { JobChange, JobOut } from "../../../../src/client/client.ts";
import { useAction } from "../../polled.ts";
import { api } from "../../session.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { SelectField, TextField } from "../../ui/field.tsx";
import { problemsOf } from "../../ui/field-problems.ts";
import { Problem } from "../../ui/problem.tsx";
import { PRIORITIES } from "./priorities.ts";

type ChangeProps = { job: JobOut; onChanged: () => void; onClose: () => void };

export function ChangeDialog({ job, onChanged, onClose }: ChangeProps) {
  const [rate, setRate] = useState(job.politeness.rate);
  const [perSite, setPerSite] = useState(String(job.politeness.perSite));
  const [priority, setPriority] = useState(String(job.priority));
  const [pages, setPages] = useState(job.limits.pages === null ? "" : String(job.limits.pages));
  const [seconds, setSeconds] = useState(job.limits.seconds === null ? "" : String(job.limits.seconds));
  const changing = useAction(async () => {
    await api().job(job.id).change(changeOf(job, { rate, perSite, priority, pages, seconds }));
    onChanged();
    onClose();
  });
  const problems = problemsOf(changing.error);
  return (
    <Dialog title="Edit limits" onClose={onClose}>
      <form
        class="form-grid"
        onSubmit={(event) => {
          event.preventDefault();
          void changing.run();
        }}
      >
        <TextField
          label="Rate"
          hint="Requests per site, such as 4/s, 10/m or unlimited."
          value={rate}
          onInput={setRate}
          problem={problems.at("rate")}
        />
        <TextField
          label="Concurrency per site"
          hint="The maximum number of requests in flight at one site."
          type="number"
          value={perSite}
          onInput={setPerSite}
          problem={problems.at("perSite")}
        />
        <SelectField label="Priority" value={priority} onChange={setPriority} options={PRIORITIES} />
        <TextField
          label="Page limit"
          hint="A lower limit keeps the URLs that are already queued. Leave empty for no limit."
          type="number"
          value={pages}
          onInput={setPages}
          problem={problems.at("limits.pages")}
        />
        <TextField
          label="Time limit (seconds)"
          hint="Counted from the submission. Leave empty for no limit."
          type="number"
          value={seconds}
          onInput={setSeconds}
          problem={problems.at("limits.seconds")}
        />
        <Problem error={problems.rest} />
        <div class="dialog-buttons form-wide">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={changing.isBusy}>
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}

type LimitInputs = Record<"rate" | "perSite" | "priority" | "pages" | "seconds", string>;

/** Only the changed values: the server may refuse a limit that the key must not set, even if it is unchanged. */
function changeOf({ politeness, priority, limits }: JobOut, typed: LimitInputs): JobChange {
  const change: JobChange = {};
  if (typed.rate !== politeness.rate) change.rate = typed.rate;
  if (typed.perSite !== String(politeness.perSite)) change.perSite = Number(typed.perSite);
  if (typed.priority !== String(priority)) change.priority = Number(typed.priority);
  const pages = typed.pages === "" ? null : Number(typed.pages);
  const seconds = typed.seconds === "" ? null : Number(typed.seconds);
  const changed = {
    ...(pages === limits.pages ? {} : { pages }),
    ...(seconds === limits.seconds ? {} : { seconds }),
  };
  return Object.keys(changed).length === 0 ? change : { ...change, limits: changed };
}
