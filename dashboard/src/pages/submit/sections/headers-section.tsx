import { headersText } from "../../job/job-options-text.ts";
import { ClosedSection, type SectionProps } from "./section.tsx";
import { PairsField } from "./typed-fields.tsx";

export function HeadersSection({ job, set, problems }: SectionProps) {
  return (
    <ClosedSection title="Headers" text={headersText(job)} keys={["headers"]} problems={problems}>
      <PairsField
        label="Headers of every request"
        placeholder={"accept-language: de\nx-api-key: env:SHOP_KEY"}
        hint="One per line. Write secrets as env:NAME: the worker reads them from its environment, and they are not stored."
        pairs={job.headers}
        onPairs={(headers) => set({ headers: { ...headers } })}
        problem={problems.at("headers")}
      />
    </ClosedSection>
  );
}
