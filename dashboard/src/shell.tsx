/** The frame around every page: menu, connection state, signed-in user. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { connection } from "./live.ts";
import { findPage, PAGES } from "./pages.ts";
import { hrefOf, route } from "./router.ts";
import { may, session, signOut } from "./session.ts";
import { switchTheme, theme } from "./theme.ts";
import { duration } from "./ui/format.ts";
import { Tip } from "./ui/tip.tsx";
import { now } from "./visible.ts";

export function Shell({ children }: { children: ComponentChildren }) {
  const [isOpen, setIsOpen] = useState(false);
  const main = useRef<HTMLElement>(null);
  const { path } = route.value;
  const pagePath = path.join("/");
  useEffect(() => {
    setIsOpen(false);
    scrollTo(0, 0);
  }, [pagePath]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Esc closes the menu from anywhere
    <div
      class="shell"
      onKeyDown={(event) => {
        if (event.key === "Escape") setIsOpen(false);
      }}
    >
      <a
        class="skip"
        href={location.hash}
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        Skip to content
      </a>
      <header class="bar">
        <a class="brand" href={hrefOf([])}>
          <Mark />
          Trawl
        </a>
        <button type="button" class="menu-button" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
          Menu
        </button>
      </header>
      <div class={isOpen ? "side is-open" : "side"}>
        <Menu />
        <Foot />
      </div>
      <main ref={main} class="main" tabIndex={-1}>
        <DisconnectedBanner />
        {children}
      </main>
    </div>
  );
}

function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <title>Trawl</title>
      <rect width="32" height="32" rx="7" />
      <path d="M6 9h20M8 9c0 9 3 14 8 16c5-2 8-7 8-16M12 9c0 7 1.500 12 4 16c2.500-4 4-9 4-16M8.500 15h15M11 20h10" />
    </svg>
  );
}

function Menu() {
  const current = findPage(route.value.path)?.page.path.split("/", 1)[0];
  return (
    <nav class="menu" aria-label="Pages">
      {PAGES.filter(({ isInMenu, scope }) => isInMenu && may(scope)).map(({ path, title }) => (
        <a key={path} href={hrefOf(path === "" ? [] : [path])} aria-current={path === current ? "page" : undefined}>
          {title}
        </a>
      ))}
    </nav>
  );
}

function Foot() {
  const me = session.value.state === "signed-in" ? session.value.me : undefined;
  if (me === undefined) return null;
  const { keyId, tenant, scopes, version } = me;
  const who =
    keyId === null ? "no key required" : (tenant ?? (scopes.includes("admin") ? "operator" : scopes.join(", ")));
  const tip =
    keyId === null
      ? "This server requires no key. It only accepts connections from this machine. Every user of this machine has full access."
      : `Signed in with key ${keyId}. Scopes: ${scopes.join(", ")}. ${tenant === null ? "Access to the jobs of all tenants." : `Access to the jobs of the tenant ${tenant}.`}`;
  return (
    <div class="side-foot">
      <ConnectionState />
      <p class="who">
        <Tip text={tip}>{who}</Tip>
      </p>
      <div class="side-buttons">
        <button type="button" class="small" onClick={switchTheme}>
          {theme.value === "dark" ? "Light theme" : "Dark theme"}
        </button>
        {keyId !== null && (
          <button type="button" class="small" onClick={() => signOut()}>
            Sign out
          </button>
        )}
      </div>
      <p class="version">Trawl {version}</p>
    </div>
  );
}

const STATES = {
  connecting: { label: "connecting", tip: "Opening the event stream of the server." },
  live: { label: "live", tip: "Connected. The page updates automatically." },
  lost: { label: "disconnected", tip: "The server does not answer. The page shows the last known state." },
} as const;

function ConnectionState() {
  const { state } = connection.value;
  const { label, tip } = STATES[state];
  return (
    <p class={`connection connection-${state}`}>
      <Tip text={tip}>{label}</Tip>
    </p>
  );
}

function DisconnectedBanner() {
  const state = connection.value;
  // The countdown is hidden from screen readers: they would announce it every second.
  const isLost = state.state === "lost";
  return (
    <div role="status">
      {isLost && (
        <p class="connection-banner">
          <span>Connection lost. The page shows the last known state.</span>
          <span aria-hidden="true">{retryText(state.nextAttemptAt - now.value)}</span>
        </p>
      )}
    </div>
  );
}

function retryText(ms: number): string {
  return ms < 1_000 ? "Reconnecting …" : `Reconnecting in ${duration(Math.round(ms / 1_000) * 1_000)}.`;
}
