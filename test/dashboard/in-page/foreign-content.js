// Returns a message for each element, handler or address that the dashboard did not create.
(() => {
  const ours = new Set(
    `html head meta title link script body div span main nav header footer section article aside h1 h2 h3 h4 p ul ol li dl dt dd
     a button form fieldset legend label input select option optgroup textarea table caption colgroup col thead tbody tfoot tr
     th td code pre kbd samp time strong em b i small abbr mark br hr progress meter output details summary dialog canvas img
     svg g path circle line rect polyline polygon text title bdi wbr output template search figure figcaption sup sub noscript`.split(
      /\s+/,
    ),
  );
  const found = [];
  const report = (what, element) => found.push(`${what}: ${element.outerHTML.slice(0, 200)}`);
  for (const element of document.querySelectorAll("*")) {
    const name = element.localName;
    if (!ours.has(name)) report("unknown element", element);
    for (const attribute of element.attributes) {
      if (attribute.name.startsWith("on")) report("handler", element);
      if (attribute.name === "srcdoc") report("srcdoc", element);
    }
    if (name === "script" && new URL(element.src, location.href).origin !== location.origin) report("script", element);
    if (name === "script" && !element.hasAttribute("src")) report("inline script", element);
    if (name === "link" && new URL(element.href, location.href).origin !== location.origin) report("link", element);
    if (name === "meta" && /refresh/i.test(element.httpEquiv)) report("refresh", element);
    if (name === "a" && !/^(https?|blob):/.test(element.href) && element.hasAttribute("href"))
      report("address", element);
    if (name === "img" && !/^(blob|data:image\/)/.test(element.src) && !element.src.startsWith(location.origin)) {
      report("picture", element);
    }
    if (name === "form" && element.hasAttribute("action")) report("action", element);
  }
  if ("struck" in window) found.push("struck: a hostile script has run");
  if (Object.prototype.struck !== undefined || {}.dangerouslySetInnerHTML !== undefined)
    found.push("prototype changed");
  return found;
})();
