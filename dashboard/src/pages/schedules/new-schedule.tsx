import { useState } from "preact/hooks";
import { go, hrefOf } from "../../router.ts";
import { api, may } from "../../session.ts";
import { Empty } from "../../ui/empty.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { ScheduleForm } from "./schedule-form.tsx";
import { newSketch, scheduleOf } from "./sketch.ts";

export function NewSchedulePage() {
  const [sketch] = useState(newSketch);
  if (!may("submit")) {
    return (
      <Page title="New schedule">
        <Empty title="To make a schedule takes a key with the scope submit." />
      </Page>
    );
  }
  return (
    <Page title="New schedule">
      <Card>
        <div class="card-body">
          <ScheduleForm
            sketch={sketch}
            verb="Make the schedule"
            send={async (written) => {
              const { id } = await api().schedules.add(scheduleOf(written));
              go(hrefOf(["schedules", id]));
            }}
            onLeave={() => go(hrefOf(["schedules"]))}
          />
        </div>
      </Card>
    </Page>
  );
}
