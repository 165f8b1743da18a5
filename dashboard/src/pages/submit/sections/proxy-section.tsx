import { CheckField, SelectField, TextField } from "../../../ui/field.tsx";
import { proxyText } from "../../job/job-options-text.ts";
import { withoutUndefined } from "../job-draft.ts";
import { ClosedSection, type SectionProps } from "./section.tsx";
import { NumberField, WordsField } from "./typed-fields.tsx";

type Proxy = NonNullable<SectionProps["job"]["proxy"]>;

const ROTATIONS = [
  { value: "request", label: "With every request" },
  { value: "session", label: "With the session" },
  { value: "site", label: "Never at one site" },
];

export function ProxySection({ job, set, problems }: SectionProps) {
  const { proxy = {} } = job;
  const isDirect = proxy.use === "none";
  const change = (changes: Proxy) => set({ proxy: withoutUndefined({ ...proxy, ...changes }) });
  return (
    <ClosedSection title="Proxies" text={proxyText(job)} keys={["proxy"]} problems={problems}>
      <CheckField
        label="Send the requests directly, without a proxy"
        isChecked={isDirect}
        onChange={(isOn) => set({ proxy: isOn ? { use: "none" } : undefined })}
      />
      {!isDirect && (
        <div class="form-grid">
          <WordsField
            label="Use proxies with a tag"
            placeholder="all proxies"
            hint="Tags, separated by spaces. The operator lists the proxies and their tags."
            words={proxy.use === "none" ? [] : proxy.use}
            onWords={(use) => change({ use })}
            problem={problems.at("proxy.use")}
          />
          <WordsField
            label="After a block, use"
            placeholder="no other proxies"
            hint="Tags, separated by spaces, one after the other."
            words={proxy.then}
            onWords={(then) => change({ then })}
            problem={problems.at("proxy.then")}
          />
          <NumberField
            label="Budget"
            hint="The maximum number of requests through the proxies that are used after a block."
            value={proxy.budget}
            onValue={(budget) => change({ budget })}
            problem={problems.at("proxy.budget")}
          />
          <SelectField
            label="Change the proxy"
            value={proxy.rotate ?? "request"}
            onChange={(rotate) => change({ rotate: rotate === "request" ? undefined : (rotate as "session" | "site") })}
            options={ROTATIONS}
            problem={problems.at("proxy.rotate")}
          />
          <TextField
            label="Region"
            placeholder="any"
            hint="Only proxies of this region are used."
            value={proxy.region ?? ""}
            onInput={(region) => change({ region: region === "" ? undefined : region })}
            problem={problems.at("proxy.region")}
          />
        </div>
      )}
    </ClosedSection>
  );
}
