import type { ComponentChildren } from "preact";

type PageProps = {
  title: ComponentChildren;
  /** What one can do here. */
  actions?: ComponentChildren;
  /** One line under the title. */
  says?: ComponentChildren;
  children: ComponentChildren;
};

/** The frame of every page: its heading, what one can do, and the rest. */
export function Page({ title, actions, says, children }: PageProps) {
  return (
    <div class="page">
      <header class="page-head">
        <div class="page-title">
          <h1>{title}</h1>
          {says !== undefined && <p class="page-says">{says}</p>}
        </div>
        {actions !== undefined && <div class="page-actions">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

type CardProps = {
  title?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
  class?: string;
};

export function Card({ title, actions, children, class: name = "" }: CardProps) {
  return (
    <section class={`card ${name}`}>
      {title !== undefined && (
        <header class="card-head">
          <h2>{title}</h2>
          {actions}
        </header>
      )}
      {children}
    </section>
  );
}
