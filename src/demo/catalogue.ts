/** The products of the demo shop, generated from a seed: the same seed gives the same products. */
import { DEPARTMENTS, type Department, TAG_NAMES } from "./departments.ts";

export type Product = {
  id: number;
  sku: string;
  name: string;
  path: string;
  department: Department;
  material: string;
  pricePence: number;
  /** Number in stock; 0 means out of stock. */
  stock: number;
  /** 1 to 5, one decimal. */
  rating: number;
  reviews: number;
  tags: readonly Tag[];
  description: string;
  widthMm: number;
  heightMm: number;
  weightGrams: number;
};

export type Tag = { name: string; path: string };

export type Catalogue = {
  departments: readonly Department[];
  products: readonly Product[];
  tags: readonly Tag[];
};

type Random = () => number;

const FIRST_ID = 101;

/** The same catalogue for the same seed, on any machine. */
export function createCatalogue(seed: number): Catalogue {
  const random = seededRandom(seed);
  const tags = TAG_NAMES.map((name) => ({ name, path: `/tag/${slugOf(name)}/` }));
  const products: Product[] = [];
  for (const department of DEPARTMENTS) {
    for (const { material, noun } of namesIn(department, random)) {
      products.push(makeProduct(FIRST_ID + products.length, department, material, noun, tags, random));
    }
  }
  return { departments: DEPARTMENTS, products, tags };
}

/** Pence as a price tag: 5177 is `£51.77`. */
export function priceTag(pence: number): string {
  return `£${poundsOf(pence)}`;
}

/** Pence as a decimal number of pounds, the format of structured data. */
export function poundsOf(pence: number): string {
  return (pence / 100).toFixed(2);
}

/** mulberry32: a small and fast generator. Its quality is sufficient for demo data. */
function seededRandom(seed: number): Random {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

function namesIn({ materials, nouns, size }: Department, random: Random): { material: string; noun: string }[] {
  const every = materials.flatMap((material) => nouns.map((noun) => ({ material, noun })));
  return shuffled(every, random).slice(0, size);
}

function makeProduct(
  id: number,
  department: Department,
  material: string,
  noun: string,
  tags: readonly Tag[],
  random: Random,
): Product {
  const name = `${material} ${noun}`;
  const { least, max } = department.pencePerProduct;
  return {
    id,
    sku: `${department.code}-${String(id).padStart(4, "0")}`,
    name,
    path: `/product/${slugOf(name)}-${id}/`,
    department,
    material,
    pricePence: between(least, max, random),
    stock: random() < 0.12 ? 0 : between(1, 48, random),
    rating: between(26, 50, random) / 10,
    reviews: between(3, 240, random),
    tags: shuffled(tags, random).slice(0, between(2, 3, random)),
    description: describe(material, noun, random),
    widthMm: between(60, 620, random),
    heightMm: between(40, 900, random),
    weightGrams: between(8, 420, random) * 10,
  };
}

const OPENINGS = [
  "A {noun} in {material}, made the slow way.",
  "Our {material} {noun}, plain and well made.",
  "The {noun} we kept for ourselves, now in {material}.",
  "A {material} {noun} with nothing on it that can break.",
];
const MIDDLES = [
  "It gets better with use and is easy to mend.",
  "Finished by hand, so no two are quite the same.",
  "It packs flat, weighs little and asks for no care.",
  "Tested for a year in our own workshop before it went on the shelf.",
];
const ENDINGS = [
  "Wipe clean with a damp cloth.",
  "Arrives in a paper box that is worth keeping.",
  "Comes with spare parts and a ten year promise.",
  "Good on its own, better as a pair.",
];

function describe(material: string, noun: string, random: Random): string {
  return [OPENINGS, MIDDLES, ENDINGS]
    .map((sentences) => pick(sentences, random))
    .join(" ")
    .replaceAll("{material}", material.toLowerCase())
    .replaceAll("{noun}", noun.toLowerCase());
}

function slugOf(name: string): string {
  return name.toLowerCase().replaceAll(" ", "-");
}

function between(least: number, max: number, random: Random): number {
  return least + Math.floor(random() * (max - least + 1));
}

function pick(choices: readonly string[], random: Random): string {
  return choices[Math.floor(random() * choices.length)] ?? "";
}

function shuffled<T>(things: readonly T[], random: Random): T[] {
  return things
    .map((thing) => ({ thing, key: random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ thing }) => thing);
}
