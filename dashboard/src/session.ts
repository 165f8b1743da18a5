/**
 * The signed-in user and the API key. The key is stored for this tab, or in the browser if the user chose to stay
 * signed in. It is only sent in the header of requests to this server.
 */
import { computed, signal } from "@preact/signals";
import { ApiError, isApiError } from "../../src/client/api-error.ts";
import { connect, type Trawl } from "../../src/client/client.ts";
import { createRequests, type Requests } from "../../src/client/requests.ts";
import type { MeOut } from "../../src/client/wire-types.ts";

export type KeyScope = MeOut["scopes"][number];

type Session =
  | { state: "starting"; error?: unknown }
  /** `why` is set if the server refused the key. */
  | { state: "signed-out"; why?: ApiError }
  | { state: "signed-in"; me: MeOut };

export const session = signal<Session>({ state: "starting" });

const STORAGE_KEY = "trawl-key";
/** Few attempts: pages poll anyway, and longer retries would delay the message that the server is unreachable. */
const ATTEMPTS = 2;
/** Characters that an HTTP header cannot contain. */
const UNSENDABLE = /[^!-~]/;
/** Longer than any key. Servers close the connection on much longer headers. */
const KEY_CHARS_MAX = 1_000;
const START_RETRY_MS = 2_000;

const key = signal<string | undefined>(undefined);
const options = computed(() => ({
  fetch: fetchAndCheckKey,
  tries: ATTEMPTS,
  ...(key.value === undefined ? {} : { key: key.value }),
}));
const client = computed(() => connect(baseUrl(), options.value));
const requests = computed(() => createRequests(baseUrl(), options.value));

/** The API client, with the key of the signed-in user. */
export function api(): Trawl {
  return client.peek();
}

/** For requests that the client has no method for, such as streams. */
export function rawRequests(): Requests {
  return requests.peek();
}

/** The URL this page was loaded from. The API has the same path prefix. */
export function baseUrl(): string {
  return new URL(".", document.baseURI).href;
}

export function may(scope: KeyScope): boolean {
  const now = session.value;
  return now.state === "signed-in" && now.me.scopes.includes(scope);
}

/** Signs in with the stored key, or without a key if the server requires none. Retries until the server answers. */
export async function startSession(): Promise<void> {
  key.value = sessionStorage.getItem(STORAGE_KEY) ?? localStorage.getItem(STORAGE_KEY) ?? undefined;
  for (;;) {
    try {
      session.value = { state: "signed-in", me: await api().me() };
      return;
    } catch (error) {
      if (isApiError(error, "UNAUTHORIZED", "FORBIDDEN")) {
        // Without a stored key this is the first visit, not a refusal.
        session.value = key.peek() === undefined ? { state: "signed-out" } : { state: "signed-out", why: error };
        return;
      }
      session.value = { state: "starting", error };
    }
    await new Promise((resolve) => setTimeout(resolve, START_RETRY_MS));
  }
}

/** Throws ApiError if the server refuses the key. */
export async function signIn(given: string, { isRemembered }: { isRemembered: boolean }): Promise<void> {
  if (given.length > KEY_CHARS_MAX) throw new Error("This is too long to be a key. Copy the key again.");
  if (UNSENDABLE.test(given)) throw new Error("A key has no spaces or accented letters. Copy the key again.");
  const me = await connect(baseUrl(), { key: given, tries: ATTEMPTS }).me();
  deleteKey();
  (isRemembered ? localStorage : sessionStorage).setItem(STORAGE_KEY, given);
  key.value = given;
  session.value = { state: "signed-in", me };
}

export function signOut(why?: ApiError): void {
  deleteKey();
  // After a manual sign-out another person may sign in. After an expired key, the same person signs in again and keeps
  // the drafts.
  if (why === undefined) deleteDrafts();
  key.value = undefined;
  session.value = why === undefined ? { state: "signed-out" } : { state: "signed-out", why };
}

/** Keys can be revoked at any time: the first response with 401 signs the user out and shows the sign-in form. */
async function fetchAndCheckKey(...args: Parameters<typeof fetch>): Promise<Response> {
  const [url, init] = args;
  // With keepalive, a DELETE completes even if the tab is closed.
  const response = await fetch(url, init?.method === "DELETE" ? { ...init, keepalive: true } : init);
  if (response.status === 401 && session.peek().state === "signed-in" && hasCurrentKey(init)) {
    // A proxy may answer 401 without a JSON body.
    const problem = await response
      .clone()
      .json()
      .catch(() => ({ detail: "the server no longer accepts this key" }));
    signOut(new ApiError(401, problem as Record<string, unknown>));
  }
  return response;
}

/** Whether a request had the current key. A late 401 for a previous key must not sign the user out. */
function hasCurrentKey(init: RequestInit | undefined): boolean {
  const used = new Headers(init?.headers).get("authorization");
  return used === (key.peek() === undefined ? null : `Bearer ${key.peek()}`);
}

/** An unsubmitted job may contain secrets. */
function deleteDrafts(): void {
  for (const name of Object.keys(sessionStorage)) if (name.startsWith("trawl-draft")) sessionStorage.removeItem(name);
}

function deleteKey(): void {
  sessionStorage.removeItem(STORAGE_KEY);
  localStorage.removeItem(STORAGE_KEY);
}
