import { type Prepared, prepare } from '../record/prepared.ts';

/** Most statements that are prepared by name. Each costs memory on every connection. */
const maxPrepared = 64;
/** Most statements that are kept. */
const maxKept = 500;
/** No common request is longer. */
const maxShapeLength = 500;

/** Finds or composes the statement of a shape. A plain shape has no parameters of a client. */
type FindStatement<T extends Prepared> = (shape: string, compose: () => T, isPlain: boolean) => T & Prepared;

/**
 * Caches the statements of shaped reads. Clients can send new shapes without end, so beyond the limits a shape is
 * composed and planned at each request, at the cost of that request alone. Plain shapes are few and always kept.
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
