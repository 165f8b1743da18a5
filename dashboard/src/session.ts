/**
 * Who looks at this, and with which key the API is asked. The key is kept for this tab, or in this browser where somebody
 * wishes to stay signed in; it goes nowhere but into the header of requests to this server.
 */
import { computed, signal } from "@preact/signals";
import type { MeOut } from "../../src/api/wire-keys.ts";
import { ApiError, isApiError } from "../../src/client/api-error.ts";
import { connect, type Trawl } from "../../src/client/client.ts";
import { createRequests, type Requests } from "../../src/client/requests.ts";

export type Scope = MeOut["scopes"][number];

export type Session =
  | { state: "starting"; error?: unknown }
  /** `why` where a key was refused: the one just tried, or one that was good until now. */
  | { state: "signed-out"; why?: ApiError }
  | { state: "signed-in"; me: MeOut };

export const session = signal<Session>({ state: "starting" });

const KEPT_AS = "trawl-key";
/** Pages ask again by themselves, and say so: a request that insists would only hide that the server is away. */
const TRIES = 2;
/** What no header can carry: the request would never leave. */
const UNSENDABLE = /[^!-~]/;
/** Longer than any key; servers hang up on headers that are far longer. */
const KEY_MOST = 1_000;
const START_AGAIN_MS = 2_000;

const key = signal<string | undefined>(undefined);
const options = computed(() => ({
  fetch: watched,
  tries: TRIES,
  ...(key.value === undefined ? {} : { key: key.value }),
}));
const client = computed(() => connect(baseUrl(), options.value));
const requests = computed(() => createRequests(baseUrl(), options.value));

/** The API, asked with the key of whoever is signed in. */
export function api(): Trawl {
  return client.peek();
}

/** For what the client has no words for: bodies, pictures, streams. */
export function rawRequests(): Requests {
  return requests.peek();
}

/** Where this page came from: the API is beside it, whatever the prefix. */
export function baseUrl(): string {
  return new URL(".", document.baseURI).href;
}

export function may(scope: Scope): boolean {
  const now = session.value;
  return now.state === "signed-in" && now.me.scopes.includes(scope);
}

/** Signed in with the key of last time, or without one where none is asked for. */
export async function startSession(): Promise<void> {
  key.value = sessionStorage.getItem(KEPT_AS) ?? localStorage.getItem(KEPT_AS) ?? undefined;
  for (;;) {
    try {
      session.value = { state: "signed-in", me: await api().me() };
      return;
    } catch (error) {
      if (isApiError(error, "UNAUTHORIZED", "FORBIDDEN")) {
        // Without a key there is nothing to be said: it was not asked for yet.
        session.value = key.peek() === undefined ? { state: "signed-out" } : { state: "signed-out", why: error };
        return;
      }
      session.value = { state: "starting", error };
    }
    await new Promise((resolve) => setTimeout(resolve, START_AGAIN_MS));
  }
}

/** Throws ApiError where the key is not good. */
export async function signIn(given: string, { isToStay }: { isToStay: boolean }): Promise<void> {
  if (given.length > KEY_MOST) throw new Error("A key is far shorter than this. Copy it again.");
  if (UNSENDABLE.test(given)) throw new Error("A key has no spaces and no letters with accents. Copy it again.");
  const me = await connect(baseUrl(), { key: given, tries: TRIES }).me();
  forgetKey();
  (isToStay ? localStorage : sessionStorage).setItem(KEPT_AS, given);
  key.value = given;
  session.value = { state: "signed-in", me };
}

export function signOut(why?: ApiError): void {
  forgetKey();
  // Who leaves leaves nothing for the next one; a key that has run out is replaced by the same person.
  if (why === undefined) forgetDrafts();
  key.value = undefined;
  session.value = why === undefined ? { state: "signed-out" } : { state: "signed-out", why };
}

/** A key may be revoked at any time: whichever request hears of it, the sign-in page is shown in its place. */
async function watched(...words: Parameters<typeof fetch>): Promise<Response> {
  const [where, sent] = words;
  // What is deleted goes also where the tab is closed at that moment.
  const answer = await fetch(where, sent?.method === "DELETE" ? { ...sent, keepalive: true } : sent);
  if (answer.status === 401 && session.peek().state === "signed-in" && isOfNow(sent)) {
    // A proxy may say so in its own way.
    const problem = await answer
      .clone()
      .json()
      .catch(() => ({ detail: "the key is not taken any more" }));
    signOut(new ApiError(401, problem as Record<string, unknown>));
  }
  return answer;
}

/** What was asked with another key, before, says nothing of this one. */
function isOfNow(sent: RequestInit | undefined): boolean {
  const used = new Headers(sent?.headers).get("authorization");
  return used === (key.peek() === undefined ? null : `Bearer ${key.peek()}`);
}

/** A job that was not submitted yet may hold what is secret. */
function forgetDrafts(): void {
  for (const name of Object.keys(sessionStorage)) if (name.startsWith("trawl-draft")) sessionStorage.removeItem(name);
}

function forgetKey(): void {
  sessionStorage.removeItem(KEPT_AS);
  localStorage.removeItem(KEPT_AS);
}
