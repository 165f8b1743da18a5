// Runs before the page's own scripts: how long each task kept the page from answering, of those over 50 ms.
window.longTasks = [];
new PerformanceObserver((list) => {
  for (const { duration, startTime } of list.getEntries()) window.longTasks.push({ duration, startTime });
}).observe({ type: "longtask", buffered: true });
