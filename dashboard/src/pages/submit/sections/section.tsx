/** A part of the job form that is closed until the user opens it, or until one of its fields has a problem. */
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { JobInput } from "../../../../../src/client/client.ts";
import type { FieldProblems } from "../../../ui/field-problems.ts";
import { Scraped } from "../../../ui/scraped.tsx";

export type SectionProps = {
  job: JobInput;
  set: (changes: Partial<JobInput>) => void;
  problems: FieldProblems;
};

type ClosedSectionProps = {
  title: string;
  /** What is set, shown next to the title. */
  text: string;
  /** The keys of the job that the section edits. */
  keys: readonly (keyof JobInput)[];
  problems: FieldProblems;
  children: ComponentChildren;
};

export function ClosedSection({ title, text, keys, problems, children }: ClosedSectionProps) {
  const hasProblem = keys.some((key) => problems.has(key));
  const [isOpen, setIsOpen] = useState(false);
  useEffect(() => {
    if (hasProblem) setIsOpen(true);
  }, [hasProblem]);
  const own = keys.map((key) => problems.own(key)).filter((problem) => problem !== undefined);
  return (
    <details class="section" open={isOpen} onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>
        <span class="section-title">{title}</span>
        <span class="section-text">
          <Scraped text={text} max={100} />
        </span>
      </summary>
      <div class="section-body">
        {own.length > 0 && <p class="field-problem">{own.join("; ")}</p>}
        {children}
      </div>
    </details>
  );
}
