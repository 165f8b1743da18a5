/** The whole of it: signed out, the sign-in; signed in, the menu and the page of the address. */
import { type ComponentType, h } from "preact";
import { useEffect, useErrorBoundary, useState } from "preact/hooks";
import { Login } from "./login.tsx";
import { findPage, type PageEntry, type PageProps } from "./pages.ts";
import { hrefOf, place } from "./router.ts";
import { may, session } from "./session.ts";
import { Shell } from "./shell.tsx";
import { titleTab } from "./tab-title.ts";
import { Empty, Loading } from "./ui/empty.tsx";
import { Page } from "./ui/page.tsx";
import { Problem } from "./ui/problem.tsx";
import { TipBubble } from "./ui/tip.tsx";

export function App() {
  const now = session.value;
  return (
    <>
      {now.state === "starting" && <Starting error={now.error} />}
      {now.state === "signed-out" && <Login why={now.why} />}
      {now.state === "signed-in" && (
        <Shell>
          <CurrentPage />
        </Shell>
      )}
      <TipBubble />
    </>
  );
}

function Starting({ error }: { error: unknown }) {
  return <main class="starting">{error === undefined ? <Loading /> : <Problem error={error} />}</main>;
}

function CurrentPage() {
  const { path } = place.value;
  const found = findPage(path);
  const title = found?.page.title ?? "Nothing here";
  useEffect(() => titleTab(title), [title]);
  if (found === undefined) {
    return (
      <Page title={title}>
        <Empty title="There is no such page.">
          <p>
            <a href={hrefOf([])}>Go to the overview</a>
          </p>
        </Empty>
      </Page>
    );
  }
  const { page, rest } = found;
  if (!may(page.scope)) {
    return (
      <Page title={title}>
        <Empty title={`This page takes a key with the scope ${page.scope}.`}>
          <p>Sign out, and sign in again with such a key.</p>
        </Empty>
      </Page>
    );
  }
  return <LoadedPage key={page.path} page={page} rest={rest} />;
}

/** What goes wrong in a page is shown in its place: the menu stays. */
function LoadedPage({ page, rest }: { page: PageEntry; rest: readonly string[] }) {
  const [component, setComponent] = useState<{ it: ComponentType<PageProps> } | undefined>(undefined);
  const [failure, setFailure] = useState<unknown>(undefined);
  const [broken, mend] = useErrorBoundary();
  useEffect(() => {
    page.load().then((it) => setComponent({ it }), setFailure);
  }, [page]);
  if (failure !== undefined) {
    const error = new Error("This page could not be loaded: the server is away, or is of another version by now.");
    return <Problem error={error} onRetry={() => location.reload()} />;
  }
  if (broken !== undefined) return <Problem error={broken} onRetry={mend} />;
  return component === undefined ? <Loading /> : h(component.it, { rest });
}
