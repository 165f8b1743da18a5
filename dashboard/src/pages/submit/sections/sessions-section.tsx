import { CheckField, SelectField } from "../../../ui/field.tsx";
import { sessionsText } from "../../job/job-options-text.ts";
import { withoutUndefined } from "../job-draft.ts";
import { ClosedSection, type SectionProps } from "./section.tsx";
import { NumberField } from "./typed-fields.tsx";

type Sessions = NonNullable<SectionProps["job"]["sessions"]>;

const SHARED_BY = [
  { value: "job", label: "All sites of the job" },
  { value: "site", label: "One site" },
];

export function SessionsSection({ job, set, problems }: SectionProps) {
  const { cookies, sessions = {} } = job;
  const isImplied = cookies === undefined && (job.sessions !== undefined || job.login !== undefined);
  const change = (changes: Sessions) => {
    const next = withoutUndefined({ ...sessions, ...changes });
    set({ sessions: Object.keys(next).length === 0 ? undefined : next });
  };
  return (
    <ClosedSection
      title="Cookies and sessions"
      text={sessionsText(job)}
      keys={["cookies", "sessions"]}
      problems={problems}
    >
      {isImplied ? (
        <p class="muted">The job keeps cookies, because it has sessions or a login.</p>
      ) : (
        <CheckField
          label="Keep the cookies of sites and send them back"
          isChecked={cookies === true}
          onChange={(isOn) => set({ cookies: isOn ? true : undefined })}
        />
      )}
      <div class="form-grid">
        <NumberField
          label="Number of sessions"
          hint="Each session has its own cookies. The tasks are distributed over the sessions."
          placeholder="1"
          value={sessions.count}
          onValue={(count) => change({ count })}
          problem={problems.at("sessions.count")}
        />
        <SelectField
          label="A session is used at"
          value={sessions.per ?? "job"}
          onChange={(per) => change({ per: per === "job" ? undefined : (per as "site") })}
          options={SHARED_BY}
          problem={problems.at("sessions.per")}
        />
        <NumberField
          label="Replace a session after"
          hint="Number of tasks. The new session starts without cookies."
          placeholder="never"
          value={sessions.rotateAfter}
          onValue={(rotateAfter) => change({ rotateAfter })}
          problem={problems.at("sessions.rotateAfter")}
        />
      </div>
    </ClosedSection>
  );
}
