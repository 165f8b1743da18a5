import { useState } from "preact/hooks";
import { go, hrefOf } from "../../router.ts";
import { api, may } from "../../session.ts";
import { Empty } from "../../ui/empty.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { newScheduleDraft, scheduleOf } from "./schedule-draft.ts";
import { ScheduleForm } from "./schedule-form.tsx";

export function NewSchedulePage() {
  const [draft] = useState(newScheduleDraft);
  if (!may("submit")) {
    return (
      <Page title="New schedule">
        <Empty title="To create a schedule, sign in with a key that has the scope submit." />
      </Page>
    );
  }
  return (
    <Page title="New schedule">
      <Card>
        <div class="card-body">
          <ScheduleForm
            draft={draft}
            verb="Create schedule"
            send={async (entered) => {
              const { id } = await api().schedules.add(scheduleOf(entered));
              go(hrefOf(["schedules", id]));
            }}
            onCancel={() => go(hrefOf(["schedules"]))}
          />
        </div>
      </Card>
    </Page>
  );
}
