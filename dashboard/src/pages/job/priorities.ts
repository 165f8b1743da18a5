const LABELS: Readonly<Record<number, string>> = { 0: "0, most urgent", 5: "5, default", 9: "9, least urgent" };

export const PRIORITIES = Array.from({ length: 10 }, (_, nth) => ({
  value: String(nth),
  label: LABELS[nth] ?? String(nth),
}));
