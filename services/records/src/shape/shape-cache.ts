import { type Prepared, prepare } from '../record/prepared.ts';

/** How many statements are prepared by name. Each costs memory on every connection. */
const maxPrepared = 64;
/** How many statements are kept. */
const maxKept = 500;
/** No common request is longer. */
const maxShapeLength = 500;

/** Finds or composes a shape's statement. A plain shape has no client parameters. */
type FindStatement<T extends Prepared> = (shape: string, compose: () => T, isPlain: boolean) => T & Prepared;

/**
 * Caches the statements for shaped reads. Clients can send new shapes without end, so beyond the limits a shape is
 * composed and planned at each request, at that request's cost alone. Plain shapes are few and always kept.
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
