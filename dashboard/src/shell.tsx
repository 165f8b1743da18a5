/** What is around every page: the menu, how the connection is, who one is. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { connection } from "./live.ts";
import { findPage, PAGES } from "./pages.ts";
import { hrefOf, place } from "./router.ts";
import { may, session, signOut } from "./session.ts";
import { switchTheme, theme } from "./theme.ts";
import { duration } from "./ui/format.ts";
import { Tip } from "./ui/tip.tsx";
import { now } from "./visible.ts";

export function Shell({ children }: { children: ComponentChildren }) {
  const [isOpen, setIsOpen] = useState(false);
  const main = useRef<HTMLElement>(null);
  const { path } = place.value;
  const where = path.join("/");
  useEffect(() => {
    setIsOpen(false);
    scrollTo(0, 0);
  }, [where]);
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
        Skip to the page
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
        <AwayBanner />
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
  const current = findPage(place.value.path)?.page.path.split("/", 1)[0];
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
    keyId === null ? "no key needed" : (tenant ?? (scopes.includes("admin") ? "operator" : `may ${scopes.join(", ")}`));
  const tip =
    keyId === null
      ? "The server asks for no key: whoever reaches it from this machine may do everything."
      : `Signed in with the key ${keyId}, which may ${scopes.join(", ")}. ${tenant === null ? "It sees everybody's jobs." : `It sees the jobs of ${tenant}.`}`;
  return (
    <div class="side-foot">
      <ConnectionState />
      <p class="who">
        <Tip says={tip}>{who}</Tip>
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
  connecting: { words: "connecting", tip: "Waiting for the server's stream of events." },
  live: { words: "live", tip: "What is shown changes as it happens." },
  away: { words: "server away", tip: "The server does not answer. What is shown is what was last known." },
} as const;

function ConnectionState() {
  const { state } = connection.value;
  const { words, tip } = STATES[state];
  return (
    <p class={`connection connection-${state}`}>
      <Tip says={tip}>{words}</Tip>
    </p>
  );
}

function AwayBanner() {
  const state = connection.value;
  // Heard once by those who hear the page, and not every second with the time.
  const isAway = state.state === "away";
  return (
    <div role="status">
      {isAway && (
        <p class="away">
          <span>Lost the server. What you see is what was last known.</span>
          <span aria-hidden="true">{nextTry(state.nextTryAt - now.value)}</span>
        </p>
      )}
    </div>
  );
}

function nextTry(ms: number): string {
  return ms < 1_000 ? "Trying again …" : `Trying again in ${duration(Math.round(ms / 1_000) * 1_000)}.`;
}
