/** Parts of a page, one at a time; which one stands in the address. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { hrefOf, place } from "../router.ts";

export type Tab = { id: string; title: string; count?: string };

type TabsProps = {
  label: string;
  tabs: readonly Tab[];
  current: string;
  by?: string;
  /** What else of the query stays when another part is gone to. */
  keep?: Readonly<Record<string, string | undefined>>;
};

/** Links, and not ARIA's tabs: each part is a place that can be linked to. `by` is its name in the query. */
export function Tabs({ label, tabs, current, by = "tab", keep = {} }: TabsProps) {
  const { path } = place.value;
  const strip = useRef<HTMLElement>(null);
  useLayoutEffect(() => keepInSight(strip.current), [current]);
  return (
    <nav class="tabs" aria-label={label} ref={strip}>
      {tabs.map((tab) => (
        <a
          key={tab.id}
          href={hrefOf(path, { ...keep, [by]: tab.id })}
          aria-current={tab.id === current ? "page" : undefined}
          class="tab"
        >
          {tab.title}
          {tab.count !== undefined && <span class="tab-count">{tab.count}</span>}
        </a>
      ))}
    </nav>
  );
}

/** The chosen one, also when a phone is turned. Sideways alone: `scrollIntoView` would move the page as well. */
function keepInSight(strip: HTMLElement | null): (() => void) | undefined {
  const chosen = strip?.querySelector("[aria-current]");
  if (strip == null || chosen == null) return undefined;
  const watch = new ResizeObserver(() => {
    const [at, room] = [chosen.getBoundingClientRect(), strip.getBoundingClientRect()];
    strip.scrollLeft += at.left + at.width / 2 - (room.left + room.width / 2);
  });
  watch.observe(strip);
  return () => watch.disconnect();
}

type ChoiceProps<T extends string> = {
  label: string;
  options: readonly { value: T; label: string }[];
  value: T;
  onChange: (value: T) => void;
};

/** One of a few, such as the range of a chart. */
export function Choice<T extends string>({ label, options, value, onChange }: ChoiceProps<T>) {
  return (
    <fieldset class="choice" aria-label={label}>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          onClick={() => onChange(option.value)}
        >
          {option.label}
        </button>
      ))}
    </fieldset>
  );
}
