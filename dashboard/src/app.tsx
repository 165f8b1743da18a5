/** The root component: the sign-in form, or the menu with the page of the current route. */
import { type ComponentType, h } from "preact";
import { useEffect, useErrorBoundary, useState } from "preact/hooks";
import { findPage } from "./pages.ts";
import { hrefOf, route } from "./router.ts";
import { may, session } from "./session.ts";
import { Shell } from "./shell.tsx";
import { setTabTitle } from "./tab-title.ts";
import { Empty, Loading } from "./ui/empty.tsx";
import { Page } from "./ui/page.tsx";
import { Problem } from "./ui/problem.tsx";
import { TipBubble } from "./ui/tip.tsx";

export function App() {
  const now = session.value;
  return (
    <>
      {now.state === "starting" && <Starting error={now.error} />}
      {now.state === "signed-out" && <Loaded load={loadLogin} props={{ why: now.why }} />}
      {now.state === "signed-in" && (
        <Shell>
          <CurrentPage />
        </Shell>
      )}
      <TipBubble />
    </>
  );
}

const loadLogin = async () => (await import("./login.tsx")).Login;

function Starting({ error }: { error: unknown }) {
  return <main class="starting">{error === undefined ? <Loading /> : <Problem error={error} />}</main>;
}

function CurrentPage() {
  const { path } = route.value;
  const found = findPage(path);
  const title = found?.page.title ?? "Page not found";
  useEffect(() => setTabTitle(title), [title]);
  if (found === undefined) {
    return (
      <Page title={title}>
        <Empty title="This page does not exist.">
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
        <Empty title={`This page needs a key with the scope ${page.scope}.`}>
          <p>Sign out, then sign in with a key that has this scope.</p>
        </Empty>
      </Page>
    );
  }
  return <Loaded key={page.path} load={page.load} props={{ rest }} />;
}

/** A component whose code is loaded first. If it throws, the error is shown in its place and the menu stays usable. */
function Loaded<Props extends object>({ load, props }: { load: () => Promise<ComponentType<Props>>; props: Props }) {
  const [component, setComponent] = useState<{ it: ComponentType<Props> } | undefined>(undefined);
  const [failure, setFailure] = useState<unknown>(undefined);
  const [thrown, clearThrown] = useErrorBoundary();
  useEffect(() => {
    load().then((it) => setComponent({ it }), setFailure);
  }, [load]);
  if (failure !== undefined) {
    const error = new Error(
      "This page could not be loaded: the server is unreachable or was upgraded. Reload the page.",
    );
    return <Problem error={error} onRetry={() => location.reload()} />;
  }
  if (thrown !== undefined) return <Problem error={thrown} onRetry={clearThrown} />;
  return component === undefined ? <Loading /> : h(component.it, props);
}
