/** The site is the same in every run, on every machine. */
export const SEED = 20_251;
