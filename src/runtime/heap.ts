/** A binary heap: the entry with the smallest key first; entries with the same key in any order. */
export class Heap<T> {
  readonly #keys: number[] = [];
  readonly #values: T[] = [];

  get size(): number {
    return this.#keys.length;
  }

  /** The smallest key; Infinity if the heap is empty. */
  get first(): number {
    return this.#keys[0] ?? Number.POSITIVE_INFINITY;
  }

  peek(): T | undefined {
    return this.#values[0];
  }

  push(key: number, value: T): void {
    let at = this.#keys.length;
    this.#keys.push(key);
    this.#values.push(value);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if ((this.#keys[parent] as number) <= key) break;
      this.#move(parent, at);
      at = parent;
    }
    this.#set(at, key, value);
  }

  pop(): T | undefined {
    const first = this.#values[0];
    const key = this.#keys.pop();
    const value = this.#values.pop();
    if (key === undefined || this.#keys.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= this.#keys.length) break;
      if (child + 1 < this.#keys.length && (this.#keys[child + 1] as number) < (this.#keys[child] as number))
        child += 1;
      if ((this.#keys[child] as number) >= key) break;
      this.#move(child, at);
      at = child;
    }
    this.#set(at, key, value as T);
    return first;
  }

  #move(from: number, to: number): void {
    this.#set(to, this.#keys[from] as number, this.#values[from] as T);
  }

  #set(at: number, key: number, value: T): void {
    this.#keys[at] = key;
    this.#values[at] = value;
  }
}
