import { Empty } from "../../ui/empty.tsx";
import { Page } from "../../ui/page.tsx";

export function Schedules() {
  return (
    <Page title="Schedules">
      <Empty title="This page is not there yet.">
        <p>The command line has it: see trawl --help.</p>
      </Empty>
    </Page>
  );
}
