/** What can be done to a job: the same in the list and on its own page. */
import { useState } from "preact/hooks";
import type { JobOut } from "../../../../src/client/client.ts";
import { noteJob } from "../../live.ts";
import { useAction } from "../../polled.ts";
import { api, may } from "../../session.ts";
import { Confirm } from "../../ui/dialog.tsx";
import { plural } from "../../ui/format.ts";
import { wordsOf } from "../../ui/problem.tsx";
import { noteDeleted } from "./deleted.ts";
import { hasEnded } from "./job-numbers.ts";

type Asked = "cancel" | "delete" | undefined;

export type JobActionsProps = {
  job: JobOut;
  isSmall?: boolean;
  onChanged?: (job: JobOut) => void;
  onDeleted?: () => void;
};

export function JobActions({ job, isSmall = false, onChanged, onDeleted }: JobActionsProps) {
  const [asked, setAsked] = useState<Asked>(undefined);
  const tell = (changed: JobOut) => {
    noteJob(changed);
    onChanged?.(changed);
  };
  const steering = useAction(async (verb: "pause" | "resume") => tell(await api().job(job.id)[verb]()));
  if (!may("submit")) return null;
  const size = isSmall ? "small" : "";
  const isOver = hasEnded(job);
  const verb = job.state === "paused" ? "resume" : "pause";
  return (
    <span class="job-actions">
      {!isOver && (
        <button type="button" class={size} disabled={steering.isBusy} onClick={() => steering.run(verb)}>
          {verb === "pause" ? "Pause" : "Resume"}
          {isSmall && <span class="sr-only"> {job.name}</span>}
        </button>
      )}
      <button type="button" class={size} onClick={() => setAsked(isOver ? "delete" : "cancel")}>
        {isOver ? "Delete" : "Cancel"}
        {isSmall && <span class="sr-only"> {job.name}</span>}
      </button>
      {steering.error !== undefined && (
        <span class="field-problem" role="alert">
          {wordsOf(steering.error).what}
        </span>
      )}
      {asked === "cancel" && <ConfirmCancel job={job} onChanged={tell} onClose={() => setAsked(undefined)} />}
      {asked === "delete" && <ConfirmDelete job={job} onDeleted={onDeleted} onClose={() => setAsked(undefined)} />}
    </span>
  );
}

type CancelProps = { job: JobOut; onChanged: (job: JobOut) => void; onClose: () => void };

function ConfirmCancel({ job, onChanged, onClose }: CancelProps) {
  const { queued, delayed, leased } = job.counts;
  return (
    <Confirm
      title="Cancel this job?"
      verb="Cancel the job"
      isDanger
      act={async () => onChanged(await api().job(job.id).cancel())}
      onClose={onClose}
    >
      <p>
        {plural(queued + delayed, "URL that waits is", "URLs that wait are")} dropped,{" "}
        {plural(leased, "under way ends", "under way end")} by themselves. What the job has brought stays. A cancelled
        job cannot go on.
      </p>
    </Confirm>
  );
}

type DeleteProps = Pick<JobActionsProps, "job"> & { onDeleted: JobActionsProps["onDeleted"]; onClose: () => void };

function ConfirmDelete({ job, onDeleted, onClose }: DeleteProps) {
  return (
    <Confirm
      title="Delete this job?"
      verb="Delete for good"
      isDanger
      act={async () => {
        await api().job(job.id).delete();
        noteDeleted(job.id);
        onDeleted?.();
      }}
      onClose={onClose}
    >
      <p>
        Its {plural(job.tally.pages, "page")}, {plural(job.tally.records, "record")}, bodies and{" "}
        {plural(job.counts.dead, "dead letter")} go with it, for good.
      </p>
    </Confirm>
  );
}
