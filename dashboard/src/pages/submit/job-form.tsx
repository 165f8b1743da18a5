/**
 * The job as a form with the most common options. The form does not change options that it does not show; users edit
 * those as JSON.
 */
import { useState } from "preact/hooks";
import type { JobInput } from "../../../../src/client/client.ts";
import { CheckField, Field, SelectField, TextField } from "../../ui/field.tsx";
import type { FieldProblems } from "../../ui/field-problems.ts";
import { plural } from "../../ui/format.ts";
import { PRIORITIES } from "../job/priorities.ts";
import { FieldRows } from "./field-rows.tsx";
import { type JobDraft, withoutUndefined } from "./job-draft.ts";
import { HeadersSection } from "./sections/headers-section.tsx";
import { LoginSection } from "./sections/login-section.tsx";
import { ProxySection } from "./sections/proxy-section.tsx";
import { RequestBuilder } from "./sections/request-builder.tsx";
import { RetriesSection } from "./sections/retries-section.tsx";
import type { SectionProps } from "./sections/section.tsx";
import { SessionsSection } from "./sections/sessions-section.tsx";
import { SitemapsSection } from "./sections/sitemaps-section.tsx";
import { NumberField, WordsField } from "./sections/typed-fields.tsx";
import { linesOf, urlsIn } from "./url-lines.ts";

const ADAPTIVE = [
  { value: "", label: "server default" },
  { value: "true", label: "on" },
  { value: "false", label: "off" },
];

type JobFormProps = { draft: JobDraft; onDraft: (draft: JobDraft) => void; problems: FieldProblems };

export function JobForm({ draft, onDraft, problems }: JobFormProps) {
  const set = (changes: Partial<JobInput>) => onDraft({ ...draft, job: { ...draft.job, ...changes } });
  const section = { job: draft.job, set, problems };
  return (
    <>
      <StartSection {...section} />
      <FollowSection {...section} />
      <FieldRows draft={draft} onDraft={onDraft} problems={problems} />
      <LimitsSection {...section} />
      <RenderSection {...section} />
      <div class="closed-sections">
        <SitemapsSection {...section} />
        <HeadersSection {...section} />
        <SessionsSection {...section} />
        <LoginSection {...section} />
        <ProxySection {...section} />
        <RetriesSection {...section} />
      </div>
    </>
  );
}

function StartSection({ job, set, problems }: SectionProps) {
  return (
    <fieldset class="form-part">
      <legend>Start</legend>
      <TextField
        label="Name"
        placeholder="Shop, all products"
        value={job.name ?? ""}
        onInput={(name) => set({ name: name === "" ? undefined : name })}
        problem={problems.at("name")}
      />
      <UrlsField job={job} set={set} problems={problems} />
      <RequestBuilder onEntry={(entry) => set({ urls: [...(job.urls ?? []), entry] })} />
      {job.spider !== undefined && <p class="muted">The spider {job.spider.slice(0, 200)} parses the pages.</p>}
    </fieldset>
  );
}

/** Keeps the text as typed, including empty lines; the job contains the parsed URLs. */
function UrlsField({ job, set, problems }: SectionProps) {
  const urls = job.urls ?? [];
  const [text, setText] = useState(linesOf(urls));
  const shown = linesOf(urlsIn(text)) === linesOf(urls) ? text : linesOf(urls);
  return (
    <Field
      label="Start URLs"
      hint={urls.length === 0 ? "One URL per line, or a request as JSON." : plural(urls.length, "URL")}
      problem={problems.at("urls")}
    >
      {(ids) => (
        <textarea
          {...ids}
          rows={4}
          spellcheck={false}
          placeholder="https://shop.example/"
          value={shown}
          onInput={(event) => {
            setText(event.currentTarget.value);
            set({ urls: urlsIn(event.currentTarget.value) });
          }}
        />
      )}
    </Field>
  );
}

const LINK_SCOPES = [
  { value: "site", label: "Same site" },
  { value: "domain", label: "Same domain and subdomains" },
  { value: "any", label: "Any site" },
];

function FollowSection({ job, set, problems }: SectionProps) {
  const { follow } = job;
  const change = (changes: NonNullable<JobInput["follow"]>) =>
    set({ follow: withoutUndefined({ ...follow, ...changes }) });
  return (
    <fieldset class="form-part">
      <legend>Links</legend>
      <CheckField
        label="Follow links"
        isChecked={follow !== undefined}
        onChange={(isOn) => set({ follow: isOn ? {} : undefined })}
      />
      {follow !== undefined && (
        <div class="form-grid">
          <TextField
            label="Link selector"
            placeholder="a[href]"
            hint="CSS selector of the links."
            value={follow.links ?? ""}
            onInput={(links) => change({ links: links === "" ? undefined : links })}
            problem={problems.at("follow.links")}
          />
          <SelectField
            label="Link scope"
            value={follow.scope ?? "site"}
            onChange={(scope) => change({ scope: scope === "site" ? undefined : (scope as "domain" | "any") })}
            options={LINK_SCOPES}
          />
          <WordsField
            label="Include URLs"
            placeholder="**/products/**"
            hint="Globs, separated by spaces."
            words={follow.include}
            onWords={(include) => change({ include })}
            problem={problems.at("follow.include")}
          />
          <WordsField
            label="Exclude URLs"
            placeholder="**/login/**"
            hint="Globs, separated by spaces. They take precedence over “Include URLs”."
            words={follow.exclude}
            onWords={(exclude) => change({ exclude })}
            problem={problems.at("follow.exclude")}
          />
          <NumberField
            label="Maximum depth"
            hint="The maximum number of links from a start URL to a page."
            value={follow.maxDepth}
            onValue={(maxDepth) => change({ maxDepth })}
            problem={problems.at("follow.maxDepth")}
          />
        </div>
      )}
    </fieldset>
  );
}

function LimitsSection({ job, set, problems }: SectionProps) {
  const { politeness = {}, limits = {} } = job;
  return (
    <fieldset class="form-part">
      <legend>Rate and limits</legend>
      <div class="form-grid">
        <TextField
          label="Rate"
          placeholder="server default"
          hint="Requests per site, such as 4/s, 10/m or unlimited."
          value={politeness.rate ?? ""}
          onInput={(rate) =>
            set({ politeness: withoutUndefined({ ...politeness, rate: rate === "" ? undefined : rate }) })
          }
          problem={problems.at("politeness.rate")}
        />
        <NumberField
          label="Concurrency per site"
          hint="The maximum number of requests in flight at one site."
          placeholder="server default"
          value={politeness.perSite}
          onValue={(perSite) => set({ politeness: withoutUndefined({ ...politeness, perSite }) })}
          problem={problems.at("politeness.perSite")}
        />
        <SelectField
          label="Adaptive rate"
          hint="Whether a site that answers with errors or slowly gets fewer requests than its rate allows."
          value={String(politeness.adaptive ?? "")}
          onChange={(value) => {
            const adaptive = value === "" ? undefined : value === "true";
            set({ politeness: withoutUndefined({ ...politeness, adaptive }) });
          }}
          options={ADAPTIVE}
          problem={problems.at("politeness.adaptive")}
        />
        <NumberField
          label="Page limit"
          value={limits.pages}
          onValue={(pages) => set({ limits: withoutUndefined({ ...limits, pages }) })}
          problem={problems.at("limits.pages")}
        />
        <NumberField
          label="Time limit (seconds)"
          value={limits.seconds}
          onValue={(seconds) => set({ limits: withoutUndefined({ ...limits, seconds }) })}
          problem={problems.at("limits.seconds")}
        />
        <SelectField
          label="Priority"
          value={String(job.priority ?? 5)}
          onChange={(value) => set({ priority: value === "5" ? undefined : Number(value) })}
          options={PRIORITIES}
          problem={problems.at("priority")}
        />
        <TextField
          label="Queue"
          placeholder="fetch"
          hint="Only workers that serve this queue run the job."
          value={job.queue ?? ""}
          onInput={(queue) => set({ queue: queue === "" ? undefined : queue })}
          problem={problems.at("queue")}
        />
      </div>
    </fieldset>
  );
}

const RENDERS = [
  { value: "never", label: "Never" },
  { value: "auto", label: "If a page is empty without scripts" },
  { value: "always", label: "Always" },
];

function RenderSection({ job, set, problems }: SectionProps) {
  const { keep = {}, browser = {}, render = "never" } = job;
  return (
    <fieldset class="form-part">
      <legend>Rendering and storage</legend>
      <div class="form-grid">
        <SelectField
          label="Render in a browser"
          hint={render === "never" ? "Scripts of pages do not run." : "Needs a worker that serves the queue “render”."}
          value={render}
          onChange={(value) =>
            set(value === "never" ? { render: undefined, browser: undefined } : { render: value as "auto" | "always" })
          }
          options={RENDERS}
          problem={problems.at("render") ?? problems.at("browser")}
        />
        <div class="form-checks">
          <CheckField
            label="Store page bodies"
            isChecked={keep.bodies === true}
            onChange={(isOn) => set({ keep: withoutUndefined({ ...keep, bodies: isOn ? true : undefined }) })}
          />
          {render !== "never" && (
            <CheckField
              label="Store a screenshot of each page"
              isChecked={browser.screenshot !== undefined && browser.screenshot !== false}
              onChange={(isOn) =>
                set({ browser: withoutUndefined({ ...browser, screenshot: isOn ? ("view" as const) : undefined }) })
              }
            />
          )}
        </div>
      </div>
    </fieldset>
  );
}
