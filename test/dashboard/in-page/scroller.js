// Where the table that has the most to scroll is: its middle, how far it is, whether more comes, and how many rows it has in the document.
(() => {
  const boxes = [...document.querySelectorAll("*")].filter(
    (element) =>
      element.scrollHeight > element.clientHeight + 2 && /auto|scroll/.test(getComputedStyle(element).overflowY),
  );
  const root = document.scrollingElement;
  const all = root.scrollHeight > root.clientHeight + 2 ? [...boxes, root] : boxes;
  const most = all.sort((one, other) => other.scrollHeight - one.scrollHeight)[0];
  if (most === undefined) return null;
  const { left, top, right, bottom } =
    most === root ? { left: 0, top: 0, right: innerWidth, bottom: innerHeight } : most.getBoundingClientRect();
  return {
    x: (left + right) / 2,
    y: (Math.max(top, 0) + Math.min(bottom, innerHeight)) / 2,
    scrolled: most.scrollTop,
    left: most.scrollHeight - most.clientHeight - most.scrollTop,
    isBusy: document.querySelector("main [aria-busy=true]") !== null,
    rows: document.querySelectorAll("tr, [role=row]").length,
  };
})();
