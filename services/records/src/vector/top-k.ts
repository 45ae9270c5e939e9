/** The largest error in a single-precision score; see `product`. */
export const maxScoreError = 2e-7;

/** How many candidates beyond the limit may have a score too close to the last one to decide. */
const maxUndecided = 1000;

/** A candidate and its score in single precision. */
export interface Scored {
  readonly id: string;
  readonly score: number;
}

/** Keeps the candidates with the highest scores. */
export interface TopK {
  add(id: string, score: number): void;
  /** Returns the top k, and the candidates that may belong to them; in no order. */
  all(): readonly Scored[];
}

/** Compares by score, the highest first; ties by id. */
export const byScore = (a: Scored, b: Scored): number => b.score - a.score || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

/** Keeps the `limit` highest scores, and those too close to the last one to decide in single precision. */
export function createTopK(limit: number, minScore: number): TopK {
  const keep = 2 * limit + maxUndecided;
  let found: Scored[] = [];
  /** No score below this belongs to the top k. */
  let bound = minScore - maxScoreError;
  const shrink = () => {
    found.sort(byScore);
    const last = found[limit - 1];
    if (last) bound = Math.max(bound, last.score - 2 * maxScoreError);
    found = found.filter(({ score }) => score >= bound).slice(0, limit + maxUndecided);
  };
  return {
    add(id, score) {
      // Negated so that NaN is left out.
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
