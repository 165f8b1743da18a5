/** The buttons of a job, in the list and on its page. */
import { useState } from "preact/hooks";
import type { JobOut } from "../../../../src/client/client.ts";
import { updateJob } from "../../live.ts";
import { useAction } from "../../polled.ts";
import { api, may } from "../../session.ts";
import { Confirm } from "../../ui/dialog.tsx";
import { plural } from "../../ui/format.ts";
import { errorText } from "../../ui/problem.tsx";
import { markDeleted } from "./deleted-jobs.ts";
import { hasEnded } from "./job-counts.ts";

type OpenDialog = "cancel" | "delete" | undefined;

type JobActionsProps = {
  job: JobOut;
  isSmall?: boolean;
  onChanged?: (job: JobOut) => void;
  onDeleted?: () => void;
};

export function JobActions({ job, isSmall = false, onChanged, onDeleted }: JobActionsProps) {
  const [dialog, setDialog] = useState<OpenDialog>(undefined);
  const apply = (changed: JobOut) => {
    updateJob(changed);
    onChanged?.(changed);
  };
  const changing = useAction(async (verb: "pause" | "resume") => apply(await api().job(job.id)[verb]()));
  if (!may("submit")) return null;
  const size = isSmall ? "small" : "";
  const isOver = hasEnded(job);
  const verb = job.state === "paused" ? "resume" : "pause";
  return (
    <span class="job-actions">
      {!isOver && (
        <button type="button" class={size} disabled={changing.isBusy} onClick={() => changing.run(verb)}>
          {verb === "pause" ? "Pause" : "Resume"}
          {isSmall && <span class="sr-only"> {job.name}</span>}
        </button>
      )}
      <button type="button" class={size} onClick={() => setDialog(isOver ? "delete" : "cancel")}>
        {isOver ? "Delete" : "Cancel"}
        {isSmall && <span class="sr-only"> {job.name}</span>}
      </button>
      {changing.error !== undefined && (
        <span class="field-problem" role="alert">
          {errorText(changing.error).what}
        </span>
      )}
      {dialog === "cancel" && <ConfirmCancel job={job} onChanged={apply} onClose={() => setDialog(undefined)} />}
      {dialog === "delete" && <ConfirmDelete job={job} onDeleted={onDeleted} onClose={() => setDialog(undefined)} />}
    </span>
  );
}

type CancelProps = { job: JobOut; onChanged: (job: JobOut) => void; onClose: () => void };

function ConfirmCancel({ job, onChanged, onClose }: CancelProps) {
  const { queued, delayed, leased } = job.counts;
  return (
    <Confirm
      title="Cancel this job?"
      verb="Cancel job"
      cancel="Keep running"
      isDanger
      act={async () => onChanged(await api().job(job.id).cancel())}
      onClose={onClose}
    >
      <p>
        {plural(queued + delayed, "waiting URL is", "waiting URLs are")} dropped. {plural(leased, "request")} in flight
        will finish. Pages and records stay. A cancelled job cannot be resumed.
      </p>
    </Confirm>
  );
}

type DeleteProps = Pick<JobActionsProps, "job"> & { onDeleted: JobActionsProps["onDeleted"]; onClose: () => void };

function ConfirmDelete({ job, onDeleted, onClose }: DeleteProps) {
  return (
    <Confirm
      title="Delete this job?"
      verb="Delete job"
      isDanger
      act={async () => {
        await api().job(job.id).delete();
        markDeleted(job.id);
        onDeleted?.();
      }}
      onClose={onClose}
    >
      <p>
        This deletes the job with its {plural(job.tally.pages, "page")}, {plural(job.tally.records, "record")}, stored
        bodies and {plural(job.counts.dead, "dead letter")}. This cannot be undone.
      </p>
    </Confirm>
  );
}
