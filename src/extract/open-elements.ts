import { DEEPEST_NESTING } from "./parse-html.ts";
import type { Tag } from "./tags.ts";

export type ElementEvents = {
  opened(tag: Tag): void;
  closed(tag: Tag): void;
};

/** The elements that are open at a place of the markup, by the rules of htmlparser2 and of parse-html.ts. */
export class OpenElements {
  readonly #events: ElementEvents;
  readonly #closesItself: boolean;
  readonly #stack: Tag[] = [];
  /** For each open element that starts or ends a foreign context: whether it starts one. */
  readonly #foreign: boolean[] = [];
  /** The number of elements that were too deep to be opened and are not closed yet. */
  #flattened = 0;

  /** `closesItself`: every `<x/>` closes itself, as in XHTML. */
  constructor(events: ElementEvents, { closesItself }: { closesItself: boolean }) {
    this.#events = events;
    this.#closesItself = closesItself;
  }

  open(tag: Tag, isSelfClosed: boolean): void {
    const isTooDeep = this.#stack.length >= DEEPEST_NESTING - 1 && !tag.isRaw;
    if (tag.closes !== undefined) this.#closeImplied(tag.closes);
    this.#events.opened(tag);
    if (tag.isVoid || isTooDeep) {
      this.#events.closed(tag);
      if (!tag.isVoid && !isSelfClosed) this.#flattened += 1;
      return;
    }
    this.#stack.push(tag);
    if (tag.isForeign !== undefined) this.#enterContext(tag.isForeign);
    if (!isSelfClosed || !(this.#closesItself || this.#foreign.at(-1) === true)) return;
    this.#stack.pop();
    this.#events.closed(tag);
  }

  close(tag: Tag): void {
    if (this.#flattened > 0 && !tag.isVoid && !tag.isRaw) {
      this.#flattened -= 1;
      return;
    }
    if (tag.isForeign !== undefined) this.#foreign.pop();
    if (tag.isVoid) {
      if (tag.name === "br") this.#open(tag); // </br> is read as <br>
      return;
    }
    const at = this.#lastIndexOf(tag.name);
    if (at !== -1) this.#closeFrom(at);
    else if (tag.name === "p") this.#open(tag); // </p> without <p> is an empty paragraph
  }

  /** Called at the end of the page. Closes all open elements. */
  closeAll(): void {
    this.#closeFrom(0);
  }

  #open(tag: Tag): void {
    this.#events.opened(tag);
    this.#events.closed(tag);
  }

  #lastIndexOf(name: string): number {
    let at = this.#stack.length - 1;
    while (at >= 0 && this.#stack[at]?.name !== name) at -= 1;
    return at;
  }

  #closeFrom(at: number): void {
    while (this.#stack.length > at) this.#events.closed(this.#stack.pop() as Tag);
  }

  #closeImplied(names: ReadonlySet<string>): void {
    for (let last = this.#stack.at(-1); last !== undefined && names.has(last.name); last = this.#stack.at(-1)) {
      this.#stack.pop();
      this.#events.closed(last);
    }
  }

  #enterContext(isForeign: boolean): void {
    this.#foreign.push(isForeign);
    if (this.#foreign.length > DEEPEST_NESTING) this.#foreign.shift();
  }
}
