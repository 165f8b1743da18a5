import { SelectField, TextField } from "../../../ui/field.tsx";
import { sitemapsText } from "../../job/job-options-text.ts";
import { ClosedSection, type SectionProps } from "./section.tsx";
import { type SitemapsDraft, sitemapsDraftOf, sitemapsIn } from "./sitemaps-draft.ts";
import { LinesField } from "./typed-fields.tsx";

const SOURCES = [
  { value: "none", label: "Do not read sitemaps" },
  { value: "robots", label: "Those that robots.txt names" },
  { value: "list", label: "A list of sitemaps" },
];

export function SitemapsSection({ job, set, problems }: SectionProps) {
  const draft = sitemapsDraftOf(job.sitemaps);
  const change = (changes: Partial<SitemapsDraft>) => set({ sitemaps: sitemapsIn({ ...draft, ...changes }) });
  return (
    <ClosedSection title="Sitemaps" text={sitemapsText(job)} keys={["sitemaps"]} problems={problems}>
      <div class="form-grid">
        <SelectField
          label="Sitemaps"
          hint="The job also fetches the pages that sitemaps list."
          value={draft.source}
          onChange={(source) => change({ source: source as SitemapsDraft["source"] })}
          options={SOURCES}
        />
        {draft.source !== "none" && (
          <TextField
            label="Only pages since"
            placeholder="7d"
            hint="A date, or a duration before the submission. Older pages are left out."
            value={draft.since}
            onInput={(since) => change({ since })}
          />
        )}
      </div>
      {draft.source === "list" && (
        <LinesField
          label="Sitemap URLs"
          placeholder="https://shop.example/sitemap.xml"
          hint="One URL per line. A URL without a path means the sitemaps of that site."
          lines={draft.urls}
          onLines={(urls) => change({ urls })}
          problem={undefined}
        />
      )}
    </ClosedSection>
  );
}
