import { CheckField, TextField } from "../../../ui/field.tsx";
import { retriesText } from "../../job/job-options-text.ts";
import { withoutUndefined } from "../job-draft.ts";
import { ClosedSection, type SectionProps } from "./section.tsx";
import { NumberField } from "./typed-fields.tsx";

type Retries = NonNullable<SectionProps["job"]["retries"]>;

export function RetriesSection({ job, set, problems }: SectionProps) {
  const { retries = {} } = job;
  const change = (changes: Retries) => set({ retries: withoutUndefined({ ...retries, ...changes }) });
  return (
    <ClosedSection title="Retries" text={retriesText(job)} keys={["retries"]} problems={problems}>
      <div class="form-grid">
        <NumberField
          label="Maximum retries"
          placeholder="server default"
          value={retries.max}
          onValue={(max) => change({ max })}
          problem={problems.at("retries.max")}
        />
        <TextField
          label="Wait before the first retry"
          placeholder="server default"
          hint="A duration such as 1s. It doubles with each further retry."
          value={String(retries.backoff ?? "")}
          onInput={(backoff) => change({ backoff: backoff === "" ? undefined : backoff })}
          problem={problems.at("retries.backoff")}
        />
      </div>
      <div>
        <CheckField
          label="Repeat requests that may change data"
          isChecked={retries.unsafe !== false}
          onChange={(isOn) => change({ unsafe: isOn ? undefined : false })}
        />
        <p class="field-hint check-hint">
          Applies to requests such as POST. If this is off, a request whose result is not known becomes a dead letter.
        </p>
      </div>
    </ClosedSection>
  );
}
