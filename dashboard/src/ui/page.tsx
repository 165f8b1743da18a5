import type { ComponentChildren } from "preact";

type FrameProps = {
  title: ComponentChildren;
  /** Buttons next to the title. */
  actions?: ComponentChildren;
  /** One line under the title. */
  subtitle?: ComponentChildren;
  children: ComponentChildren;
};

/** The layout of every page: heading, actions, content. */
export function Page({ title, actions, subtitle, children }: FrameProps) {
  return (
    <div class="page">
      <header class="page-head">
        <div class="page-title">
          <h1>{title}</h1>
          {subtitle !== undefined && <p class="page-subtitle">{subtitle}</p>}
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
