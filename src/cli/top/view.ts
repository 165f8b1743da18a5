/** The state of the screen, and how each key changes it. The functions are pure. */
import type { ControlAction } from "../../control/control-job.ts";
import { ORDERS, PANELS, type PanelName } from "./panels.ts";

export type View = {
  panel: PanelName;
  selected: Readonly<Record<PanelName, number>>;
  /** For each panel, the index of its sort order in ORDERS. */
  orderIndex: Readonly<Record<PanelName, number>>;
  filter: string;
  /** Whether the user is typing the filter. */
  isTyping: boolean;
  isHelp: boolean;
  question: Question | undefined;
  /** The result of the last action. */
  notice: string;
  /** Set for a snapshot without interaction, in which no row is marked. */
  isPlain?: true;
};

type Question = { verb: ControlAction; id: string; name: string };
/** What the caller must do after a key press, in addition to showing the new view. */
export type TopAction = { kind: "quit" } | { kind: "redraw" } | { kind: "control"; question: Question };

/** The contents of the screen: the number of rows in each panel, and the selected job. */
export type ScreenContents = {
  counts: Readonly<Record<PanelName, number>>;
  job: { id: string; name: string; state: string } | undefined;
};

export const FIRST_VIEW: View = {
  panel: "jobs",
  selected: { jobs: 0, queues: 0, sites: 0, workers: 0 },
  orderIndex: { jobs: 0, queues: 0, sites: 0, workers: 0 },
  filter: "",
  isTyping: false,
  isHelp: false,
  question: undefined,
  notice: "",
};

export const HELP: readonly (readonly [string, string])[] = [
  ["q, Esc", "quit; Esc first clears a filter"],
  ["Tab, Shift-Tab", "next or previous panel; also → and ←"],
  ["↑ ↓, k j", "select a row; also Home, End, Page Up, Page Down"],
  ["p", "pause or resume the selected job, after confirmation"],
  ["/", "filter by name"],
  ["s", "change the sort order of the panel"],
  ["h, ?", "show this help"],
  ["Ctrl-L", "redraw the screen"],
];

const MAX_FILTER = 60;
const PAGE = 10;

export function press(view: View, key: string, shown: ScreenContents): { view: View; action?: TopAction } {
  if (key === "ctrl-c") return { view, action: { kind: "quit" } };
  if (key === "ctrl-l") return { view, action: { kind: "redraw" } };
  if (view.question !== undefined) return answer(view, view.question, key);
  if (view.isTyping) return { view: typed(view, key) };
  if (view.isHelp) return { view: { ...view, isHelp: false } };
  const withoutNotice = { ...view, notice: "" };
  switch (key) {
    case "q":
      return { view, action: { kind: "quit" } };
    case "escape":
      return view.filter === "" ? { view, action: { kind: "quit" } } : { view: { ...withoutNotice, filter: "" } };
    case "h":
    case "?":
      return { view: { ...withoutNotice, isHelp: true } };
    case "/":
      return { view: { ...withoutNotice, isTyping: true } };
    case "s": {
      const orderIndex = (view.orderIndex[view.panel] + 1) % ORDERS[view.panel].length;
      return { view: { ...withoutNotice, orderIndex: { ...view.orderIndex, [view.panel]: orderIndex } } };
    }
    case "p":
      return { view: withQuestion(withoutNotice, shown.job) };
    default:
      return { view: moved(withoutNotice, key, shown) };
  }
}

function answer(view: View, question: Question, key: string): { view: View; action?: TopAction } {
  const withoutQuestion = { ...view, question: undefined };
  if (key !== "y" && key !== "p" && key !== "enter") return { view: { ...withoutQuestion, notice: "nothing changed" } };
  return { view: withoutQuestion, action: { kind: "control", question } };
}

function withQuestion(view: View, job: ScreenContents["job"]): View {
  if (view.panel !== "jobs" || job === undefined) return { ...view, notice: "select a job first: Tab, then ↑ ↓" };
  const { id, name, state } = job;
  if (state === "running") return { ...view, question: { verb: "pause", id, name } };
  if (state === "paused") return { ...view, question: { verb: "resume", id, name } };
  return { ...view, notice: `job ${id} has ended and cannot be paused` };
}

function typed(view: View, key: string): View {
  if (key === "enter") return { ...view, isTyping: false };
  if (key === "escape") return { ...view, isTyping: false, filter: "" };
  if (key === "backspace") return { ...view, filter: [...view.filter].slice(0, -1).join("") };
  if ([...key].length !== 1 || view.filter.length >= MAX_FILTER) return view;
  return { ...view, filter: view.filter + key, selected: FIRST_VIEW.selected };
}

function moved(view: View, key: string, { counts }: ScreenContents): View {
  const { panel, selected } = view;
  const last = Math.max(0, counts[panel] - 1);
  const go = (to: number) => ({
    ...view,
    selected: { ...selected, [panel]: Math.min(last, Math.max(0, to)) },
  });
  const at = Math.min(last, selected[panel]);
  switch (key) {
    case "up":
    case "k":
      return go(at - 1);
    case "down":
    case "j":
      return go(at + 1);
    case "pageup":
      return go(at - PAGE);
    case "pagedown":
      return go(at + PAGE);
    case "home":
      return go(0);
    case "end":
      return go(last);
    case "tab":
    case "right":
      return { ...view, panel: neighbour(panel, 1) };
    case "shift-tab":
    case "left":
      return { ...view, panel: neighbour(panel, -1) };
    default:
      return view;
  }
}

function neighbour(panel: PanelName, step: number): PanelName {
  return PANELS[(PANELS.indexOf(panel) + step + PANELS.length) % PANELS.length] ?? panel;
}
