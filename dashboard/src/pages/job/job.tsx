import { Empty } from "../../ui/empty.tsx";
import { Page } from "../../ui/page.tsx";

export function JobPage() {
  return (
    <Page title="Job">
      <Empty title="This page is not there yet.">
        <p>The command line has it: see trawl --help.</p>
      </Empty>
    </Page>
  );
}
