import type { ComponentChildren } from "preact";

/** The empty state of a list: what is missing, and what to do next. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}

export function Loading({ text = "Loading" }: { text?: string }) {
  return (
    <p class="loading" role="status">
      {text} …
    </p>
  );
}
