/** What single precision may have taken from a score, or added; see `product`. */
export const scoreDoubt = 2e-7;

/** Most of those whose score is too close to the last one's to tell by it. */
const maxDoubtful = 1000;

/** A candidate and its score, as good as single precision has it. */
export interface Scored {
  readonly id: string;
  readonly score: number;
}

/** Keeps the best of many. */
export interface Best {
  add(id: string, score: number): void;
  /** The best, and those that may turn out to be as good; in no order. */
  all(): readonly Scored[];
}

/** By score, the best first; ties by id. */
export const byScore = (a: Scored, b: Scored): number => b.score - a.score || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

/** Keeps the best `limit` by score, and whatever is too close to the last of them to be told apart by this score. */
export function createBest(limit: number, minScore: number): Best {
  const keep = 2 * limit + maxDoubtful;
  let found: Scored[] = [];
  /** No score below this is among the best. */
  let bound = minScore - scoreDoubt;
  const shrink = () => {
    found.sort(byScore);
    const last = found[limit - 1];
    if (last) bound = Math.max(bound, last.score - 2 * scoreDoubt);
    found = found.filter(({ score }) => score >= bound).slice(0, limit + maxDoubtful);
  };
  return {
    add(id, score) {
      // Written so that it leaves out NaN.
      if (!(score >= bound)) return;
      found.push({ id, score });
      if (found.length >= keep) shrink();
    },
    all() {
      shrink();
      return found;
    },
  };
}
