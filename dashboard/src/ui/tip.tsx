/**
 * A tooltip on hover and focus. All tips share one bubble, which is moved to the open tip, so a table with a thousand
 * tips costs nothing.
 */
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

type OpenTip = { text: string; at: HTMLElement };

const openTip = signal<OpenTip | undefined>(undefined);
const BUBBLE = "tip-bubble";
const GAP = 6;
const EDGE = 8;

type TipProps = {
  text: string;
  children: ComponentChildren;
  class?: string;
  /** Not reachable with the Tab key: for table cells, whose column header has the explanation. */
  isUnfocusable?: boolean;
};

export function Tip({ text, children, class: name = "", isUnfocusable = false }: TipProps) {
  const here = useRef<HTMLSpanElement>(null);
  const isOpen = openTip.value?.at === here.current && here.current !== null;
  const open = () => {
    if (here.current !== null) openTip.value = { text, at: here.current };
  };
  const close = () => {
    if (openTip.peek()?.at === here.current) openTip.value = undefined;
  };
  useLayoutEffect(() => close, []);
  useLayoutEffect(() => {
    // The text may change while the tip is open.
    if (isOpen && openTip.peek()?.text !== text) open();
  }, [text]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it has no action, it only shows a tooltip
    <span
      ref={here}
      class={`tip ${name}`}
      // Keyboard users open it by focus.
      tabIndex={isUnfocusable ? undefined : 0}
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

/** Rendered once, by the root component. */
export function TipBubble() {
  const bubble = useRef<HTMLDivElement>(null);
  const now = openTip.value;
  useLayoutEffect(() => {
    const box = bubble.current;
    if (box === null || now === undefined) return;
    const around = now.at.getBoundingClientRect();
    const { width, height } = box.getBoundingClientRect();
    const isBelow = around.bottom + GAP + height + EDGE < innerHeight;
    const left = Math.min(Math.max(EDGE, around.left), Math.max(EDGE, innerWidth - width - EDGE));
    box.style.left = `${left}px`;
    box.style.top = `${isBelow ? around.bottom + GAP : Math.max(EDGE, around.top - height - GAP)}px`;
    const close = () => {
      openTip.value = undefined;
    };
    addEventListener("scroll", close, { capture: true, once: true });
    return () => removeEventListener("scroll", close, { capture: true });
  }, [now]);
  if (now === undefined) return null;
  return (
    <div ref={bubble} id={BUBBLE} class="tip-bubble" role="tooltip">
      {now.text}
    </div>
  );
}
