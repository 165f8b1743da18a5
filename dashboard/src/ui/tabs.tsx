/** Tabs of a page; the selected one is part of the address. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { hrefOf, route } from "../router.ts";

export type Tab = { id: string; title: string; count?: string };

type TabsProps = {
  label: string;
  tabs: readonly Tab[];
  current: string;
  by?: string;
  /** Query parameters to keep when the tab changes. */
  keep?: Readonly<Record<string, string | undefined>>;
};

/** Links instead of ARIA tabs, because each tab has its own address. `by` is the name of the query parameter. */
export function Tabs({ label, tabs, current, by = "tab", keep = {} }: TabsProps) {
  const { path } = route.value;
  const strip = useRef<HTMLElement>(null);
  useLayoutEffect(() => scrollToCurrent(strip.current), [current]);
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

/** Scrolls the strip to the current tab, also after a phone is rotated. `scrollIntoView` would scroll the page too. */
function scrollToCurrent(strip: HTMLElement | null): (() => void) | undefined {
  const current = strip?.querySelector("[aria-current]");
  if (strip == null || current == null) return undefined;
  const observer = new ResizeObserver(() => {
    const [tab, visible] = [current.getBoundingClientRect(), strip.getBoundingClientRect()];
    strip.scrollLeft += tab.left + tab.width / 2 - (visible.left + visible.width / 2);
  });
  observer.observe(strip);
  return () => observer.disconnect();
}

type ChoiceProps<T extends string> = {
  label: string;
  options: readonly { value: T; label: string }[];
  value: T;
  onChange: (value: T) => void;
};

/** A choice between a few options, such as the range of a chart. */
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
