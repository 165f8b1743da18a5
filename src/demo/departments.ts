/** The categories of the demo shop, with the words that product names are built from. */
export type Department = {
  slug: string;
  name: string;
  /** The prefix of its SKUs. */
  code: string;
  blurb: string;
  /** Degrees on the colour wheel, for its pictures. */
  hue: number;
  /** The number of products; at most `materials × nouns`. */
  size: number;
  pencePerProduct: { least: number; max: number };
  materials: readonly string[];
  nouns: readonly string[];
};

export const DEPARTMENTS: readonly Department[] = [
  {
    slug: "kitchen",
    name: "Kitchen",
    code: "KIT",
    blurb: "Honest tools for daily bread, slow soups and quick breakfasts.",
    hue: 24,
    size: 48,
    pencePerProduct: { least: 690, max: 7_400 },
    materials: ["Oak", "Walnut", "Stoneware", "Enamel", "Copper", "Glass", "Slate", "Beech"],
    nouns: ["Mug", "Bread Board", "Mixing Bowl", "Jug", "Ladle", "Canister", "Butter Dish", "Colander"],
  },
  {
    slug: "lighting",
    name: "Lighting",
    code: "LIG",
    blurb: "Warm light for corners, desks and long evenings.",
    hue: 44,
    size: 40,
    pencePerProduct: { least: 1_450, max: 18_900 },
    materials: ["Brass", "Paper", "Rattan", "Ceramic", "Smoked Glass", "Birch", "Concrete", "Linen"],
    nouns: [
      "Table Lamp",
      "Pendant",
      "Floor Lamp",
      "Lantern",
      "Wall Light",
      "Candle Holder",
      "Night Light",
      "Desk Lamp",
    ],
  },
  {
    slug: "garden",
    name: "Garden",
    code: "GAR",
    blurb: "For window sills, balconies and the far end of the lawn.",
    hue: 128,
    size: 44,
    pencePerProduct: { least: 520, max: 9_600 },
    materials: ["Terracotta", "Zinc", "Cedar", "Willow", "Galvanised", "Bamboo", "Cast Iron", "Jute"],
    nouns: ["Planter", "Watering Can", "Trowel", "Seed Tray", "Bird Feeder", "Trellis", "Plant Stand", "Bulb Dibber"],
  },
  {
    slug: "stationery",
    name: "Stationery",
    code: "STA",
    blurb: "Paper that takes ink well, and places to keep it.",
    hue: 214,
    size: 36,
    pencePerProduct: { least: 380, max: 4_200 },
    materials: ["Clothbound", "Kraft", "Recycled", "Marbled", "Dotted", "Ruled", "Cork", "Hardback"],
    nouns: ["Notebook", "Sketchbook", "Planner", "Letter Set", "Pencil Case", "Desk Pad", "Folder", "Photo Album"],
  },
  {
    slug: "textiles",
    name: "Textiles",
    code: "TEX",
    blurb: "Woven, knitted and quilted for beds, tables and cold feet.",
    hue: 342,
    size: 52,
    pencePerProduct: { least: 790, max: 14_500 },
    materials: ["Wool", "Washed Linen", "Cotton", "Merino", "Hemp", "Velvet", "Waffle", "Quilted"],
    nouns: ["Throw", "Cushion", "Tea Towel", "Table Runner", "Bath Mat", "Apron", "Blanket", "Curtain"],
  },
  {
    slug: "storage",
    name: "Storage",
    code: "STO",
    blurb: "A place for everything, and most of it stackable.",
    hue: 186,
    size: 32,
    pencePerProduct: { least: 840, max: 12_800 },
    materials: ["Seagrass", "Wire", "Pine", "Felt", "Tin", "Woven", "Canvas", "Ash"],
    nouns: ["Basket", "Crate", "Box", "Shelf", "Hook Rail", "Trunk", "Hamper", "Tray"],
  },
  {
    slug: "travel",
    name: "Travel",
    code: "TRA",
    blurb: "Bags and small things for short trips and long trains.",
    hue: 262,
    size: 41,
    pencePerProduct: { least: 560, max: 16_900 },
    materials: ["Canvas", "Waxed", "Leather", "Nylon", "Tweed", "Hemp", "Ripstop", "Quilted"],
    nouns: ["Backpack", "Tote", "Wash Bag", "Holdall", "Luggage Tag", "Flask Sleeve", "Daypack", "Map Case"],
  },
  {
    slug: "play",
    name: "Play",
    code: "PLA",
    blurb: "Toys without batteries, for small hands and rainy days.",
    hue: 4,
    size: 43,
    pencePerProduct: { least: 450, max: 6_800 },
    materials: ["Maple", "Beech", "Painted", "Knitted", "Felt", "Cork", "Cotton", "Paper"],
    nouns: ["Building Set", "Spinning Top", "Kite", "Puzzle", "Stacking Tower", "Pull Cart", "Skittles", "Memory Game"],
  },
];

export const TAG_NAMES: readonly string[] = [
  "handmade",
  "recycled",
  "gift idea",
  "bestseller",
  "new in",
  "small batch",
  "made to last",
  "lightweight",
  "natural",
  "limited",
  "easy care",
  "for outdoors",
  "for two",
  "classic",
  "bright",
  "plastic free",
];
