/** The parts that all pages of the benchmark's site share: words, an inline style and an inline script. */

export const WORDS = `harbour lantern copper meadow signal paper engine winter garden bridge market window river stone
letter thread mirror anchor candle forest ladder basket island pocket silver ticket valley wheel hammer orchard quiet
narrow distant early common bright heavy gentle sudden useful careful steady hollow simple open turning holding
carrying between across beneath towards around before after during without within along beyond under over every
several another either many little some each first second later often always rarely again still almost perhaps
indeed however therefore crème naïve café señor Zürich smörgås 東京 data-set build number price offer review stock order
the a of to and in is was for on that with as by at from it an be this which or are not has had but its were their`
  .split(/\s+/)
  .filter((word) => word !== "");

export const HEAD_STYLE = `
:root{--ink:#1b1f24;--paper:#fff;--accent:#0a66c2}*{box-sizing:border-box}
body{margin:0;font:16px/1.6 system-ui,sans-serif;color:var(--ink);background:var(--paper)}
.top{position:sticky;top:0;border-bottom:1px solid #d0d7de;background:inherit}
.nav{display:flex;gap:1rem;list-style:none;margin:0;padding:.75rem 1rem}.nav__link{color:inherit;text-decoration:none}
.nav__link:hover,.nav__link:focus-visible{color:var(--accent)}.crumbs>a+a::before{content:"/"}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(16rem,1fr));gap:1rem}
@media (max-width:40em){.cards{grid-template-columns:1fr}.related>li:nth-child(n+12){display:none}}
`;

// The link in the string is not a link of the page: a contestant that requests /ghost.html parses scripts as HTML.
export const HEAD_SCRIPT = `
(function (w, d) {
  var queue = (w.siteQueue = w.siteQueue || []);
  queue.push({ event: "view", at: 1 < 2 && 3 > 2 });
  d.addEventListener("DOMContentLoaded", function () {
    var box = d.createElement("div");
    box.innerHTML = "<a href='/ghost.html'>not a link of this page</a>";
    for (var i = 0; i < d.images.length; i++) if (!d.images[i].alt) d.images[i].alt = "";
  });
})(window, document);
`;
