import { describe, expect, it } from "vitest";
import { elementsIn } from "./elements.ts";
import { readMicrodata } from "./microdata.ts";
import { parseDocument } from "./parse-html.ts";

const HTML = `
<div itemscope itemtype="https://schema.org/Product" itemid="urn:kettle">
  <h1 itemprop="name alternateName">Kettle <b>XL</b></h1>
  <img itemprop="image" src="/k.png"><img itemprop="image" src="/l.png">
  <a itemprop="url" href="/kettle">more</a>
  <div itemprop="offers" itemscope itemtype="https://schema.org/Offer">
    <meta itemprop="priceCurrency" content="EUR"><span itemprop="price" content="19.90">19,90 €</span>
    <time itemprop="validFrom" datetime="2024-03-05">soon</time><data itemprop="sku" value="42">K42</data>
  </div>
  <p itemprop="constructor">odd</p>
</div>
<p itemprop="lost">nobody's</p>
<div itemscope><i itemprop="x">untyped</i></div>`;

describe("microdata", () => {
  it("is converted to objects in the form of JSON-LD", () => {
    const things = readMicrodata(parseDocument(HTML, "html"), (href) => `https://a.example${href}`);

    expect(JSON.parse(JSON.stringify(things))).toEqual<unknown>([
      {
        "@type": "Product",
        "@id": "urn:kettle",
        name: "Kettle XL",
        alternateName: "Kettle XL",
        image: ["https://a.example/k.png", "https://a.example/l.png"],
        url: "https://a.example/kettle",
        offers: { "@type": "Offer", priceCurrency: "EUR", price: "19.90", validFrom: "2024-03-05", sku: "42" },
        constructor: "odd",
      },
      { x: "untyped" },
    ]);
  });

  it("can be read from one element, including the element itself", () => {
    const dom = parseDocument(HTML, "html");
    const offer = [...elementsIn(dom)].find(({ attribs }) => attribs.itemprop === "offers") ?? expect.unreachable();

    expect(readMicrodata(offer, (href) => href)).toMatchObject([{ "@type": "Offer", price: "19.90" }]);
  });
});
