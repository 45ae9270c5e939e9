import { type Prepared, prepare } from './prepared.ts';

/** Distinct texts that are prepared by name; each costs memory on every connection. */
const maxPrepared = 64;
/** Distinct texts that are kept at all. */
const maxKept = 500;
/** Nobody's usual request is longer. */
const maxShapeLength = 500;

/** Finds or composes the statement of a shape; a plain shape is one that no client made up. */
type FindStatement<T extends Prepared> = (shape: string, compose: () => T, isPlain: boolean) => T & Prepared;

/**
 * Keeps the statements that clients shape by their parameters, so that none is composed twice. A client may ask in
 * ever new shapes: those beyond the first are composed and planned each time, and cost nobody else anything. Plain
 * shapes are few and always kept.
 */
export function createShapeCache<T extends Prepared = Prepared>(purpose: string): FindStatement<T> {
  const kept = new Map<string, T & Prepared>();
  return (shape, compose, isPlain) => {
    const known = kept.get(shape);
    if (known) return known;
    const composed = compose();
    if (!isPlain && (shape.length > maxShapeLength || kept.size >= maxKept)) return composed;
    const statement =
      isPlain || kept.size < maxPrepared ? { ...composed, ...prepare(purpose, composed.text) } : composed;
    kept.set(shape, statement);
    return statement;
  };
}
