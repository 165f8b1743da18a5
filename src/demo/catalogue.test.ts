import { describe, expect, it } from "vitest";
import { createCatalogue, poundsOf, priceTag } from "./catalogue.ts";

describe("catalogue", () => {
  it("is the same for the same seed, and different for another seed", () => {
    expect(createCatalogue(3)).toEqual(createCatalogue(3));
    expect(createCatalogue(3).products).not.toEqual(createCatalogue(4).products);
  });

  it("contains at least 320 products in 8 categories, each with its own name, path and SKU", () => {
    const { products, departments } = createCatalogue(1);

    expect(departments).toHaveLength(8);
    expect(products.length).toBeGreaterThanOrEqual(320);
    for (const key of ["name", "path", "sku", "id"] as const) {
      expect(new Set(products.map((product) => product[key])).size).toBe(products.length);
    }
  });

  it("has the declared number of products in every category", () => {
    const { products, departments } = createCatalogue(1);

    for (const department of departments) {
      expect(products.filter((product) => product.department === department)).toHaveLength(department.size);
    }
  });

  it("gives every product two or three tags and a rating, and has some products out of stock", () => {
    const { products } = createCatalogue(1);

    for (const { tags, rating } of products) {
      expect(tags.length).toBeGreaterThanOrEqual(2);
      expect(tags.length).toBeLessThanOrEqual(3);
      expect(rating).toBeGreaterThanOrEqual(1);
      expect(rating).toBeLessThanOrEqual(5);
    }
    expect(products.some(({ stock }) => stock === 0)).toBe(true);
    expect(products.some(({ stock }) => stock > 0)).toBe(true);
  });

  it("writes prices with two decimals", () => {
    expect(priceTag(5177)).toBe("£51.77");
    expect(priceTag(500)).toBe("£5.00");
    expect(poundsOf(70)).toBe("0.70");
  });
});
