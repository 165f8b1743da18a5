// What is in the page that we have not put there, in words; nothing, where all is well.
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
  const tell = (what, element) => found.push(`${what}: ${element.outerHTML.slice(0, 200)}`);
  for (const element of document.querySelectorAll("*")) {
    const name = element.localName;
    if (!ours.has(name)) tell("unknown element", element);
    for (const attribute of element.attributes) {
      if (attribute.name.startsWith("on")) tell("handler", element);
      if (attribute.name === "srcdoc") tell("srcdoc", element);
    }
    if (name === "script" && new URL(element.src, location.href).origin !== location.origin) tell("script", element);
    if (name === "script" && !element.hasAttribute("src")) tell("inline script", element);
    if (name === "link" && new URL(element.href, location.href).origin !== location.origin) tell("link", element);
    if (name === "meta" && /refresh/i.test(element.httpEquiv)) tell("refresh", element);
    if (name === "a" && !/^(https?|blob):/.test(element.href) && element.hasAttribute("href")) tell("address", element);
    if (name === "img" && !/^(blob|data:image\/)/.test(element.src) && !element.src.startsWith(location.origin)) {
      tell("picture", element);
    }
    if (name === "form" && element.hasAttribute("action")) tell("action", element);
  }
  if ("struck" in window) found.push("struck: a script of theirs has run");
  if (Object.prototype.struck !== undefined || {}.dangerouslySetInnerHTML !== undefined)
    found.push("prototype changed");
  return found;
})();
