/** The job as a form: what most jobs need. The rest is written as JSON, and stays. */
import { useState } from "preact/hooks";
import type { JobInput } from "../../../../src/client/client.ts";
import { CheckField, Field, SelectField, TextField } from "../../ui/field.tsx";
import { plural } from "../../ui/format.ts";
import type { Problems } from "../../ui/problems.ts";
import { PRIORITIES } from "../job/priorities.ts";
import type { Draft } from "./draft.ts";
import { FieldRows } from "./field-rows.tsx";

type Part = { job: JobInput; set: (changes: Partial<JobInput>) => void; problems: Problems };

type JobFormProps = { draft: Draft; onDraft: (draft: Draft) => void; problems: Problems };

export function JobForm({ draft, onDraft, problems }: JobFormProps) {
  const set = (changes: Partial<JobInput>) => onDraft({ ...draft, job: { ...draft.job, ...changes } });
  const part = { job: draft.job, set, problems };
  return (
    <>
      <What {...part} />
      <Follow {...part} />
      <FieldRows draft={draft} onDraft={onDraft} problems={problems} />
      <Pace {...part} />
      <Rendering {...part} />
    </>
  );
}

function What({ job, set, problems }: Part) {
  return (
    <fieldset class="form-part">
      <legend>What</legend>
      <TextField
        label="Name"
        placeholder="Shop, all products"
        value={job.name ?? ""}
        onInput={(name) => set({ name: name === "" ? undefined : name })}
        problem={problems.at("name")}
      />
      <UrlsField job={job} set={set} problems={problems} />
      {job.spider !== undefined && <p class="quiet">Its pages are read by the spider {job.spider.slice(0, 200)}.</p>}
    </fieldset>
  );
}

/** As it is typed, empty lines and all: the job has the URLs in it. */
function UrlsField({ job, set, problems }: Part) {
  const urls = job.urls ?? [];
  const [text, setText] = useState(urls.join("\n"));
  const shown = urlsIn(text).join("\n") === urls.join("\n") ? text : urls.join("\n");
  return (
    <Field
      label="Start URLs"
      hint={urls.length === 0 ? "One on each line; any number." : plural(urls.length, "URL")}
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

const SCOPES = [
  { value: "site", label: "The same site" },
  { value: "domain", label: "The same domain, with its subdomains" },
  { value: "any", label: "Any site" },
];

function Follow({ job, set, problems }: Part) {
  const { follow } = job;
  const change = (changes: NonNullable<JobInput["follow"]>) => set({ follow: said({ ...follow, ...changes }) });
  return (
    <fieldset class="form-part">
      <legend>Follow</legend>
      <CheckField
        label="Follow links to more pages"
        isChecked={follow !== undefined}
        onChange={(isOn) => set({ follow: isOn ? {} : undefined })}
      />
      {follow !== undefined && (
        <div class="form-grid">
          <TextField
            label="Links"
            placeholder="a[href]"
            hint="A CSS selector of the links."
            value={follow.links ?? ""}
            onInput={(links) => change({ links: links === "" ? undefined : links })}
            problem={problems.at("follow.links")}
          />
          <SelectField
            label="As far as"
            value={follow.scope ?? "site"}
            onChange={(scope) => change({ scope: scope === "site" ? undefined : (scope as "domain" | "any") })}
            options={SCOPES}
          />
          <GlobsField
            label="Only URLs like"
            hint="Globs, with spaces between."
            globs={follow.include}
            onGlobs={(include) => change({ include })}
            problem={problems.at("follow.include")}
          />
          <GlobsField
            label="No URLs like"
            hint="The same; these win."
            globs={follow.exclude}
            onGlobs={(exclude) => change({ exclude })}
            problem={problems.at("follow.exclude")}
          />
          <NumberField
            label="Depth at most"
            hint="Links from a start URL."
            value={follow.maxDepth}
            onValue={(maxDepth) => change({ maxDepth })}
            problem={problems.at("follow.maxDepth")}
          />
        </div>
      )}
    </fieldset>
  );
}

function Pace({ job, set, problems }: Part) {
  const { politeness = {}, limits = {} } = job;
  return (
    <fieldset class="form-part">
      <legend>Pace and limits</legend>
      <div class="form-grid">
        <TextField
          label="Rate"
          placeholder="as the settings say"
          hint="For each site: 4/s, 10/m, unlimited."
          value={politeness.rate ?? ""}
          onInput={(rate) => set({ politeness: said({ ...politeness, rate: rate === "" ? undefined : rate }) })}
          problem={problems.at("politeness.rate")}
        />
        <NumberField
          label="At once, per site"
          hint="Requests under way at one site."
          placeholder="as the settings say"
          value={politeness.perSite}
          onValue={(perSite) => set({ politeness: said({ ...politeness, perSite }) })}
          problem={problems.at("politeness.perSite")}
        />
        <NumberField
          label="Pages at most"
          value={limits.pages}
          onValue={(pages) => set({ limits: said({ ...limits, pages }) })}
          problem={problems.at("limits.pages")}
        />
        <NumberField
          label="Seconds at most"
          value={limits.seconds}
          onValue={(seconds) => set({ limits: said({ ...limits, seconds }) })}
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
          hint="Which workers take it."
          value={job.queue ?? ""}
          onInput={(queue) => set({ queue: queue === "" ? undefined : queue })}
          problem={problems.at("queue")}
        />
      </div>
    </fieldset>
  );
}

const RENDERS = [
  { value: "never", label: "Never: pages as they are sent" },
  { value: "auto", label: "Where a page is empty without scripts" },
  { value: "always", label: "Always" },
];

function Rendering({ job, set, problems }: Part) {
  const { keep = {}, browser = {}, render = "never" } = job;
  return (
    <fieldset class="form-part">
      <legend>Browser and what is kept</legend>
      <div class="form-grid">
        <SelectField
          label="Show in a browser"
          hint={render === "never" ? "Scripts of pages do not run." : "Takes workers of the queue render."}
          value={render}
          onChange={(value) =>
            set(value === "never" ? { render: undefined, browser: undefined } : { render: value as "auto" | "always" })
          }
          options={RENDERS}
          problem={problems.at("render") ?? problems.at("browser")}
        />
        <div class="form-checks">
          <CheckField
            label="Keep bodies"
            isChecked={keep.bodies === true}
            onChange={(isOn) => set({ keep: said({ ...keep, bodies: isOn ? true : undefined }) })}
          />
          {render !== "never" && (
            <CheckField
              label="Keep a screenshot of each page"
              isChecked={browser.screenshot !== undefined && browser.screenshot !== false}
              onChange={(isOn) =>
                set({ browser: said({ ...browser, screenshot: isOn ? ("view" as const) : undefined }) })
              }
            />
          )}
        </div>
      </div>
    </fieldset>
  );
}

type NumberProps = {
  label: string;
  hint?: string;
  value: number | undefined;
  onValue: (value: number | undefined) => void;
  problem: string | undefined;
  placeholder?: string;
};

function NumberField({ value, onValue, placeholder = "no limit", ...field }: NumberProps) {
  return (
    <TextField
      {...field}
      type="number"
      placeholder={placeholder}
      value={value === undefined ? "" : String(value)}
      onInput={(text) => onValue(text === "" ? undefined : Number(text))}
    />
  );
}

type GlobsProps = {
  label: string;
  hint: string;
  globs: readonly string[] | undefined;
  onGlobs: (globs: string[] | undefined) => void;
  problem: string | undefined;
};

function GlobsField({ globs = [], onGlobs, ...field }: GlobsProps) {
  const [text, setText] = useState(globs.join(" "));
  const wordsIn = (typed: string) => typed.split(/\s+/).filter(Boolean);
  return (
    <TextField
      {...field}
      placeholder="**/products/**"
      value={wordsIn(text).join(" ") === globs.join(" ") ? text : globs.join(" ")}
      onInput={(typed) => {
        setText(typed);
        onGlobs(wordsIn(typed).length === 0 ? undefined : wordsIn(typed));
      }}
    />
  );
}

function urlsIn(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
}

/** What is not said is not there. */
function said<T extends object>(words: T): T {
  return Object.fromEntries(Object.entries(words).filter(([, value]) => value !== undefined)) as T;
}
