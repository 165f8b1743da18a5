/** The seed of the site, which is the same in every run and on every machine. */
export const SEED = 20_251;
