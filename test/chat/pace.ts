/** A clock that runs two hundred times as fast: two seconds pass in ten milliseconds, over the deaths of processes too. */
export const PACE = (begin: number) => (): number => begin + (Date.now() - begin) * 200;
