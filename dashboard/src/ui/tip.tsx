/**
 * A number that explains itself, on hover and on focus. There is one bubble for all of them, put where it is needed: a
 * table of a thousand numbers costs nothing until somebody asks.
 */
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

type Shown = { says: string; at: HTMLElement };

const shown = signal<Shown | undefined>(undefined);
const BUBBLE = "tip-bubble";
const GAP = 6;
const EDGE = 8;

type TipProps = {
  says: string;
  children: ComponentChildren;
  class?: string;
  /** Not a stop of the Tab key: for the cells of tables, whose heads explain them. */
  isQuiet?: boolean;
};

export function Tip({ says, children, class: name = "", isQuiet = false }: TipProps) {
  const here = useRef<HTMLSpanElement>(null);
  const isOpen = shown.value?.at === here.current && here.current !== null;
  const open = () => {
    if (here.current !== null) shown.value = { says, at: here.current };
  };
  const close = () => {
    if (shown.peek()?.at === here.current) shown.value = undefined;
  };
  useLayoutEffect(() => close, []);
  useLayoutEffect(() => {
    // What it says may change while it is read.
    if (isOpen && shown.peek()?.says !== says) open();
  }, [says]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: nothing is done by it; it only says more
    <span
      ref={here}
      class={`tip ${name}`}
      // Whoever has no pointer gets the explanation by focus.
      tabIndex={isQuiet ? undefined : 0}
      aria-describedby={isOpen ? BUBBLE : undefined}
      onPointerEnter={open}
      onPointerLeave={close}
      onFocusIn={open}
      onFocusOut={close}
      onKeyDown={(event) => {
        if (event.key === "Escape") close();
      }}
    >
      {children}
    </span>
  );
}

/** Once, at the root. */
export function TipBubble() {
  const bubble = useRef<HTMLDivElement>(null);
  const now = shown.value;
  useLayoutEffect(() => {
    const box = bubble.current;
    if (box === null || now === undefined) return;
    const around = now.at.getBoundingClientRect();
    const { width, height } = box.getBoundingClientRect();
    const isBelow = around.bottom + GAP + height + EDGE < innerHeight;
    const left = Math.min(Math.max(EDGE, around.left), Math.max(EDGE, innerWidth - width - EDGE));
    box.style.left = `${left}px`;
    box.style.top = `${isBelow ? around.bottom + GAP : Math.max(EDGE, around.top - height - GAP)}px`;
    const leave = () => {
      shown.value = undefined;
    };
    addEventListener("scroll", leave, { capture: true, once: true });
    return () => removeEventListener("scroll", leave, { capture: true });
  }, [now]);
  if (now === undefined) return null;
  return (
    <div ref={bubble} id={BUBBLE} class="tip-bubble" role="tooltip">
      {now.says}
    </div>
  );
}
