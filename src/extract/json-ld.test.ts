import { describe, expect, it } from "vitest";
import { readJsonLd } from "./json-ld.ts";
import { parseDocument } from "./parse-html.ts";
import { parseThingPath, valuesAt } from "./structured.ts";

describe("JSON-LD", () => {
  it("is read from every block that can be parsed leniently", () => {
    const html = `
      <script type="application/ld+json">{"@type": "WebSite", "name": "Shop",}</script>
      <script type="Application/LD+JSON; charset=utf-8"><!-- {"@type": "Product"} --></script>
      <script type="application/ld+json">{ broken</script>
      <script type="text/javascript">{"@type": "No"}</script>
      <script type="application/ld+json">[{"@type": "Offer"}]</script>`;
    expect(blocks(html)).toEqual([
      { "@type": "WebSite", name: "Shop" },
      { "@type": "Product" },
      [{ "@type": "Offer" }],
    ]);
  });

  const graph = [
    {
      "@context": "https://schema.org",
      "@graph": [
        {
          "@type": ["Thing", "https://schema.org/Product"],
          name: "Kettle",
          brand: { "@id": "#acme" },
          offers: [{ price: "19.90" }, { price: 21 }],
        },
        { "@type": "schema:Brand", "@id": "#acme", name: "Acme" },
        {
          "@type": "ItemList",
          itemListElement: [{ item: { "@type": "product", name: { "@value": "Cup", "@language": "en" } } }],
        },
      ],
    },
  ];

  it.each<[string, unknown[]]>([
    ["Product.name", ["Kettle", "Cup"]],
    ["Product.offers.price", ["19.90", 21]],
    ["Product.offers.1.price", [21]],
    ["Product.brand.name", ["Acme"]],
    ["Brand.name", ["Acme"]],
    ["Product.nothing", []],
    ["Product.name.further", []],
    ["Product.constructor", []],
    ["Event.name", []],
  ])("has at %s the values %j", (path, values) => {
    expect(valuesAt(graph, parsed(path))).toEqual(values);
  });

  it("yields whole objects if the path is only a type", () => {
    expect(valuesAt(graph, parsed("Brand"))).toEqual([{ "@type": "schema:Brand", "@id": "#acme", name: "Acme" }]);
  });

  it("follows circular references only as far as the path goes", () => {
    const circle = [
      { "@id": "a", "@type": "Person", knows: { "@id": "b" } },
      { "@id": "b", knows: { "@id": "a" } },
    ];
    expect(valuesAt(circle, parsed("Person.knows.knows.knows.@id"))).toEqual(["b"]);
  });

  it.each(["", ".name", "Product.", "Product..name"])("refuses the path %j", (path) => {
    expect(parseThingPath(path)).toBeUndefined();
  });

  it("takes linear time on an invalid type of one megabyte", () => {
    expect(valuesAt([{ "@type": `${"a".repeat(1_000_000)}/` }], parsed("Product"))).toEqual([]);
  });
});

function blocks(html: string) {
  return readJsonLd(parseDocument(html, "html"));
}

function parsed(path: string) {
  return parseThingPath(path) ?? expect.unreachable();
}
