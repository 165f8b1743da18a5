// Returns a message for each layout fault: horizontal scrolling, cut-off text, text that does not fit, overlapping text.
(() => {
  const found = [];
  const width = document.documentElement.clientWidth;
  const root = document.scrollingElement;
  if (root.scrollWidth > width) found.push(`the page is ${root.scrollWidth} px wide, the window ${width}`);

  const texts = visibleTexts();
  for (const text of texts) {
    const problem = cutOff(text);
    if (problem !== undefined) found.push(`${problem}: ${name(text)}`);
  }
  for (const field of document.querySelectorAll("input, select")) {
    if (!isHidden(field) && isTooNarrow(field))
      found.push(`text does not fit its field: ${JSON.stringify(textIn(field))}`);
  }
  for (const link of document.querySelectorAll("nav [aria-current]")) {
    if (link.checkVisibility() && !isVisible(link))
      found.push(`the current menu entry is not visible: ${link.innerText}`);
  }
  for (const [one, other] of overlaps(texts)) found.push(`overlapping text: ${name(one)} and ${name(other)}`);
  return [...new Set(found)].slice(0, 40);

  function visibleTexts() {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const seen = [];
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const element = node.parentElement;
      if (node.data.trim() === "" || element === null || isHidden(element)) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      for (const rect of range.getClientRects()) {
        if (rect.width > 1 && rect.height > 1) seen.push({ node, element, rect: shown(element, rect), whole: rect });
      }
    }
    return seen;
  }

  function isHidden(element) {
    // Not visible to users: labels for screen readers, content behind a dialog, options of a select.
    if (element.closest("option, [inert], title, .sr-only, .visually-hidden, svg") !== null) return true;
    return !element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
  }

  /** The part of the rectangle that its scrolling and clipping ancestors show. */
  function shown(element, rect) {
    let [left, top, right, bottom] = [rect.left, rect.top, rect.right, rect.bottom];
    for (let box = element; box !== null && box !== document.body; box = box.parentElement) {
      const { overflowX, overflowY, position } = getComputedStyle(box);
      const edge = box.getBoundingClientRect();
      if (overflowX !== "visible") [left, right] = [Math.max(left, edge.left), Math.min(right, edge.right)];
      if (overflowY !== "visible") [top, bottom] = [Math.max(top, edge.top), Math.min(bottom, edge.bottom)];
      if (position === "fixed") break;
    }
    return { left, top, right, bottom, width: right - left, height: bottom - top };
  }

  function cutOff({ element, whole }) {
    for (let box = element; box !== null && box !== document.body; box = box.parentElement) {
      const style = getComputedStyle(box);
      const edge = box.getBoundingClientRect();
      if (edge.width <= 1 || edge.height <= 1) return undefined; // only for screen readers
      const canScroll = (overflow) => overflow === "auto" || overflow === "scroll";
      if (canScroll(style.overflowX)) return undefined;
      if (style.overflowX !== "visible" && (whole.right > edge.right + 1 || whole.left < edge.left - 1)) {
        return style.textOverflow === "ellipsis" ? undefined : "cut off at the side";
      }
      if (canScroll(style.overflowY)) break;
      const isClamped = style.webkitLineClamp !== "none";
      if (style.overflowY !== "visible" && whole.bottom > edge.bottom + 3)
        return isClamped ? undefined : "cut off below";
      if (style.position === "fixed") break;
    }
    if (whole.right > width + 1 || whole.left < -1) return "outside the window";
    return undefined;
  }

  /** The text of the dashboard itself: input of the user may have any length. */
  function textIn(field) {
    if (field.localName === "select") return field.selectedOptions[0]?.text ?? "";
    return field.value === "" ? field.placeholder : "";
  }

  function isTooNarrow(field) {
    const style = getComputedStyle(field);
    const canvas = document.createElement("canvas").getContext("2d");
    canvas.font = style.font;
    const arrow = field.localName === "select" ? 18 : 0;
    const availableWidth =
      field.clientWidth - Number.parseFloat(style.paddingLeft) - Number.parseFloat(style.paddingRight) - arrow;
    return canvas.measureText(textIn(field)).width > availableWidth + 1;
  }

  function isVisible(link) {
    const { left, right } = link.getBoundingClientRect();
    const edge = link.closest("nav").getBoundingClientRect();
    return left >= edge.left - 1 && right <= edge.right + 1;
  }

  function overlaps(all) {
    const inView = all.filter(
      ({ rect }) => rect.width > 2 && rect.height > 2 && rect.bottom > 0 && rect.top < innerHeight,
    );
    const pairs = [];
    inView.sort((one, other) => one.rect.top - other.rect.top);
    for (const [index, one] of inView.entries()) {
      for (let next = index + 1; next < inView.length && inView[next].rect.top < one.rect.bottom; next++) {
        const other = inView[next];
        if (one.node !== other.node && overlap(one, other) && !isCovered(one, other)) pairs.push([one, other]);
      }
    }
    return pairs;
  }

  function overlap({ rect: one }, { rect: other }) {
    const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
    const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
    // The boxes of adjacent lines overlap a little, because fonts have space above and below their letters.
    return across > 2 && down > Math.min(one.height, other.height) * 0.35;
  }

  /** Whether one covers the other with its own background, such as a sticky header, a menu or a dialog. */
  function isCovered(one, other) {
    const x = (Math.max(one.rect.left, other.rect.left) + Math.min(one.rect.right, other.rect.right)) / 2;
    const y = (Math.max(one.rect.top, other.rect.top) + Math.min(one.rect.bottom, other.rect.bottom)) / 2;
    const top = document.elementFromPoint(x, y);
    if (top === null) return true;
    const below = top.contains(one.element) || one.element.contains(top) ? other : one;
    for (let box = top; box !== null && !box.contains(below.element); box = box.parentElement) {
      const { backgroundColor, backgroundImage } = getComputedStyle(box);
      if (!/^rgba\(.*, 0\)$|^transparent$/.test(backgroundColor) || backgroundImage !== "none") return true;
    }
    return false;
  }

  function name({ node, element, whole }) {
    const selector =
      element.className === "" ? element.localName : `${element.localName}.${[...element.classList].join(".")}`;
    return `${JSON.stringify(node.data.trim().slice(0, 40))} in ${selector} at ${Math.round(whole.left)},${Math.round(whole.top)}`;
  }
})();
