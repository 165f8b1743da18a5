/** One box: a URL, a site, or the id of a job, a task or a request; why it waits, and how it went. */
import { useEffect, useState } from "preact/hooks";
import { usePolled } from "../../polled.ts";
import { place, setQuery } from "../../router.ts";
import { may } from "../../session.ts";
import { Empty, Loading } from "../../ui/empty.tsx";
import { TextField } from "../../ui/field.tsx";
import { Page } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { askAbout } from "./ask-about.ts";
import { LookAgain } from "./look-again.tsx";
import { Reasons } from "./reasons.tsx";
import { TracedJob } from "./traced-job.tsx";
import { TracedPage } from "./traced-page.tsx";
import "./explain.css";

/** Broker and store look through what a job has, which may be millions: once, and again when somebody wants to know. */
const ONCE = 0;

export function Explain() {
  const asked = (place.value.query.q ?? "").trim();
  const [word, setWord] = useState(asked);
  useEffect(() => setWord(asked), [asked]);
  const sites = may("admin") ? ", a site" : "";
  return (
    <Page title="Explain" says="Why something waits, until when, and how it went so far.">
      <form
        class="ask"
        onSubmit={(event) => {
          event.preventDefault();
          setQuery({ q: word.trim() });
        }}
      >
        <TextField
          label={`A URL${sites}, or the id of a job, a task or a request`}
          type="search"
          value={word}
          onInput={setWord}
          placeholder="https://shop.example/product/17"
        />
        <button type="submit" class="primary" disabled={word.trim() === ""}>
          Explain
        </button>
      </form>
      {asked === "" ? <HowToAsk /> : <Answer word={asked} />}
    </Page>
  );
}

function HowToAsk() {
  return (
    <Empty title="What do you wonder about?">
      <p>
        Of a URL you hear why it waits, in which job, and every try there was. Of a job what holds it up. Of a request
        all that came of it.
      </p>
    </Empty>
  );
}

function Answer({ word }: { word: string }) {
  const asked = usePolled((signal) => askAbout(word, signal), ONCE, [word]);
  const { value, error } = asked;
  if (value === undefined) {
    return error === undefined ? <Loading /> : <Problem error={error} onRetry={asked.reload} />;
  }
  const { explained, trace } = value;
  return (
    <>
      <Problem error={error} onRetry={asked.reload} />
      {explained !== undefined && <Reasons explained={explained} />}
      {trace?.stories.map((story) => (
        <TracedPage key={`${story.job} ${story.url}`} story={story} />
      ))}
      {trace?.jobs.map((traced) => (
        <TracedJob key={traced.job.id} traced={traced} />
      ))}
      <LookAgain more={trace?.more ?? 0} onLook={asked.reload} />
    </>
  );
}
