// Returns the element with the longest scroll distance: its center, scroll position, loading state and number of rendered rows.
(() => {
  const boxes = [...document.querySelectorAll("*")].filter(
    (element) =>
      element.scrollHeight > element.clientHeight + 2 && /auto|scroll/.test(getComputedStyle(element).overflowY),
  );
  const root = document.scrollingElement;
  const all = root.scrollHeight > root.clientHeight + 2 ? [...boxes, root] : boxes;
  const longest = all.sort((one, other) => other.scrollHeight - one.scrollHeight)[0];
  if (longest === undefined) return null;
  const { left, top, right, bottom } =
    longest === root ? { left: 0, top: 0, right: innerWidth, bottom: innerHeight } : longest.getBoundingClientRect();
  return {
    x: (left + right) / 2,
    y: (Math.max(top, 0) + Math.min(bottom, innerHeight)) / 2,
    scrolled: longest.scrollTop,
    left: longest.scrollHeight - longest.clientHeight - longest.scrollTop,
    isBusy: document.querySelector("main [aria-busy=true]") !== null,
    rows: document.querySelectorAll("tr, [role=row]").length,
  };
})();
