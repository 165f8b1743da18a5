const WORDS: Readonly<Record<number, string>> = { 0: "0, most urgent", 5: "5, as usual", 9: "9, least urgent" };

export const PRIORITIES = Array.from({ length: 10 }, (_, nth) => ({
  value: String(nth),
  label: WORDS[nth] ?? String(nth),
}));
